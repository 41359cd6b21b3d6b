import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DeliveryStatus } from "../../../src/contract/schemas/delivery.ts";
import { countPending, deleteOldCounts } from "../../../src/platform/storage/counts.ts";
import type { Database, Transaction } from "../../../src/platform/storage/database.ts";
import {
  deleteDeliveries,
  listDeliveries,
  newestDeliveries,
  findOldDeliveries,
} from "../../../src/platform/storage/deliveries.ts";
import * as queue from "../../../src/platform/storage/delivery-queue.ts";
import { endOfLog, findInLog, positionBefore, readLog } from "../../../src/platform/storage/event-log.ts";
import {
  deleteEvents,
  deleteReplays,
  deleteReplaysOf,
  lastOfNextEvents,
  listEvents,
  newestOfTypes,
  readEventBodies,
  removableEvents,
} from "../../../src/platform/storage/events.ts";
import { deleteIdempotencyKeys } from "../../../src/platform/storage/idempotency-keys.ts";
import { MIGRATIONS } from "../../../src/platform/storage/migrations/index.ts";
import { findNamed } from "../../../src/platform/domain/objects.ts";
import { listObjects } from "../../../src/platform/storage/objects.ts";
import { deleteRequests, listRequestLogs, type RequestLogFilters } from "../../../src/platform/storage/request-logs.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { disabledWithWaiting, findTarget } from "../../../src/platform/storage/webhook-endpoints.ts";

let folder: string;
let database: Database;
/** The steps of the explained query plans. */
let plan: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-plans-"));
  database = await openSqlite({ file: join(folder, "platform.db"), migrations: MIGRATIONS });
  await database.write(async (tx) => {
    await tx.run("INSERT INTO accounts (id, name, version, created) VALUES ('acct', 'Test', '2026-11-01', 1)");
    await tx.run("INSERT INTO environments (id, account_id, name) VALUES (1, 'acct', 'sandbox')");
  });
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

async function explain(sql: string, parameters: Parameters<Database["all"]>[1] = []): Promise<void> {
  const rows = await database.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, parameters);
  plan.push(...rows.map(({ detail }) => detail));
}

/** Explains each statement before it runs. Statements that change rows are not run. */
const explainAll: Transaction["all"] = async (sql, parameters) => {
  await explain(sql, parameters);
  return /^\s*(DELETE|INSERT|UPDATE)\b/.test(sql) ? [] : database.all(sql, parameters);
};
const explained: Transaction = {
  dialect: "sqlite",
  isShared: true,
  get: async (sql, parameters) => {
    await explain(sql, parameters);
    return database.get(sql, parameters);
  },
  all: explainAll,
  allShared: explainAll,
  run: async (sql, parameters) => {
    await explain(sql, parameters);
    return 1;
  },
  notify: () => {},
  claim: async () => true,
  lock: async () => {},
};

const lease = { token: "t", until: 1 };
const page = { environment: 1, before: "dlv_x", limit: 20 };
const outcome = {
  id: "dlv",
  token: "t",
  claimed_due: 1,
  status: "pending",
  next_attempt: 1,
  at: 1,
  status_code: null,
  error: null,
  duration_ms: 1,
  request_headers: null,
  response_headers: null,
  response_excerpt: null,
} as const;
const list = (filters: { endpointId?: string; eventIds?: string[]; statuses?: DeliveryStatus[] }) =>
  listDeliveries(explained, page, { endpointId: undefined, eventIds: undefined, statuses: undefined, ...filters });

const position = { seq: 1, replay: 0, id: "evt" };
const listedEvents = (filters: Parameters<typeof listEvents>[2]) =>
  listEvents(explained, { environment: 1, position: "9", before: "evt_2", from: "evt_1", limit: 20 }, filters);

const logs = (filters: Partial<RequestLogFilters>) =>
  listRequestLogs(explained, page, {
    method: undefined,
    path: undefined,
    status: undefined,
    keyId: undefined,
    ...filters,
  });

