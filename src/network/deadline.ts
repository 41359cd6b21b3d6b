/** A timer that fires this late shows that the process was suspended, or busy for as long. */
export const SUSPENDED_MS = 1000;

/**
 * Calls back once after a delay in milliseconds. The returned function cancels it. After a suspension, timers fire
 * before sockets are read, so a late callback waits for one turn of the event loop: what has arrived meanwhile is read
 * first. With `ref` false, the timer does not keep the process alive.
 */
export function callAfter(milliseconds: number, callback: () => void, { ref = true } = {}): () => void {
  const due = Date.now() + milliseconds;
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    if (Date.now() - due <= SUSPENDED_MS) return callback();
    immediate = setImmediate(callback);
  }, milliseconds);
  if (!ref) timer.unref();
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}
