import type { Activity } from "./activity.ts";
import { BACKGROUND_TASKS, type BackgroundTask } from "./background-work.ts";
import type { Clock } from "../ports.ts";
import { type Queries, StorageUnavailableError } from "../storage/database.ts";
import type { TransactionWatch } from "./transaction-watch.ts";
import { countPending } from "../storage/counts.ts";
import { queueHeads } from "../storage/delivery-queue.ts";

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Gauges that end like counters, which Prometheus advises against. Each is the sum of one that has labels. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** The platform's metrics for an operator. They contain no tenant's data. */
export type Metrics = Awaited<ReturnType<typeof createMetrics>>;

export async function createMetrics(
  { database, clock, version }: { database: Queries; clock: Clock; version: string },
  transactions: TransactionWatch,
) {
  // Bundled CommonJS has only a default export.
  const { default: prometheus } = await import("prom-client");
  const { collectDefaultMetrics, Counter, Gauge, Histogram, register: ofProcess, Registry } = prometheus;
  // They are of the process, whose platforms share them, and cannot be stopped.
  if (ofProcess.getSingleMetric("process_cpu_seconds_total") === undefined) {
    collectDefaultMetrics();
    for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  }
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: "service_build_info",
    help: "1, with the version of the program and of Node.js",
    labelNames: ["version", "node"],
    registers,
  }).set({ version, node: process.versions.node }, 1);
  const requests = new Counter({
    name: "service_http_requests_total",
    help: "API requests by route and status",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const requestSeconds = new Histogram({
    name: "service_http_request_duration_seconds",
    help: "Time from a request to its response",
    labelNames: ["method", "route"],
    buckets: SECONDS,
    registers,
  });
  const attempts = new Counter({
    name: "service_delivery_attempts_total",
    help: "Delivery attempts by resulting status",
    labelNames: ["outcome"],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: "service_delivery_attempt_duration_seconds",
    help: "Time from connecting to a receiver to the last byte of its response",
    buckets: SECONDS,
    registers,
  });
  const pending = new Gauge({
    name: "service_deliveries_pending",
    help: "Deliveries that wait for an attempt or are in flight",
    registers,
  });
  const oldestDue = new Gauge({
    name: "service_deliveries_oldest_due_seconds",
    help: "How long the longest waiting delivery has been due",
    registers,
  });

  const failures = new Counter({
    name: "service_background_failures_total",
    help: "Failures of background work for one tenant or row, which did not stop the others",
    labelNames: ["task"],
    registers,
  });
  // A counter that first appears at 1 does not count as an increase.
  for (const task of BACKGROUND_TASKS) failures.inc({ task }, 0);

  const oldestTransaction = new Gauge({
    name: "service_postgres_oldest_write_transaction_seconds",
    help: "Age of the oldest writing transaction on the PostgreSQL server, which holds events back from listeners",
    registers: database.dialect === "postgres" ? registers : [],
  });

  const outcomes = { succeeded: "succeeded", pending: "retrying", failed: "failed", canceled: "canceled" } as const;
  const oldestDueSeconds = async () => {
    const now = clock.now();
    const enabled = (await queueHeads(database)).filter(({ endpoint_status: status }) => status === "enabled");
    return Math.max(0, ...enabled.map((head) => (now + head.clock_offset - head.due) / 1000));
  };

  /** Returns nothing while the database is unavailable. */
  const readDatabase = async () => {
    try {
      const [waiting, due, age] = await Promise.all([
        countPending(database),
        oldestDueSeconds(),
        transactions.ageSeconds(),
      ]);
      pending.set(waiting);
      oldestDue.set(due);
      oldestTransaction.set(age);
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      for (const gauge of [pending, oldestDue, oldestTransaction]) gauge.remove();
    }
  };

  return {
    contentType: registry.contentType,
    observeRequest(method: string, route: string, status: number, seconds: number) {
      requests.inc({ method, route, status });
      requestSeconds.observe({ method, route }, seconds);
    },
    observe(activity: Activity) {
      if (activity.event !== "delivery") return;
      attempts.inc({ outcome: outcomes[activity.status] });
      attemptSeconds.observe(activity.duration_ms / 1000);
    },
    countFailure: (task: BackgroundTask) => failures.inc({ task }),
    /** Returns the text for a scrape. */
    async text() {
      await readDatabase();
      return `${await registry.metrics()}\n${await ofProcess.metrics()}`;
    },
  };
}
