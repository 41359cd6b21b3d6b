import type { Services } from "../services.ts";
import { DeliverySender } from "./sender.ts";
import { EventBodies } from "./event-bodies.ts";
import { DeliveryWorker } from "./worker.ts";
import { SecretOpener } from "./secret-opener.ts";
import type { DeliveryLimits } from "./endpoint-queues.ts";
import type { TargetGuard } from "./target-guard.ts";
import { TestClockAdvancer } from "./test-clock.ts";
import { createBulkRunner } from "./bulk-runner.ts";
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

export function createDeliveryEngine(services: Services, guard: TargetGuard, limits: DeliveryLimits): DeliveryEngine {
  const sender = new DeliverySender(guard, services.clock, services.random);
  const tools = {
    sender,
    opener: new SecretOpener(services.vault),
    bodies: new EventBodies(limits.bodyBytes),
    limits,
    owner: Buffer.from(services.random.bytes(12)).toString("base64url"),
  };
  const worker = new DeliveryWorker(services, tools);
  const advancer = new TestClockAdvancer(services, tools);
  const ender = createOverdueCheck(services);
  const bulkRunner = createBulkRunner(services);
  return {
    async start() {
      await worker.start();
      advancer.start();
      ender.start();
      bulkRunner.start();
    },
    async stop() {
      await Promise.all([worker.stop(), advancer.stop(), ender.stop(), bulkRunner.stop()]);
      await sender.close();
    },
    clockAdvancer: advancer,
  };
}
