import { LIMITS } from "../../contract/limits.ts";
import { timeOfId } from "../../contract/ids.ts";
import { MAX_STATISTICS_ENTRIES, type Statistics, STATISTICS_INTERVALS } from "../../contract/schemas/statistics.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import {
  type AttemptCount,
  countAttempts,
  countEvents,
  countFailures,
  countIntervals,
  countPending,
  countPendingByEndpoint,
  LATENCY_BOUNDS,
  type MinuteRange,
} from "../storage/counts.ts";
import type { Queries } from "../storage/database.ts";
import { countFailed, newestDeliveries } from "../storage/deliveries.ts";
import { oldestDueTime } from "../storage/delivery-queue.ts";
import { newestOfTypes } from "../storage/events.ts";

const MINUTE = 60_000;
const FAILURES_SHOWN = 20;

/** `now` is the environment's time. With an endpoint, only its own attempts, failures and queue are included. */
export async function readStatistics(
  queries: Queries,
  environment: number,
  now: number,
  { minutes = LIMITS.statisticsMinutesDefault, endpoint }: { minutes?: number; endpoint?: string },
): Promise<Omit<Statistics, `listener${string}`>> {
  const last = Math.floor(now / MINUTE);
  const range = { environment, first: last - minutes + 1, last };
  const length = Math.ceil(minutes / MAX_STATISTICS_ENTRIES);
  const events = await countEvents(queries, range, { minutes: length });
  const total = [...events.values()].reduce((sum, count) => sum + count, 0);
  const attempts = new Map<number, AttemptCount[]>();
  const counts = await countAttempts(queries, range, { endpoint, minutes: length });
  for (const count of counts) {
    const others = attempts.get(count.part);
    if (others === undefined) attempts.set(count.part, [count]);
    else others.push(count);
  }
  const failures = await countFailures(queries, range, { endpoint, limit: FAILURES_SHOWN });
  const due = await oldestDueTime(queries, environment, endpoint);
  const types = await newestOfTypes(queries, environment);
  return {
    object: "statistics",
    now: formatTimestamp(now),
    totals: sumOf(total, counts),
    minutes: Array.from({ length: Math.ceil(minutes / length) }, (_, part) => ({
      at: formatTimestamp((range.first + part * length) * MINUTE),
      ...sumOf(events.get(part) ?? 0, attempts.get(part) ?? []),
    })),
    failures: failures.map(({ endpoint_id, last_at, ...failure }) => ({
      ...failure,
      endpoint: endpoint_id,
      last_at: formatTimestamp(last_at),
    })),
    endpoints: await readEndpoints(queries, range, endpoint),
    ...(await countFailed(queries, environment)),
    event_types: types.map(({ type, created }) => ({ type, last_at: formatTimestamp(created) })),
    queue: {
      pending: await countPending(queries, { environment, endpoint }),
      oldest_due_seconds: due === null ? 0 : Math.max(0, (now - due) / 1000),
    },
  };
}

async function readEndpoints(queries: Queries, range: MinuteRange, endpoint: string | undefined) {
  const { environment, first, last } = range;
  const length = Math.ceil((last - first + 1) / STATISTICS_INTERVALS);
  const [newest, pending, counts] = await Promise.all([
    newestDeliveries(queries, environment, endpoint),
    countPendingByEndpoint(queries, environment),
    countIntervals(queries, range, { endpoint, minutes: length }),
  ]);
  return newest.map(({ id, delivery, failed }) => {
    const own = counts.filter(({ endpoint_id: of }) => of === id);
    const sum = (succeeded: number, part?: number) =>
      own
        .filter((count) => count.succeeded === succeeded && (part === undefined || count.part === part))
        .reduce((total, { count }) => total + count, 0);
    const successes = own.filter(({ succeeded }) => succeeded === 1).map(({ last_at: at }) => at);
    return {
      endpoint: id,
      attempts: sum(0) + sum(1),
      failed: sum(0),
      pending: pending.get(id) ?? 0,
      failed_deliveries: failed,
      last_delivery_at: delivery === null ? null : formatTimestamp(timeOfId(delivery)),
      last_success_at: successes.length === 0 ? null : formatTimestamp(Math.max(...successes)),
      intervals: Array.from({ length: STATISTICS_INTERVALS }, (_, part) => ({
        at: formatTimestamp((first + part * length) * MINUTE),
        succeeded: sum(1, part),
        failed: sum(0, part),
      })),
    };
  });
}

function sumOf(events: number, counts: readonly AttemptCount[]): Statistics["totals"] {
  const attempts = sum(counts);
  const succeeded = sum(counts.filter((count) => count.succeeded === 1));
  return {
    events,
    attempts,
    succeeded,
    failed: attempts - succeeded,
    latency_p50_ms: percentile(counts, 0.5),
    latency_p95_ms: percentile(counts, 0.95),
  };
}

const sum = (counts: readonly AttemptCount[]) => counts.reduce((total, { count }) => total + count, 0);

const BUCKETS = LATENCY_BOUNDS.map((bound, bucket) => ({ bound, bucket })).toSorted((a, b) => a.bound - b.bound);

/** Returns the upper bound of the bucket that holds the percentile of the response times. */
function percentile(counts: readonly AttemptCount[], share: number): number | null {
  let left = share * sum(counts.filter(({ bucket }) => bucket !== null));
  if (left === 0) return null;
  for (const { bound, bucket } of BUCKETS) {
    for (const one of counts) if (one.bucket === bucket) left -= one.count;
    if (left <= 0) return bound;
  }
  return null;
}
