import { useRef } from "preact/hooks";

const SAMPLES_KEPT = 900;
/** What the axis shows before the first look: of a single point it would show two days. */
const SECONDS_BEFORE = 60;

/** The depth of the queue at each look, collected while the page is open. */
export function useQueueHistory(time: number, depth: number): { times: number[]; values: (number | null)[] } {
  const history = useRef({ times: [time - SECONDS_BEFORE], values: [null] as (number | null)[] });
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
