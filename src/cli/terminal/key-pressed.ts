import type { Context } from "../context.ts";

const CTRL_C = "\u0003";

/** Resolves with the first of these keys that is pressed; undefined once the signal is aborted. Ctrl-C interrupts. */
export function keyPressed<Key extends string>(
  keys: readonly Key[],
  { stdin, interrupt }: Context,
  signal: AbortSignal,
): Promise<Key | undefined> {
  return new Promise((resolve) => {
    const end = (key?: Key): void => {
      stdin.off("data", onData).setRawMode(false);
      stdin.pause();
      signal.removeEventListener("abort", onAbort);
      resolve(key);
    };
    const onAbort = (): void => end();
    const onData = (data: Buffer | string): void => {
      const typed = data.toString();
      if (typed.includes(CTRL_C)) return interrupt();
      const key = keys.find((candidate) => typed.includes(candidate));
      if (key !== undefined) end(key);
    };
    stdin.setRawMode(true);
    stdin.on("data", onData).resume();
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
