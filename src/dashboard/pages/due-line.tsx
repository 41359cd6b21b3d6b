import { LIMITS } from "../../contract/limits.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import type { Statistics } from "../../contract/schemas/statistics.ts";
import type { TestClock } from "../../contract/schemas/sandbox.ts";
import { withQuery } from "../api/call.ts";
import { useEndpoints } from "../api/endpoints.ts";
import { useQuery } from "../api/store.ts";
import { clockOffset, environmentNow } from "../clock.ts";
import { count, counted } from "../format.ts";
import { hrefOf, Link } from "../router.tsx";

const WIDTH = 460;
/** The position of the sandbox's time on its line: real time is before it, what is due after it. */
const NOW = 70;
const MINUTE = 60_000;
/** Waiting deliveries that are ticks on the line: a page of the list. */
const MAX_TICKS = LIMITS.maxPageSize;
const SHOWN = 3 * 24 * 60 * MINUTE;

/** Marks of the large line, in minutes after now. */
const MARKS = [
  [1, "+1 min"],
  [60, "+1 h"],
  [1440, "+1 d"],
  [4320, "+3 d"],
] as const;

/** When waiting deliveries are due, drawn on a line with its times below. */
export function DueLine() {
  const { data } = useQuery<Statistics>("/v1/statistics");
  const { items: endpoints } = useEndpoints();
  const heldBy = (id: string) => endpoints?.find((one) => one.id === id)?.status === "disabled";
  const held = data?.endpoints.reduce((sum, { endpoint, pending: own }) => sum + (heldBy(endpoint) ? own : 0), 0) ?? 0;
  const pending = (data?.queue.pending ?? 0) - held;
  return (
    <figure class="due-line">
      <TimeLine />
      <div class="due-marks" aria-hidden="true">
        <span style={{ left: `${(100 * NOW) / WIDTH}%` }}>now</span>
        {MARKS.map(([minutes, label]) => (
          <span key={label} style={{ left: `${(100 * placeOf(minutes * MINUTE)) / WIDTH}%` }}>
            {label}
          </span>
        ))}
      </div>
      <figcaption>
        {pending === 0 ? (
          `No delivery is queued or retrying${held > 0 ? `, ${count(held)} held for a disabled endpoint` : ""}.`
        ) : (
          <>
            {counted(pending, "delivery", "deliveries")} queued or retrying
            {held > 0 && `, ${count(held)} held for a disabled endpoint`}. The line is not to scale.{" "}
            <Link href={hrefOf("deliveries", "", { status: "pending" })}>Show them</Link>
          </>
        )}
      </figcaption>
    </figure>
  );
}

function TimeLine() {
  const { data: clock } = useQuery<TestClock>("/v1/test_clock");
  const pending = useQuery<{ data: Delivery[] }>(withQuery("/v1/deliveries", { status: "pending", limit: MAX_TICKS }));
  const now = environmentNow();
  const due = (pending.data?.data ?? []).flatMap(({ next_attempt: next }) => (next === null ? [] : [Date.parse(next)]));
  const target = clock?.status === "advancing" && clock.target !== null ? Date.parse(clock.target) : undefined;
  return (
    <svg
      viewBox={`0 0 ${WIDTH} 24`}
      preserveAspectRatio="none"
      role="img"
      aria-label={
        due.length === MAX_TICKS
          ? `The next attempts of the newest ${MAX_TICKS} queued and retrying deliveries`
          : counted(due.length, "retry is due", "retries are due")
      }
    >
      <path class="line" d={`M0 12H${WIDTH}`} />
      {clockOffset.value > 0 && <path class="real" d="M8 5v14" />}
      <path class="due" d={[...new Set(due.map((at) => placeOf(at - now)))].map((x) => `M${x} 8v8`).join("")} />
      {target !== undefined && <path class="reached" d={`M${NOW} 12H${placeOf(target - now)}`} />}
      <path class="now" d={`M${NOW} 3v18`} />
    </svg>
  );
}

/** Returns the position of a time after now, in milliseconds: seconds and days both fit. */
function placeOf(after: number): number {
  const share = Math.log2(1 + Math.max(0, after) / MINUTE) / Math.log2(1 + SHOWN / MINUTE);
  return Math.round(NOW + Math.min(1, share) * (WIDTH - NOW - 4));
}
