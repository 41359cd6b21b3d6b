import { LIMITS } from "../contract/limits.ts";
import type { Statistics, StatisticsFailure, StatisticsMinute } from "../contract/schemas/statistics.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import type { Queries } from "./storage/database.ts";
import { queueHeads } from "./storage/delivery-queue.ts";
import { type AttemptGroup, countEvents, countWaiting, groupAttempts, LATENCY_BOUNDS } from "./storage/statistics.ts";

const MINUTE = 60_000;
/** An attempt is recorded so many minutes after it began, at most: its time limit and the commit. */
const SETTLED_AFTER = 2;
/** Minutes counted by one query: nobody waits long for it. */
const BATCH = 15;
const MINUTES_KEPT = 5000;
const FAILURES_SHOWN = 20;

interface CountedMinute {
  events: number;
  groups: AttemptGroup[];
}

/** Counts an environment's minutes; those that are over for good are counted once. */
export class StatisticsCounter {
  private readonly kept = new Map<string, CountedMinute>();

  /** `now` is the environment's time; an endpoint narrows attempts, failures and queue to it. */
  async read(
    queries: Queries,
    environment: number,
    now: number,
    { minutes = LIMITS.statisticsMinutesDefault, endpoint }: { minutes?: number; endpoint?: string },
  ): Promise<Statistics> {
    const current = Math.floor(now / MINUTE);
    const wanted = Array.from({ length: minutes }, (_, index) => current - minutes + 1 + index);
    const counted = await this.count(queries, environment, wanted, current);
    const shown: StatisticsMinute[] = [];
    const failed: AttemptGroup[] = [];
    for (const [index, { events, groups }] of counted.entries()) {
      const ofEndpoint = endpoint === undefined ? groups : groups.filter(({ endpoint_id: id }) => id === endpoint);
      shown.push(minuteOf(wanted[index]! * MINUTE, events, ofEndpoint));
      failed.push(...ofEndpoint.filter((group) => !isSuccess(group)));
    }
    return {
      object: "statistics",
      now: formatTimestamp(now),
      minutes: shown,
      failures: failuresOf(failed),
      queue: {
        pending: await countWaiting(queries, environment, endpoint, LIMITS.countedPending),
        oldest_due_seconds: await oldestDue(queries, environment, endpoint, now),
      },
    };
  }

  private async count(queries: Queries, environment: number, minutes: readonly number[], current: number) {
    const nameOf = (minute: number) => `${environment} ${minute}`;
    const found = new Map<number, CountedMinute>();
    const missing = minutes.filter((minute) => {
      const known = this.kept.get(nameOf(minute));
      if (known !== undefined) found.set(minute, known);
      return known === undefined;
    });
    for (let start = 0; start < missing.length; start += BATCH) {
      const batch = missing.slice(start, start + BATCH);
      const events = await countEvents(queries, environment, batch);
      const groups = await groupAttempts(queries, environment, batch[0]!, batch.at(-1)!);
      for (const [index, minute] of batch.entries()) {
        const counted = { events: events[index]!, groups: groups.filter((group) => group.minute === minute) };
        found.set(minute, counted);
        if (minute + SETTLED_AFTER < current) this.keep(nameOf(minute), counted);
      }
    }
    return minutes.map((minute) => found.get(minute)!);
  }

  private keep(name: string, counted: CountedMinute): void {
    if (this.kept.size >= MINUTES_KEPT) {
      const [oldest] = this.kept.keys();
      this.kept.delete(oldest!);
    }
    this.kept.set(name, counted);
  }
}

function isSuccess({ status_code: status }: AttemptGroup): boolean {
  return status !== null && status >= 200 && status < 300;
}

function minuteOf(at: number, events: number, groups: readonly AttemptGroup[]): StatisticsMinute {
  const sum = (some: readonly AttemptGroup[]) => some.reduce((total, { count }) => total + count, 0);
  const attempts = sum(groups);
  const succeeded = sum(groups.filter(isSuccess));
  return {
    at: formatTimestamp(at),
    events,
    attempts,
    succeeded,
    failed: attempts - succeeded,
    latency_p50_ms: percentile(groups, attempts, 0.5),
    latency_p95_ms: percentile(groups, attempts, 0.95),
  };
}

/** Estimated by even spread within a bucket of the histogram. */
function percentile(groups: readonly AttemptGroup[], attempts: number, share: number): number | null {
  if (attempts === 0) return null;
  const wanted = attempts * share;
  let below = 0;
  for (const [index, upper] of LATENCY_BOUNDS.entries()) {
    const count = groups.reduce((total, group) => total + (group.bucket === index ? group.count : 0), 0);
    if (count > 0 && below + count >= wanted) {
      const lower = LATENCY_BOUNDS[index - 1] ?? 0;
      return Math.round(lower + ((upper - lower) * (wanted - below)) / count);
    }
    below += count;
  }
  return null;
}

/** Most frequent first. */
function failuresOf(groups: readonly AttemptGroup[]): StatisticsFailure[] {
  const found = new Map<string, { failure: StatisticsFailure; last: number }>();
  for (const { endpoint_id: endpoint, status_code, error, count, last_at: last } of groups) {
    const name = JSON.stringify([endpoint, status_code, error]);
    const earlier = found.get(name) ?? {
      failure: { endpoint, status_code, error, count: 0, last_at: "" },
      last: 0,
    };
    earlier.failure.count += count;
    earlier.last = Math.max(earlier.last, last);
    found.set(name, earlier);
  }
  const sorted = [...found.values()].sort((a, b) => b.failure.count - a.failure.count || b.last - a.last);
  return sorted.slice(0, FAILURES_SHOWN).map(({ failure, last }) => ({ ...failure, last_at: formatTimestamp(last) }));
}

async function oldestDue(queries: Queries, environment: number, endpoint: string | undefined, now: number) {
  const due = (await queueHeads(queries))
    .filter((head) => head.environment === environment && head.endpoint_status === "enabled")
    .filter((head) => endpoint === undefined || head.endpoint_id === endpoint)
    .map((head) => (now - head.due) / 1000);
  return Math.max(0, ...due);
}
