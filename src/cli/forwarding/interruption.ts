import { counted, listed } from "../../contract/words.ts";
import type { Context } from "../context.ts";
import { isCtrlC } from "../errors.ts";

export interface Forwards {
  /** IDs of the events that were sent and have no response yet. */
  readonly inFlight: readonly string[];
  summarize(): unknown;
}

const MAX_NAMED = 5;

/**
 * Says what an interrupted run waits for. A second Ctrl-C ends the process at once: it then reports the totals so far,
 * and which events it leaves without a response.
 */
export function sayWaiting(run: Forwards, timeoutMs: number | undefined, { output, signal }: Context): void {
  const { length } = run.inFlight;
  if (length === 0 || !isCtrlC(signal.reason)) return;
  const limit = timeoutMs === undefined ? "" : ` (up to ${timeoutMs / 1000} s)`;
  output.notice(`Waiting for ${counted(length, "forward")} in flight${limit}. Press Ctrl-C again to stop now.`);
  process.prependOnceListener("SIGINT", () => {
    const ids = run.inFlight;
    if (ids.length === 0) return;
    run.summarize();
    const more = ids.length > MAX_NAMED ? [`${ids.length - MAX_NAMED} more`] : [];
    output.warn(`Stopped without the response to ${listed([...ids.slice(0, MAX_NAMED), ...more], "and")}`);
  });
}
