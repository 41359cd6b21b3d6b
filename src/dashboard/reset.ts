/** When this page reset the sandbox or restored a snapshot. The stream reports each of these, too. */
let resets: number[] = [];

/** The stream reports a reset within seconds. */
const RECENT_MILLISECONDS = 10_000;

/** Records that this page resets the sandbox or restores a snapshot, and reports that itself. */
export function noteReset(): void {
  resets.push(Date.now());
}

/** Returns true if a reset that the stream reports was made by this page, once for each. */
export function wasResetHere(): boolean {
  resets = resets.filter((at) => Date.now() - at < RECENT_MILLISECONDS);
  return resets.shift() !== undefined;
}