const statements: [string, () => Promise<unknown>][] = [
  ["finding the endpoints that deliveries wait for", () => queue.queueHeads(explained)],
  [
    "finding an endpoint's first deliveries",
    () => queue.firstDue(explained, { environment: 1, endpointId: "we", dueAt: 1, limit: 5 }),
  ],
  ["finding due deliveries", () => queue.findDue(explained, { environment: 1, endpointId: "we", dueAt: 1, limit: 5 })],
  ["finding deliveries that are due now", () => queue.findDueNow(explained, { environment: 1, id: "we" }, () => 1, 5)],
  ["finding what waited too long", () => queue.findEnded(explained, { environment: 1, id: "we" }, "dlv", 1, 5)],
  ["claiming", () => queue.setLease(explained, [{ id: "dlv" }], lease, 1)],
  ["reading bodies", () => readEventBodies(explained, 1, ["evt"])],
  ["finding deliveries that are due too late", () => queue.endpointsDueAfter(explained, 1)],
  [
    "hastening deliveries",
    () => queue.rescheduleDeliveries(explained, { environment: 1, endpointId: "we", after: 1, dueAt: 0, limit: 5 }),
  ],
  [
    "hastening first attempts",
    () => queue.rescheduleFirstAttempts(explained, { environment: 1, after: 1, lowestId: "dlv_", dueAt: 0, limit: 5 }),
  ],
  ["marking begun attempts", () => queue.markStarted(explained, [{ id: "dlv", token: "t", at: 1 }])],
  ["recording", () => queue.recordOutcomes(explained, [outcome])],
  ["looking for lapsed leases", () => queue.hasLapsedLease(explained, 1, "o")],
  ["finding lapsed leases with their deliveries", () => queue.findLapsed(explained, 1, "o", 5)],
  ["finding every lease", () => queue.findAllLeased(explained)],
  ["releasing leases", () => queue.releaseLeases(explained, [{ id: "dlv", token: "t" }])],
  ["releasing tokens", () => queue.releaseTokens(explained, ["t"])],
  ["finding leases of an environment", () => queue.hasLeased(explained, 1)],
  ["counting the queue", () => countPending(explained)],
  ["listing deliveries", () => list({})],
  ["listing an endpoint's deliveries", () => list({ endpointId: "we" })],
  ["listing failed deliveries", () => list({ statuses: ["failed"] })],
  ["listing an endpoint's failed deliveries", () => list({ endpointId: "we", statuses: ["failed"] })],
  ["listing what has not arrived at an endpoint", () => list({ endpointId: "we", statuses: ["pending", "failed"] })],
  ["listing an event's deliveries", () => list({ eventIds: ["evt"] })],
  [
    "listing an event's deliveries to an endpoint",
    () => list({ eventIds: ["evt", "evt_2"], endpointId: "we", statuses: ["pending", "failed"] }),
  ],
  ["finding the newest delivery of an endpoint", () => newestDeliveries(explained, 1, "we")],
  ["finding the newest event of each type", () => newestOfTypes(explained, 1)],
  [
    "finding old deliveries",
    () =>
      findOldDeliveries(explained, {
        environment: 1,
        status: "failed",
        after: "dlv",
        idBound: "dlv_1",
        before: 1,
        limit: 5,
      }),
  ],
  ["finding the next old events", () => lastOfNextEvents(explained, 1, { after: "evt", idBound: "evt_1" }, 5)],
  ["finding old events", () => removableEvents(explained, 1, "evt", "evt_1")],
  ["removing old events", () => deleteEvents(explained, 1, ["evt"])],
  ["removing old deliveries", () => deleteDeliveries(explained, ["dlv"])],
  ["removing old counts", () => deleteOldCounts(explained, 1, 1, 5)],
  ["reading the log", () => readLog(explained, 1, position, ["order.created", "order.completed"], 10)],
  ["finding the end of the log", () => endOfLog(explained, 1)],
  ["finding a position in the log", () => findInLog(explained, 1, "evt")],
  ["finding the position before an age", () => positionBefore(explained, 1, "evt")],
  ["removing old replays", () => deleteReplays(explained, 1, "evt", 5)],
  ["removing the replays of old events", () => deleteReplaysOf(explained, 1, { first: "evt_1", last: "evt_2" })],
  ["finding disabled endpoints", () => disabledWithWaiting(explained, 1, "dlv")],
  ["removing old keys", () => deleteIdempotencyKeys(explained, 1, 1, 5)],
  ["listing customers", () => listObjects(explained, "customer", page, {})],
  ["finding a customer by email", () => listObjects(explained, "customer", page, { email_key: "a@example.com" })],
  ["listing events", () => listedEvents({ types: undefined, objectIds: undefined })],
  ["listing events by type", () => listedEvents({ types: ["order.created", "order.canceled"], objectIds: undefined })],
  ["listing events of an object", () => listedEvents({ types: undefined, objectIds: ["cus"] })],
  ["listing events of an object by type", () => listedEvents({ types: ["order.created"], objectIds: ["cus"] })],
  ["listing events of several objects", () => listedEvents({ types: ["order.created"], objectIds: ["cus", "ord"] })],
  ["finding what an address names", () => findNamed(explained, { environment: 1 }, "a@example.com")],
  ["removing old requests", () => deleteRequests(explained, "request_logs", 1, "req", 5)],
  ["listing requests", () => logs({})],
  ["listing requests by method", () => logs({ method: "GET" })],
  ["listing requests by path", () => logs({ path: "/" })],
  ["listing requests by status", () => logs({ status: "500" })],
  ["listing requests by key", () => logs({ keyId: "key", status: "500" })],
  ["listing requests by path and key", () => logs({ path: "/", keyId: "key" })],
  ["finding a target", () => findTarget(explained, 1, "we")],
];

