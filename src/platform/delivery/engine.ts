import { carryOutSlice } from "../domain/bulk-operations.ts";
import type { Versions } from "../domain/versions.ts";
import type { BackgroundWork } from "../observability/background-work.ts";
import type { Clock, Log } from "../ports.ts";
import type { Vault } from "../security/vault.ts";
import { tenantOf } from "../storage/accounts.ts";
import { runningBulkOperations } from "../storage/bulk-operations.ts";
import type { Database } from "../storage/database.ts";
import type { EnvironmentTime } from "../time/environment-time.ts";
import { Periodic } from "../time/periodic.ts";
import type { DeliveryLimits } from "./endpoint-queues.ts";
import { EventBodies } from "./event-bodies.ts";
import { createOverdueCheck } from "./overdue-check.ts";
import { SecretOpener } from "./secret-opener.ts";
import { DeliverySender } from "./sender.ts";
import type { TargetGuard } from "./target-guard.ts";
import { TestClockAdvancer } from "./test-clock.ts";
import { DeliveryWorker, type RecordTools } from "./worker.ts";

/** Everything that attempts deliveries in this process. */
export interface DeliveryEngine {
  start(): Promise<void>;
  /**
   * Begins no more attempts. Resolves when those in flight have finished, within their time limit, and are recorded.
   */
  stop(): Promise<void>;
  /** Moves the clocks of sandboxes and attempts what becomes due on the way. */
  clockAdvancer: TestClockAdvancer;
}

export function createDeliveryEngine(
  tools: RecordTools & BulkTools & { vault: Vault },
  guard: TargetGuard,
  limits: DeliveryLimits,
): DeliveryEngine {
  const { vault, clock, random } = tools;
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
    async stop() {
      await Promise.all([worker.stop(), advancer.stop(), overdueCheck.stop(), bulkRunner.stop()]);
      sender.close();
    },
    clockAdvancer: advancer,
  };
}

const POLL_MILLISECONDS = 250;
/** Pause between transactions, so that other writers wait for at most one of them. */
const PAUSE_MILLISECONDS = 5;

/** The dependencies of bulk operations. */
interface BulkTools {
  database: Database;
  clock: Clock;
  log: Log;
  background: BackgroundWork;
  time: EnvironmentTime;
  versions: Versions;
}

/**
 * Runs bulk operations, a slice of each in turn. They are rows of the database: any process that finds one continues
 * it, one process at a time.
 */
function createBulkRunner(tools: BulkTools): Periodic {
  return new Periodic(tools, POLL_MILLISECONDS, async (signal) => {
    let hasMore = true;
    while (hasMore && !signal.aborted) {
      hasMore = false;
      for (const { environment, id } of await runningBulkOperations(tools.database)) {
        if (signal.aborted) return;
        const run = () => runSlice(tools, environment, id);
        if (await tools.background.run("bulk_operation", { operation: id }, run)) hasMore = true;
        await new Promise<void>((resolve) => {
          tools.clock.after(PAUSE_MILLISECONDS, resolve);
        });
      }
    }
  });
}

function runSlice(tools: BulkTools, environment: number, id: string): Promise<boolean> {
  const { background, database, time, versions } = tools;
  return background.write("bulk_operation", database, async (tx, partOf) => {
    if (!(await tx.claim(`bulk ${environment}`))) return false;
    const tenant = await tenantOf(tx, environment);
    return carryOutSlice(tx, { tenant, requestId: null, versions, ...(await time.read(tx, tenant)) }, id, partOf);
  });
}
