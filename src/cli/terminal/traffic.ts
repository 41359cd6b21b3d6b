import type { Styles } from "./styles.ts";

/** The local wall-clock time of a line in a log: `14:03:27`. */
export function clockTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** An HTTP status coloured by its class. */
export function colorStatus(status: number, styles: Styles): string {
  const text = String(status);
  if (status >= 500) return styles.bad(text);
  if (status >= 300) return styles.warn(text);
  return styles.good(text);
}
