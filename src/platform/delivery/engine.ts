import { lowestIdAt } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { pause } from "../../network/clock.ts";
import { carryOutSlice } from "../domain/bulk-operations.ts";
import type { Sessions } from "../domain/deliveries.ts";
import type { With } from "../tools.ts";
import { tenantOf } from "../storage/accounts.ts";
import { runningBulkOperations } from "../storage/bulk-operations.ts";
import type { Transaction, WriteOptions } from "../storage/database.ts";
import {
  endpointsDueAfter,
  leaseTime,
  rescheduleDeliveries,
  rescheduleFirstAttempts,
} from "../storage/delivery-queue.ts";
import { allEnvironments } from "../storage/environments.ts";
import { Periodic } from "../time/periodic.ts";
import { claimEnded, LEASE_MILLISECONDS, SecretOpener } from "./claim.ts";
import type { DeliveryLimits } from "./endpoint-queues.ts";
import { EventBodies } from "./event-bodies.ts";
import { recordFinished, reportFinished } from "./record.ts";
import { DeliverySender } from "./sender.ts";
import type { TargetGuard } from "./target-guard.ts";
import { TestClockAdvancer } from "./test-clock.ts";
import { DeliveryWorker, type RecordTools } from "./worker.ts";

type EngineTools = RecordTools & BulkTools & With<"vault"> & { guard: TargetGuard };

/** Creates everything that attempts deliveries in this process. */
export function createDeliveryEngine(tools: EngineTools, limits: DeliveryLimits) {
  const { vault, clock, random, guard } = tools;
  const sender = new DeliverySender(guard, clock, random);
  const deliveryTools = {
    ...tools,
    sender,
    opener: new SecretOpener(vault, tools.background),
    bodies: new EventBodies(limits.bodyBytes),
    limits,
    owner: Buffer.from(random.bytes(12)).toString("base64url"),
  };
  const worker = new DeliveryWorker(deliveryTools);
  const advancer = new TestClockAdvancer(deliveryTools);
  const overdueCheck = createOverdueCheck(tools);
  const bulkRunner = createBulkRunner(tools);
  return {
    async start() {
      await worker.start();
      advancer.start();
      overdueCheck.start();
      bulkRunner.start();
    },
    /** Begins no more attempts. Resolves when those in flight have finished, within their time limit, and are recorded. */
    async stop() {
      await Promise.all([worker.stop(), advancer.stop(), overdueCheck.stop(), bulkRunner.stop()]);
      sender.close();
    },
    /** Moves the clocks of sandboxes and attempts what becomes due on the way. */
    clockAdvancer: advancer,
  };
}

const BULK_POLL_MILLISECONDS = 250;
/** Pause between transactions, so that other writers wait for at most one of them. */
const BULK_PAUSE_MILLISECONDS = 5;

type BulkTools = With<"database" | "clock" | "log" | "background" | "time" | "versions"> & { sessionsIn: Sessions };

/**
 * Runs bulk operations, a slice of each in turn. They are rows of the database: any process that finds one continues
 * it, one process at a time.
 */
function createBulkRunner(tools: BulkTools): Periodic {
  return new Periodic(tools, BULK_POLL_MILLISECONDS, async (signal) => {
    let hasMore = true;
    while (hasMore && !signal.aborted) {
      hasMore = false;
      for (const { environment, id } of await runningBulkOperations(tools.database)) {
        if (signal.aborted) return;
        const run = () => runSlice(tools, environment, id);
        if (await tools.background.run("bulk_operation", { operation: id }, run)) hasMore = true;
        await pause(tools.clock, BULK_PAUSE_MILLISECONDS);
      }
    }
  });
}

function runSlice(tools: BulkTools, environment: number, id: string): Promise<boolean> {
  const { background, database, time, versions, sessionsIn } = tools;
  return background.write("bulk_operation", database, async (tx, partOf) => {
    if (!(await tx.claim(`bulk ${environment}`))) return false;
    const tenant = await tenantOf(tx, environment);
    const context = { tx, tenant, requestId: null, versions, ...(await time.read(tx, tenant)) };
    return carryOutSlice(context, id, partOf, sessionsIn);
  });
}

const CHECK_MILLISECONDS = 60_000;
const CHECKED_ROWS = 250;
const READ_COMMITTED: WriteOptions = { isolation: "read committed" };
/**
 * No retry waits longer than this, with some margin. Anything due later was scheduled by a clock that was set back
 * since.
 */
const LONGEST_WAIT_MILLISECONDS = (LIMITS.maxRetryWaitSeconds + 3600) * 1000;
/** A first attempt is due at once. One that is due within this time needs no correction. */
const SOON_MILLISECONDS = 60_000;

/** Fails deliveries that the worker never claims because they never become due. Runs periodically. */
function createOverdueCheck(tools: RecordTools): Periodic {
  return new Periodic(tools, CHECK_MILLISECONDS, async (signal) => {
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
    for (let ended = CHECKED_ROWS; ended === CHECKED_ROWS && !signal.aborted;) {
      const now = clock.now();
      if (!clockTrust.isTrusted()) return;
      const end = async (tx: Transaction) => {
        const found = await claimEnded(tx, { token, until: now + LEASE_MILLISECONDS }, id, now + offset, CHECKED_ROWS);
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
  for (const { clock_offset: offset, ...endpoint } of await endpointsDueAfter(database, latest)) {
    const { environment, endpoint_id: endpointId } = endpoint;
    const request = { environment, endpointId, after: latest + offset, dueAt: now + offset, limit: CHECKED_ROWS };
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
    const request = { environment, after, lowestId: lowestIdAt("delivery", after), dueAt, limit: CHECKED_ROWS };
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
  for (let count = CHECKED_ROWS; count === CHECKED_ROWS && !signal.aborted; rescheduled += count) {
    count = (await background.run("overdue_check", of, write)) ?? 0;
  }
  if (rescheduled === 0) return;
  log.warn({ ...of, deliveries: rescheduled }, "deliveries were due too late after the clock was set back");
}
