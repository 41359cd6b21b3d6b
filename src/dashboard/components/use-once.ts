import { useRef, useState } from "preact/hooks";

/** Runs one thing at a time: what is asked for while it runs is left out, also within the same frame. */
export function useOnce(run: () => Promise<void>): { isBusy: boolean; act: () => void } {
  const running = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const act = async () => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    try {
      await run();
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { isBusy, act: () => void act() };
}
