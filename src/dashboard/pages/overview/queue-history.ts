import { useRef } from "preact/hooks";

const SAMPLES_KEPT = 900;

/** The depth of the queue at each look, collected while the page is open. */
export function useQueueHistory(time: number, depth: number): { times: number[]; values: number[] } {
  const history = useRef({ times: [] as number[], values: [] as number[] });
  const { times, values } = history.current;
  if (times.at(-1) !== time) {
    times.push(time);
    values.push(depth);
    if (times.length > SAMPLES_KEPT) {
      times.shift();
      values.shift();
    }
  }
  return history.current;
}
