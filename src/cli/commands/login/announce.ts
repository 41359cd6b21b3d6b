import type { Context } from "../../context.ts";
import { compactJson } from "../../terminal/json.ts";

/**
 * Says on stderr what the person has to do, in a pipe and with `--quiet` too: without it nothing can go on. With `--json`
 * it is a line of JSON.
 */
export function announce(context: Context, { record, lines }: { record: object; lines: readonly string[] }): void {
  const { output, stderr } = context;
  stderr.write(output.json ? `${compactJson(record)}\n` : `${lines.join("\n")}\n`);
}
