import { lowestIdAt } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { Periodic } from "../time/periodic.ts";
import type { Transaction, WriteOptions } from "../storage/database.ts";
import {
  endpointsDueAfter,
  rescheduleDeliveries,
  rescheduleFirstAttempts,
  leaseTime,
} from "../storage/delivery-queue.ts";
import { allEnvironments } from "../storage/environments.ts";
import { claimEnded, LEASE_MILLISECONDS } from "./claim.ts";
import { recordFinished, reportFinished } from "./record.ts";
import type { RecordTools } from "./worker.ts";

const EVERY_MILLISECONDS = 60_000;
const MAX_ROWS = 250;
const READ_COMMITTED: WriteOptions = { isolation: "read committed" };
/**
 * No retry waits longer than this, with some margin. Anything due later was scheduled by a clock that was set back
 * since.
 */
const LONGEST_WAIT_MILLISECONDS = (LIMITS.maxRetryWaitSeconds + 3600) * 1000;
/** A first attempt is due at once. One that is due within this time needs no correction. */
const SOON_MILLISECONDS = 60_000;

/** Fails deliveries that the worker never claims because they never become due. Runs periodically. */
export function createOverdueCheck(tools: RecordTools): Periodic {
  return new Periodic(tools, EVERY_MILLISECONDS, async (signal) => {
    await rescheduleUnreachable(tools, signal);
    await rescheduleFirst(tools, signal);
    await endWaiting(tools, signal);
  });
}

/** Finishes deliveries that waited for a disabled endpoint until their retry period was over. */
async function endWaiting(tools: RecordTools, signal: AbortSignal): Promise<void> {
  const { background, database, clock, clockTrust, report, random } = tools;
  const token = Buffer.from(random.bytes(12)).toString("base64url");
  for (const { id, clock_offset: offset } of await allEnvironments(database)) {
    for (let ended = MAX_ROWS; ended === MAX_ROWS && !signal.aborted;) {
      const now = clock.now();
      if (!clockTrust.isTrusted()) return;
      const end = async (tx: Transaction) => {
        const found = await claimEnded(tx, { token, until: now + LEASE_MILLISECONDS }, id, now + offset, MAX_ROWS);
        await recordFinished(tx, found);
        return found;
      };
      const write = () => database.write(end, READ_COMMITTED);
      const finished = (await background.run("overdue_check", { environment: id }, write)) ?? [];
      reportFinished(report, finished, []);
      ended = finished.length;
    }
  }
}

/** Makes deliveries due that were scheduled while the clock was far ahead. */
async function rescheduleUnreachable(tools: RecordTools, signal: AbortSignal): Promise<void> {
  const { database, clock } = tools;
  const now = await leaseTime(database, clock.now);
  const latest = now + LONGEST_WAIT_MILLISECONDS;
  for (const { environment, endpoint_id: endpointId, clock_offset: offset } of await endpointsDueAfter(
    database,
    latest,
  )) {
    const request = { environment, endpointId, after: latest + offset, dueAt: now + offset, limit: MAX_ROWS };
    await reschedule(tools, signal, { endpoint: endpointId }, (tx) => rescheduleDeliveries(tx, request));
  }
}

/** Makes first attempts due that were created while a clock was ahead, however slightly. */
async function rescheduleFirst(tools: RecordTools, signal: AbortSignal): Promise<void> {
  const { database, clock } = tools;
  const now = await leaseTime(database, clock.now);
  for (const { id: environment, clock_offset: offset } of await allEnvironments(database)) {
    const dueAt = now + offset;
    const after = dueAt + SOON_MILLISECONDS;
    const request = { environment, after, lowestId: lowestIdAt("delivery", after), dueAt, limit: MAX_ROWS };
    await reschedule(tools, signal, { environment }, (tx) => rescheduleFirstAttempts(tx, request));
  }
}

async function reschedule(
  { background, database, log }: RecordTools,
  signal: AbortSignal,
  of: Record<string, unknown>,
  some: (tx: Transaction) => Promise<number>,
): Promise<void> {
  let rescheduled = 0;
  const unit = async (tx: Transaction) => {
    const changed = await some(tx);
    if (changed > 0) tx.notify("deliveries");
    return changed;
  };
  const write = () => database.write(unit, READ_COMMITTED);
  for (let count = MAX_ROWS; count === MAX_ROWS && !signal.aborted; rescheduled += count) {
    count = (await background.run("overdue_check", of, write)) ?? 0;
  }
  if (rescheduled === 0) return;
  log.warn({ ...of, deliveries: rescheduled }, "deliveries were due too late after the clock was set back");
}
