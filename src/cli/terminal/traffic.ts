import type { Styles } from "./styles.ts";

let shownSecond = -1;
let shownTime = "";

/** Returns the local time of day for a log line: `14:03:27`. Thousands of lines may share a second. */
export function clockTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== shownSecond) {
    const date = new Date(milliseconds);
    const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
    shownTime = parts.map((part) => String(part).padStart(2, "0")).join(":");
    shownSecond = second;
  }
  return shownTime;
}

/** Returns an HTTP status colored by its class. */
export function colorStatus(status: number, styles: Styles): string {
  const text = String(status);
  if (status >= 500) return styles.bad(text);
  if (status >= 300) return styles.warn(text);
  return styles.good(text);
}
