import { computed, signal } from "@preact/signals";

/** Milliseconds by which the environment's clock is ahead: a sandbox's can be moved. */
export const clockOffset = signal(0);

/** A second hand, for countdowns and ages. */
export const tick = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === "visible") tick.value = Date.now();
}, 1000);

/** The environment's time, in Unix milliseconds. */
export function environmentNow(): number {
  return tick.value + clockOffset.value;
}

/** The start of the environment's day: what shows times is drawn anew when the day changes, not every second. */
export const environmentDay = computed(() => new Date(environmentNow()).setHours(0, 0, 0, 0));
