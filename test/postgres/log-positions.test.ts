import { afterAll, beforeAll, expect, it } from "vitest";
import { createIdGenerator } from "../../src/contract/ids.ts";
import type { Database, Transaction } from "../../src/platform/storage/database.ts";
import { alignLog } from "../../src/platform/storage/event-log.ts";
import { insertEvent } from "../../src/platform/storage/events.ts";
import { openDatabase } from "../../src/platform/storage/open-database.ts";
import { systemRandom } from "../../src/platform/ports.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

/** Maximum number of units of work that share a transaction. */
const UNITS = 64;
const EVENTS_A_UNIT = 15;
const EVENTS_ALONE = 1000;
const ENVIRONMENT = 1;

let server: PostgresServer & { remove(): Promise<void> };
let url: string;
let database: Database;

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  database = await openDatabase({ database: url, version: "test", log });
});
afterAll(async () => {
  await database.close();
  await server.remove();
});

const newId = createIdGenerator((size) => systemRandom.bytes(size));

async function writeEvents(tx: Transaction, count: number): Promise<void> {
  for (let written = 0; written < count; written++) {
    const id = newId("event", Date.now());
    const event = {
      environment: ENVIRONMENT,
      id,
      type: "order.created" as const,
      object_id: null,
      created: 1,
      body: "{}",
    };
    await insertEvent(tx, event);
  }
}

const counted = async () =>
  (await server.query("SELECT COUNT(*)::int AS events, COUNT(DISTINCT seq)::int AS places FROM events", [], url))[0];

it("the event log numbers every event of the largest possible transaction", async () => {
  const { events } = (await counted()) as { events: number };
  const unit = (tx: Transaction) => writeEvents(tx, EVENTS_A_UNIT);
  await Promise.all(Array.from({ length: UNITS }, () => database.write(unit, { isolation: "batched" })));
  const all = events + UNITS * EVENTS_A_UNIT;
  expect(await counted()).toEqual({ events: all, places: all });
});

it("the event log keeps the order in which a transaction wrote its events", async () => {
  await server.query("DELETE FROM events", [], url);
  for (let round = 0; round < 2; round++) await database.write((tx) => writeEvents(tx, EVENTS_ALONE));
  const rows = await server.query<{ id: string }>("SELECT id FROM events ORDER BY seq", [], url);
  const ids = rows.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted());
});

it("a unit of work with too many events for a shared transaction gets its own transaction, up to a maximum", async () => {
  const { events } = (await counted()) as { events: number };
  const counts = [EVENTS_A_UNIT + 1, 1, EVENTS_ALONE];
  await Promise.all(counts.map((count) => database.write((tx) => writeEvents(tx, count), { isolation: "batched" })));
  const all = events + EVENTS_A_UNIT + 2 + EVENTS_ALONE;
  expect(await counted()).toEqual({ events: all, places: all });
  await expect(database.write((tx) => writeEvents(tx, EVENTS_ALONE + 1))).rejects.toThrow("use several");
  expect(await counted()).toEqual({ events: all, places: all });
});

it("an event log copied to a new server continues after its last event, even if that has the next transaction's number", async () => {
  await database.write((tx) => writeEvents(tx, 1));
  const [last] = await server.query<{ seq: string }>(
    `UPDATE events SET seq = (pg_current_xact_id()::text::bigint + 1 + (SELECT base FROM log_base)) * 1024 + 1023
     WHERE seq = (SELECT MAX(seq) FROM events) RETURNING seq`,
    [],
    url,
  );
  await alignLog(database);
  await database.write((tx) => writeEvents(tx, 1));
  const [newest] = await server.query<{ seq: string }>("SELECT seq FROM events ORDER BY id DESC LIMIT 1", [], url);
  expect(Number(newest!.seq)).toBeGreaterThan(Number(last!.seq));
});
