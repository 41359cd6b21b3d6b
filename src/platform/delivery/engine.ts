import type { Vault } from "../security/vault.ts";
import { DeliverySender } from "./sender.ts";
import { EventBodies } from "./event-bodies.ts";
import { DeliveryWorker, type RecordTools } from "./worker.ts";
import { SecretOpener } from "./secret-opener.ts";
import type { DeliveryLimits } from "./endpoint-queues.ts";
import type { TargetGuard } from "./target-guard.ts";
import { TestClockAdvancer } from "./test-clock.ts";
import { type BulkTools, createBulkRunner } from "./bulk-runner.ts";
import { createOverdueCheck } from "./overdue-check.ts";

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