it.each(statements)("%s does not scan a whole table, and sorts at most a page", async (_name, ask) => {
  plan = [];
  await ask();
  expect(plan.length).toBeGreaterThan(0);
  const scans = plan.filter((step) =>
    /^SCAN (customers|deliveries|events|attempts|replays|idempotency_keys|request_logs|[dehrw])\b/.test(step),
  );
  expect(scans).toEqual([]);
  // A list that is merged from several indexes reads at most one page of each.
  const sorts = plan.filter((step, index) => step.includes("TEMP B-TREE") && !plan[index - 1]!.startsWith("SCAN "));
  expect(sorts).toEqual([]);
});

it("lists of events read only the matching rows", async () => {
  for (const [index, filters] of [
    ["events_by_type (environment=? AND type=?", { types: ["order.created"], objectIds: undefined }],
    ["events_by_object (environment=? AND object_id=?", { types: ["order.created"], objectIds: ["cus"] }],
  ] as const) {
    plan = [];
    await listedEvents(filters);
    expect(plan).toContain(`SEARCH events USING INDEX ${index} AND seq>? AND seq<?)`);
  }
});

it("lists of requests read only the matching rows", async () => {
  for (const filters of [{ status: "404" }, { path: "/" }, { keyId: "key" }, { path: "/", keyId: "key" }]) {
    plan = [];
    await logs(filters);
    const searches = plan.filter((step) => step.startsWith("SEARCH "));
    expect(searches.length).toBeGreaterThan(0);
    expect(searches.filter((step) => !step.includes("method=? AND status=?"))).toEqual([]);
  }
});

it("rescheduling first attempts reads only pending deliveries created later than now", async () => {
  plan = [];
  await queue.rescheduleFirstAttempts(explained, { environment: 1, after: 1, lowestId: "dlv_", dueAt: 0, limit: 5 });
  expect(plan).toContain("SEARCH d USING INDEX deliveries_by_status (environment=? AND status=? AND id>?)");
});

it("finding leases reads only leased deliveries", async () => {
  for (const ask of [() => queue.hasLeased(explained, 1), () => queue.hasLapsedLease(explained, 1, "o")]) {
    plan = [];
    await ask();
    const searches = plan.filter((step) => /^(SEARCH|SCAN) /.test(step));
    expect(searches.length).toBeGreaterThan(0);
    expect(searches.filter((step) => !step.includes("deliveries_leased"))).toEqual([]);
  }
});
