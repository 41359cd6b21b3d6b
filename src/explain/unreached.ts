import { type ReceiverState, tallyOf } from "./states.ts";

const IN_WORDS: Readonly<Record<ReceiverState, string>> = {
  failed: "failed",
  retrying: "being retried",
  "not sent": "disabled",
  held: "waiting for a disabled endpoint",
  queued: "waiting",
  canceled: "canceled",
  delivered: "delivered",
};

/** Returns how many receivers an event did not reach, by why: `2 failed, 1 is disabled`. */
export function inWords(missed: readonly ReceiverState[]): string {
  const verbOf = (state: ReceiverState, count: number) => (state === "failed" ? "" : count === 1 ? "is " : "are ");
  return tallyOf(missed)
    .map(([state, count]) => `${count} ${verbOf(state, count)}${IN_WORDS[state]}`)
    .join(", ");
}
