import { lowestIdAt } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { REFRESH_SECONDS } from "../oauth/tokens.ts";
import { Periodic } from "../time/periodic.ts";
import type { Clock, Log } from "../ports.ts";
import type { ClockTrust } from "../time/clock-trust.ts";
import { deleteBulkOperations } from "../storage/bulk-operations.ts";
import { deleteEmptyQueues, deleteOldestMinute } from "../storage/counts.ts";
import type { Database, Transaction, WriteOptions } from "../storage/database.ts";
import { deleteDeliveries, removableDeliveries } from "../storage/deliveries.ts";
import { allEnvironments, markRemoved } from "../storage/environments.ts";
import { deleteEvents, removableEvents } from "../storage/events.ts";
import { deleteIdempotencyKeys } from "../storage/idempotency-keys.ts";
import { deleteListeners } from "../storage/listeners.ts";
import { deleteEndedGrants } from "../storage/oauth-grants.ts";
import { deleteReplays, deleteReplaysOf } from "../storage/replays.ts";
import { deleteRequestDetails, deleteRequestLogs } from "../storage/request-logs.ts";
import { deleteExpiredSessions } from "../storage/sessions.ts";
import { findSetting, putSetting, TRUSTED_TIME_SETTING } from "../storage/settings.ts";
import { deleteExpiredLinks } from "../storage/sign-in-links.ts";

const EVERY_MILLISECONDS = 60_000;
/** Pause between transactions, so that other writers wait for at most one of them. */
const PAUSE_MILLISECONDS = 5;
const MAX_ROWS = 500;
/** Precision of the stored trusted time. */
const TRUSTED_TIME_MILLISECONDS = 3_600_000;
/** The statistics cover 6 hours; the rest is for clocks that are set back. */
const COUNT_RETENTION_MINUTES = 1440;
/** Each may hold a refresh token for every hour of 30 days. */
const MAX_GRANTS = 20;

/** Removes some rows. Returns whether there may be more. */
interface Step {
  run(tx: Transaction): Promise<boolean>;
  isolation?: WriteOptions["isolation"];
}

interface RetentionTools {
  database: Database;
  clock: Clock;
  clockTrust: ClockTrust;
  log: Log;
}

/** Removes what is older than its retention period, a few rows at a time, by each environment's own clock. */
export function createRetention(tools: RetentionTools): Periodic {
  return new Periodic(tools, EVERY_MILLISECONDS, (signal) => removeOldRows(tools, signal));
}

/** Removes everything past its retention period, once. */
async function removeOldRows({ database, clock, clockTrust }: RetentionTools, signal: AbortSignal): Promise<void> {
  const remove = async (claim: string, step: Step) => {
    // One process at a time removes rows; the others need not.
    const unit = async (tx: Transaction) => (await tx.claim(claim)) && step.run(tx);
    while (!signal.aborted && (await database.write(unit, { isolation: step.isolation ?? "serialized" }))) {
      await new Promise<void>((resolve) => {
        clock.after(PAUSE_MILLISECONDS, resolve);
      });
    }
  };
  for (const { id, clock_offset: offset } of await allEnvironments(database)) {
    const now = clock.now();
    if (!clockTrust.isTrusted()) return;
    for (const step of stepsOf(id, now, offset)) await remove(`upkeep ${id}`, step);
  }
  const now = clock.now();
  if (!clockTrust.isTrusted()) return;
  const ofDeployment: Step[] = [
    { run: (tx) => removeGrants(tx, now) },
    inChunks((tx) => deleteExpiredSessions(tx, now, MAX_ROWS)),
    inChunks((tx) => deleteExpiredLinks(tx, now, MAX_ROWS)),
  ];
  for (const step of ofDeployment) await remove("upkeep", step);
  await keepTrustedTime(database, now);
}

/** Stores a time at which the clock was trusted. The next start compares its clock with it. */
async function keepTrustedTime(database: Database, now: number): Promise<void> {
  const stored = await findSetting(database, TRUSTED_TIME_SETTING);
  if (stored !== undefined && Math.abs(now - Number(Buffer.from(stored).toString())) < TRUSTED_TIME_MILLISECONDS)
    return;
  await database.write((tx) => putSetting(tx, TRUSTED_TIME_SETTING, Buffer.from(String(now))));
}

