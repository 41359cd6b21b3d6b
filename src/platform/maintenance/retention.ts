import { lowestIdAt } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { statusesOf } from "../../contract/resources.ts";
import { pause } from "../../network/clock.ts";
import { REFRESH_SECONDS } from "../oauth/tokens.ts";
import type { With } from "../tools.ts";
import { deleteBulkOperations } from "../storage/bulk-operations.ts";
import {
  deleteEmptyQueues,
  deleteOldCounts,
  foldChanges,
  hasChanges,
  MAX_FOLDED,
  vacuumChanges,
} from "../storage/counts.ts";
import type { Database, Transaction, WriteOptions } from "../storage/database.ts";
import { deleteDeliveries, findOldDeliveries, type OldDeliveries, type OldDelivery } from "../storage/deliveries.ts";
import { allEnvironments, markRemoved } from "../storage/environments.ts";
import { deleteEvents, deleteReplays, deleteReplaysOf, lastOfNextEvents, removableEvents } from "../storage/events.ts";
import { deleteIdempotencyKeys } from "../storage/idempotency-keys.ts";
import { deleteListeners } from "../storage/listeners.ts";
import { deleteEndedGrants } from "../storage/oauth-grants.ts";
import { deleteRequests } from "../storage/request-logs.ts";
import {
  abandonedCopies,
  deleteEnvironment,
  DELETIONS,
  removedEnvironments,
  removeEnvironment,
} from "../storage/sandboxes.ts";
import { deleteExpired } from "../storage/sessions.ts";
import { findSetting, putSetting, TRUSTED_TIME_SETTING } from "../storage/settings.ts";
import { SliceSize } from "../storage/slice-size.ts";
import { Periodic } from "../time/periodic.ts";

const ENDED = statusesOf("delivery").filter((status) => status !== "pending");
const RETENTION_MILLISECONDS = 60_000;
/** Pause between transactions, so that other writers wait for at most one of them. */
const PAUSE_MILLISECONDS = 5;
/** Precision of the stored trusted time. */
const TRUSTED_TIME_MILLISECONDS = 3_600_000;
/** What the statistics cover, and a day for clocks that are set back. */
const COUNT_RETENTION_MINUTES = LIMITS.maxStatisticsMinutes + 1440;
/** A request that began before an environment was removed, or that copies one, may add rows for this long. */
const STRAGGLER_MILLISECONDS = 300_000;
/** Rows of a statement where a slice has several: even of the largest, these take few milliseconds. */
const ROWS_PER_STATEMENT = 16;
/** A grant may hold a refresh token for every hour of 30 days. */
const ROWS_PER_GRANT = 25;

/** What one transaction removes: at most this many rows, of those after an ID, until its time is over. */
interface Slice {
  rows: number;
  after: string;
  isOver: () => boolean;
}

/** Removes a slice. Returns where the next one begins; undefined if there is nothing after it. */
interface Step {
  run(tx: Transaction, slice: Slice): Promise<string | undefined>;
  isolation?: WriteOptions["isolation"];
}

type RetentionTools = With<"database" | "clock" | "clockTrust" | "log" | "background">;

/** Removes what is older than its retention period, a few rows at a time, by each environment's own clock. */
export function createRetention(tools: RetentionTools): Periodic {
  return new Periodic(tools, RETENTION_MILLISECONDS, (signal) => removeOldRows(tools, signal));
}

