import { signal } from "@preact/signals";

/** Milliseconds by which the environment's clock is ahead of real time, which a sandbox's may be. */
export const clockOffset = signal(0);

/** The current time, each second, for countdowns and relative times. */
export const tick = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === "visible") tick.value = Date.now();
}, 1000);

/** Returns the environment's time, in Unix milliseconds. */
export function environmentNow(): number {
  return tick.value + clockOffset.value;
}