/** Removes up to a transaction's rows at a time. */
function inChunks(remove: (tx: Transaction) => Promise<number>): Step {
  return { run: async (tx) => (await remove(tx)) === MAX_ROWS };
}

/** Requests and listeners use real time, which no test clock moves; everything else its environment's. */
function stepsOf(environment: number, realTime: number, offset: number): Step[] {
  const now = realTime + offset;
  const horizon = now - LIMITS.replaySeconds * 1000;
  const deliveryBound = lowestIdAt("delivery", horizon);
  const eventBound = lowestIdAt("event", horizon);
  const requestBound = lowestIdAt("request", realTime - LIMITS.requestLogSeconds * 1000);
  const bulkBound = lowestIdAt("bulk_operation", horizon);
  const keysBound = now - LIMITS.idempotencySeconds * 1000;
  const listenersBound = realTime - LIMITS.listenerSeconds * 1000;
  return [
    {
      async run(tx) {
        const found = await removableDeliveries(tx, environment, deliveryBound, horizon, MAX_ROWS);
        await deleteDeliveries(tx, firstRows(found));
        return found.length > 0;
      },
    },
    {
      // What a retry or replay committed before the events were locked must be visible after that.
      isolation: "read committed",
      run: (tx) => removeEvents(tx, environment, eventBound),
    },
    inChunks(async (tx) => {
      const replays = await deleteReplays(tx, environment, eventBound, MAX_ROWS);
      if (replays.length > 0) await markRemoved(tx, environment, { replays });
      return replays.length;
    }),
    inChunks((tx) => deleteBulkOperations(tx, environment, bulkBound, MAX_ROWS)),
    inChunks((tx) => deleteIdempotencyKeys(tx, environment, keysBound, MAX_ROWS)),
    inChunks((tx) => deleteRequestDetails(tx, environment, requestBound, MAX_ROWS)),
    inChunks((tx) => deleteRequestLogs(tx, environment, requestBound, MAX_ROWS)),
    { run: (tx) => deleteOldestMinute(tx, environment, Math.floor(now / 60_000) - COUNT_RETENTION_MINUTES) },
    inChunks((tx) => deleteEmptyQueues(tx, environment)),
    inChunks((tx) => deleteListeners(tx, environment, listenersBound, MAX_ROWS)),
  ];
}

/** Removes events with their replays, which would have nothing to send. */
async function removeEvents(tx: Transaction, environment: number, bound: string): Promise<boolean> {
  const events = await removableEvents(tx, environment, bound, MAX_ROWS);
  const numbers = new Map(events.map(({ id, seq }) => [id, seq]));
  const removed = await deleteEvents(tx, environment, [...numbers.keys()]);
  const [first, last] = [removed[0], removed.at(-1)];
  if (first !== undefined && last !== undefined) {
    const replays = await deleteReplaysOf(tx, environment, { first, last });
    await markRemoved(tx, environment, { newestEvent: last, seqs: removed.map((id) => numbers.get(id)!), replays });
  }
  return events.length === MAX_ROWS;
}

/** A grant whose last refresh token has expired gives no access, and is removed with its tokens. */
async function removeGrants(tx: Transaction, now: number): Promise<boolean> {
  const bound = lowestIdAt("oauth_grant", now - REFRESH_SECONDS * 1000);
  return (await deleteEndedGrants(tx, bound, now, MAX_GRANTS)) === MAX_GRANTS;
}

/** As many deliveries as fill one transaction with their attempts, at least one. */
function firstRows(found: readonly { id: string; attempt_count: number }[]): string[] {
  const ids: string[] = [];
  let rows = 0;
  for (const { id, attempt_count: attempts } of found) {
    rows += 1 + attempts;
    if (rows > MAX_ROWS && ids.length > 0) break;
    ids.push(id);
  }
  return ids;
}
