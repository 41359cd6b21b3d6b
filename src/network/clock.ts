/** Time as an argument, so that a test can pass half a minute of silence in an instant. */
export interface Clock {
  /** Unix time in milliseconds. */
  now: () => number;
  /** Milliseconds from a fixed point, for durations. Monotonic: unaffected when the wall clock is set. */
  elapsed: () => number;
  /** Calls back once after a delay in milliseconds. The returned function cancels it. */
  after: (milliseconds: number, callback: () => void) => () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: callAfter,
};

/** A timer that fires this late shows that the process was suspended, or busy for as long. */
export const SUSPENDED_MS = 1000;

/** The longest delay of Node's timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Calls back once after a delay in milliseconds. The returned function cancels it. After a suspension, timers fire
 * before sockets are read, so a late callback waits for one turn of the event loop: what has arrived meanwhile is read
 * first. With `ref` false, the timer does not keep the process alive.
 */
export function callAfter(milliseconds: number, callback: () => void, { ref = true } = {}): () => void {
  const due = Date.now() + milliseconds;
  let immediate: NodeJS.Immediate | undefined;
  let timer: NodeJS.Timeout;
  const wait = (left: number): void => {
    timer = setTimeout(
      () => {
        if (left > MAX_TIMER_MS) return wait(left - MAX_TIMER_MS);
        if (Date.now() - due <= SUSPENDED_MS) return callback();
        immediate = setImmediate(callback);
      },
      Math.min(left, MAX_TIMER_MS),
    );
    if (!ref) timer.unref();
  };
  wait(milliseconds);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}

/** Resolves after a delay in milliseconds. */
export function pause(clock: Pick<Clock, "after">, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(milliseconds, resolve);
  });
}
