import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { insertAccount } from "../../src/platform/storage/accounts.ts";
import { attemptsOf } from "../../src/platform/storage/attempts.ts";
import type { Database } from "../../src/platform/storage/database.ts";
import { findDelivery, insertDelivery } from "../../src/platform/storage/deliveries.ts";
import {
  type AttemptOutcome,
  giveBack,
  hasLapsedLease,
  leaseDue,
  recordOutcomes,
  releaseLapsed,
} from "../../src/platform/storage/delivery-queue.ts";
import { insertEvent } from "../../src/platform/storage/events.ts";
import { MIGRATIONS } from "../../src/platform/storage/migrations/index.ts";
import { openSqlite } from "../../src/platform/storage/sqlite.ts";

const ENDPOINT = "we_1";
const DELIVERIES = ["dlv_1", "dlv_2", "dlv_3"];

let folder: string;
let database: Database;
let environment: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-leases-"));
  database = await openSqlite({ file: join(folder, "platform.db"), migrations: MIGRATIONS });
  await database.write(async (tx) => {
    const account = { id: "acct_1", name: "A", version: "2026-11-01", created: 1 };
    ({ sandbox: environment } = await insertAccount(tx, account));
    const event = { environment, id: "evt_1", type: "order.created", object_id: null, created: 1, body: "{}" } as const;
    await insertEvent(tx, event);
    for (const [index, id] of DELIVERIES.entries()) {
      await insertDelivery(tx, {
        id,
        environment,
        event_id: event.id,
        event_type: event.type,
        endpoint_id: ENDPOINT,
        listener_id: null,
        status: "pending",
        attempt_count: 0,
        next_attempt: index + 1,
        created: 1,
      });
    }
  });
});
afterEach(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Leases what is due; answers the deliveries' ids. */
async function lease(token: string, until: number, limit = 10): Promise<string[]> {
  const rows = await database.write((tx) => leaseDue(tx, { endpointId: ENDPOINT, dueAt: 10, limit }, { token, until }));
  return rows.map(({ id }) => id);
}

const record = (id: string, token: string, change: Partial<AttemptOutcome> = {}) =>
  database.write((tx) =>
    recordOutcomes(tx, [
      {
        id,
        token,
        status: "succeeded",
        next_attempt: null,
        at: 5,
        status_code: 200,
        error: null,
        duration_ms: 1,
        response_excerpt: null,
        ...change,
      },
    ]),
  );

it("what is leased is nobody else's, the longest waiting first", async () => {
  expect(await lease("a.1", 100, 2)).toEqual(["dlv_1", "dlv_2"]);
  expect(await lease("b.1", 100)).toEqual(["dlv_3"]);
  expect(await lease("c.1", 100)).toEqual([]);
});

it("an outcome counts only under the lease that its attempt was made with", async () => {
  await lease("a.1", 100, 1);
  await database.write((tx) => releaseLapsed(tx, 101, "b", 10));
  expect(await lease("b.1", 200, 1)).toEqual(["dlv_1"]);
  await record("dlv_1", "a.1");
  expect(await attemptsOf(database, "dlv_1")).toEqual([]);
  expect(await findDelivery(database, environment, "dlv_1")).toMatchObject({ status: "pending", attempt_count: 0 });
  await record("dlv_1", "b.1", { status: "pending", next_attempt: 30, status_code: 500 });
  expect(await attemptsOf(database, "dlv_1")).toMatchObject([{ number: 1, status_code: 500 }]);
  expect(await findDelivery(database, environment, "dlv_1")).toMatchObject({ attempt_count: 1, next_attempt: 30 });
  await record("dlv_1", "b.1");
  expect(await attemptsOf(database, "dlv_1")).toHaveLength(1);
});

it("leases that ran out are taken over from others, never from oneself, and not before", async () => {
  await lease("a.1", 100, 1);
  await lease("b.1", 100, 1);
  await lease("c.1", 300, 1);
  expect(await hasLapsedLease(database, 100, "a")).toBe(false);
  expect(await hasLapsedLease(database, 101, "a")).toBe(true);
  await database.write((tx) => releaseLapsed(tx, 101, "a", 10));
  expect(await lease("a.2", 200)).toEqual(["dlv_2"]);
  expect(await hasLapsedLease(database, 101, "a")).toBe(false);
});

it("what was never begun is given back under its own token alone", async () => {
  await lease("a.1", 100, 1);
  await database.write((tx) => giveBack(tx, [{ id: "dlv_1", token: "b.1" }]));
  expect(await lease("c.1", 100, 1)).toEqual(["dlv_2"]);
  await database.write((tx) => giveBack(tx, [{ id: "dlv_1", token: "a.1" }]));
  expect(await lease("c.2", 100, 1)).toEqual(["dlv_1"]);
});
