import type { Context } from "../../context.ts";
import { printable } from "../../terminal/printable.ts";
import { formatDuration } from "../../terminal/time.ts";
import type { Call } from "./perform.ts";

/** One call that was created, for the person who watches; tab-separated in a pipe. */
export function callLine({ method, path, status, id, milliseconds }: Call, { output }: Context): string {
  if (!output.terminal) return [method, printable(path), status, printable(id)].join("\t");
  const { styles } = output;
  const created = id === "" || path.includes(id) ? [] : [styles.accent(printable(id))];
  return [
    styles.good(String(status)),
    `${styles.strong(method)} ${printable(path)}`,
    ...created,
    styles.dim(formatDuration(milliseconds)),
  ].join("  ");
}
