import { environmentDay, environmentNow } from "../clock.ts";
import { duration, localTime } from "../format.ts";

/** A time of the API: local to read, in UTC on hover. */
export function Time({ at }: { at: string | null | undefined }) {
  if (at === null || at === undefined) return <span class="soft">–</span>;
  return (
    <time dateTime={at} title={inUtc(at)}>
      {localTime(at, environmentDay.value)}
    </time>
  );
}

/** How far a time lies ahead or behind, counted on by the second. */
export function Distance({ at }: { at: string }) {
  const seconds = (Date.parse(at) - environmentNow()) / 1000;
  const words = seconds >= 0 ? `in ${duration(seconds)}` : `${duration(-seconds)} ago`;
  return <span title={inUtc(at)}>{words}</span>;
}

function inUtc(at: string): string {
  return `${at.replace("T", " ").replace("Z", "")} UTC`;
}