/** Removes everything past its retention period, once. */
async function removeOldRows({ database, clock, clockTrust, background }: RetentionTools, signal: AbortSignal) {
  const removeAll = async (claim: string, step: Step) => {
    const size = new SliceSize(database.dialect, clock);
    for (let after: string | undefined = ""; !signal.aborted;) {
      const slice: Slice = { rows: size.rows, after, isOver: () => size.isOver };
      // One process at a time removes rows; the others need not.
      const unit = async (tx: Transaction) => ((await tx.claim(claim)) ? step.run(tx, slice) : undefined);
      after = await database.write((tx) => size.measure(() => unit(tx)), { isolation: step.isolation ?? "serialized" });
      if (after === undefined) return;
      await pause(clock, PAUSE_MILLISECONDS);
    }
  };
  const remove = (claim: string, step: Step) => background.run("retention", { claim }, () => removeAll(claim, step));
  for (const copy of await abandonedCopies(database, clock.now() - STRAGGLER_MILLISECONDS)) {
    const unit = () => database.write((tx) => removeEnvironment(tx, copy, clock.now()));
    await background.run("retention", { environment: copy.id }, unit);
  }
  for (const { id, since } of await removedEnvironments(database)) {
    const isOver = clock.now() - since > STRAGGLER_MILLISECONDS;
    for (const step of removalOf(id, isOver)) await remove(`upkeep ${id}`, step);
  }
  for (const { id, clock_offset: offset } of await allEnvironments(database)) {
    const now = clock.now();
    if (!clockTrust.isTrusted()) return;
    for (const step of stepsOf(id, now, offset)) await remove(`upkeep ${id}`, step);
  }
  const now = clock.now();
  if (!clockTrust.isTrusted()) return;
  const ofDeployment: Step[] = [
    { run: (tx, slice) => removeGrants(tx, slice, now) },
    bySlices((tx, rows) => deleteExpired(tx, "sessions", now, rows)),
    bySlices((tx, rows) => deleteExpired(tx, "sign_in_links", now, rows)),
    { run: async (tx, { rows, after }) => ((await returnFreePages(tx, rows)) ? after : undefined) },
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

/** Removes the rows of an environment that is no longer reachable, and once nothing adds any, its number. */
function removalOf(environment: number, isOver: boolean): Step[] {
  const isolation = "read committed";
  const tables: Step[] = DELETIONS.map((deletion) => ({
    isolation,
    async run(tx, { rows, after, isOver }) {
      const limit = tx.dialect === "sqlite" ? ROWS_PER_STATEMENT : rows;
      let removed: number;
      do removed = await deletion(tx, environment, limit);
      while (removed > 0 && !isOver());
      return removed > 0 ? after : undefined;
    },
  }));
  const number: Step = {
    isolation,
    async run(tx, { rows, after }) {
      // Another process may have removed rows meanwhile, or added some.
      for (const deletion of DELETIONS) if ((await deletion(tx, environment, rows)) > 0) return after;
      await deleteEnvironment(tx, environment);
      return undefined;
    },
  };
  return isOver ? [...tables, number] : tables;
}

/** A step whose rows are found again from the start, since those before are gone. */
function bySlices(remove: (tx: Transaction, rows: number) => Promise<number>): Step {
  return { run: async (tx, { rows, after }) => ((await remove(tx, rows)) === rows ? after : undefined) };
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
    ...ENDED.map((status) => oldDeliveries({ environment, status, idBound: deliveryBound, before: horizon })),
    {
      // What a retry or replay committed before the events were locked must be visible after that.
      isolation: "read committed",
      run: (tx, slice) => removeEvents(tx, slice, environment, eventBound),
    },
    bySlices(async (tx, rows) => {
      const replays = await deleteReplays(tx, environment, eventBound, rows);
      if (replays.length > 0) await markRemoved(tx, environment, { replays });
      return replays.length;
    }),
    bySlices((tx, rows) => deleteBulkOperations(tx, environment, bulkBound, rows)),
    bySlices((tx, rows) => deleteIdempotencyKeys(tx, environment, keysBound, rows)),
    bySlices((tx, rows) => deleteRequests(tx, "request_details", environment, requestBound, rows)),
    bySlices((tx, rows) => deleteRequests(tx, "request_logs", environment, requestBound, rows)),
    bySlices((tx, rows) => deleteOldCounts(tx, environment, Math.floor(now / 60_000) - COUNT_RETENTION_MINUTES, rows)),
    bySlices((tx) => deleteEmptyQueues(tx, environment)),
    bySlices((tx, rows) => deleteListeners(tx, environment, listenersBound, rows)),
  ];
}

/** Removes deliveries of a status, with their attempts. Those that were attempted recently stay. */
function oldDeliveries(of: Omit<OldDeliveries, "after" | "limit">): Step {
  return {
    async run(tx, { rows, after }) {
      const found = await findOldDeliveries(tx, { ...of, after, limit: rows });
      const part = firstRows(found, rows);
      const removable = part.filter((delivery) => delivery.is_removable === 1);
      if (removable.length > 0) await deleteDeliveries(tx, ids(removable));
      return part.length === rows || part.length < found.length ? part.at(-1)!.id : undefined;
    },
  };
}

const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** Removes events with their replays, which would have nothing to send. */
async function removeEvents(tx: Transaction, { rows, after }: Slice, environment: number, idBound: string) {
  const end = await lastOfNextEvents(tx, environment, { after, idBound }, rows);
  if (end === undefined) return undefined;
  const events = await removableEvents(tx, environment, after, end);
  const numbers = new Map(events.map(({ id, seq }) => [id, seq]));
  const removed = await deleteEvents(tx, environment, [...numbers.keys()]);
  const [first, last] = [removed[0], removed.at(-1)];
  if (first !== undefined && last !== undefined) {
    const replays = await deleteReplaysOf(tx, environment, { first, last });
    await markRemoved(tx, environment, { newestEvent: last, seqs: removed.map((id) => numbers.get(id)!), replays });
  }
  return end;
}

/** A grant whose last refresh token has expired gives no access, and is removed with its tokens. */
async function removeGrants(tx: Transaction, { rows, after }: Slice, now: number): Promise<string | undefined> {
  const bound = lowestIdAt("oauth_grant", now - REFRESH_SECONDS * 1000);
  const limit = Math.max(1, Math.floor(rows / ROWS_PER_GRANT));
  return (await deleteEndedGrants(tx, bound, now, limit)) === limit ? after : undefined;
}

/** Returns as many deliveries as fill a slice with their attempts, at least one. */
function firstRows(found: readonly OldDelivery[], max: number): readonly OldDelivery[] {
  let rows = 0;
  const end = found.findIndex(({ attempt_count: attempts }, index) => (rows += 1 + attempts) > max && index > 0);
  return end === -1 ? found : found.slice(0, end);
}

/** Readers add up what is not folded: few enough rows at some thousands of writes a second. */
const FOLD_MILLISECONDS = 1_000;

/** Readers read the space of folded changes, too, until it is vacuumed. The server does so once a minute. */
const VACUUM_AFTER = 10_000;

/** Returns a function that folds all changes of the counts, one process at a time. It does nothing for an SQLite file. */
export function countFolder(database: Database): (signal: AbortSignal) => Promise<void> {
  const fold = async (tx: Transaction) => ((await tx.claim("counts")) ? foldChanges(tx) : 0);
  let toVacuum = 0;
  return async (signal) => {
    if (database.dialect === "sqlite" || !(await hasChanges(database))) return;
    for (let count = MAX_FOLDED; count === MAX_FOLDED && !signal.aborted; toVacuum += count) {
      // Meanwhile others only add changes, and nobody else writes the counts, so there is nothing to wait for.
      count = await database.write(fold, { isolation: "read committed" });
    }
    if (toVacuum < VACUUM_AFTER) return;
    toVacuum = 0;
    await vacuumChanges(database);
  };
}

/** Folds the counts every second. */
export function createCountFolder({ database, clock, log }: With<"database" | "clock" | "log">): Periodic {
  return new Periodic({ clock, log }, FOLD_MILLISECONDS, countFolder(database));
}

/** A file keeps a tenth of its pages free: reusing them costs less than shrinking the file and growing it again. */
const KEPT_SHARE = 0.1;

/**
 * Cuts free pages off an SQLite file, up to a number of them. The file shrinks at the next checkpoint of its log.
 * Returns whether there may be more. On PostgreSQL that is autovacuum's part.
 */
async function returnFreePages(tx: Transaction, limit: number): Promise<boolean> {
  if (tx.dialect === "postgres") return false;
  const before = await freePages(tx);
  if (before.free <= before.pages * KEPT_SHARE) return false;
  // A commit is numbered if it changes rows, and each that changes pages must be.
  await tx.run("UPDATE environments SET name = name WHERE id = (SELECT MIN(id) FROM environments)");
  // It takes one step a page: `run` would end after the first.
  await tx.all(`PRAGMA incremental_vacuum(${limit})`);
  return (await freePages(tx)).free < before.free;
}

async function freePages(tx: Transaction): Promise<{ free: number; pages: number }> {
  const row = await tx.get<{ free: number; pages: number }>(
    `SELECT (SELECT freelist_count FROM pragma_freelist_count) AS free, (SELECT page_count FROM pragma_page_count) AS pages`,
  );
  return row!;
}
