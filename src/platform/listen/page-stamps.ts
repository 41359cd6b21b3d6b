import { findLatestAdvance } from "../storage/clock-advances.ts";
import { countAttempts, countPending } from "../storage/counts.ts";
import type { Queries } from "../storage/database.ts";
import { findEnvironment } from "../storage/environments.ts";
import { newestRequestLog } from "../storage/request-logs.ts";

const MINUTE = 60_000;

/** A stamp for each topic that the dashboard shows and no event reports. It changes when the topic does. */
export type PageStamps = Record<"deliveries" | "clock" | "requests", string>;

/** Reads the stamps of an environment from the database, since other processes change it too. */
export async function readStamps(queries: Queries, environment: number, now: number): Promise<PageStamps> {
  const { clock_offset: offset } = await findEnvironment(queries, environment);
  const last = Math.floor((now + offset) / MINUTE);
  const [advance, attempts, pending, request] = await Promise.all([
    findLatestAdvance(queries, environment),
    // An attempt counts for the minute in which it began.
    countAttempts(queries, { environment, first: last - 1, last }),
    countPending(queries, { environment }),
    newestRequestLog(queries, environment),
  ]);
  const made = attempts.map(({ minute, succeeded, count }) => `${minute}/${succeeded}/${count}`).toSorted();
  return {
    deliveries: [pending, ...made].join(" "),
    clock: [offset, advance?.number, advance?.status, advance?.attempts].join(" "),
    requests: request ?? "",
  };
}
