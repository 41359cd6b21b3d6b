import { Client } from "pg";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { lowestIdAt } from "../../src/contract/ids.ts";
import { openDatabase } from "../../src/platform/storage/open-database.ts";
import { takeTokens } from "../../src/platform/storage/rate-buckets.ts";
import { type HostedPlatform, hostPlatform } from "../platform/delivery/support/hosted-platform.ts";
import { createMinuteClock, type MinuteClock } from "../platform/delivery/support/minute-clock.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { advanceClock } from "../support/advance-clock.ts";

const HOUR = 3600;
const DAY_MS = 86_400_000;

let server: PostgresServer & { remove(): Promise<void> };
let url: string;
let clock: MinuteClock;
let platform: HostedPlatform;
let receiver: ScriptedReceiver;
/** A separate connection for holding locks. */
let holder: Client;

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  clock = createMinuteClock();
  receiver = await startScriptedReceiver((_request, response) => response.writeHead(500).end());
  platform = await hostPlatform({ database: url, masterKey: "5a".repeat(32), clock });
  await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  holder = new Client({ connectionString: url });
  await holder.connect();
});
afterEach(() => holder.query("ROLLBACK"));
afterAll(async () => {
  await holder.end();
  await platform.close();
  await receiver.close();
  await server.remove();
});

const sql = (text: string, values: unknown[] = []) => server.query<Record<string, unknown>>(text, values, url);
const advance = (seconds: number) => advanceClock(platform.api, seconds);
const deliveryOf = async (id: string) => (await platform.api("GET", `/v1/deliveries/${id}`)).body;

/** Creates an event whose first attempt fails. Returns the ID of its delivery. */
async function createAttempted(): Promise<{ event: string; delivery: string }> {
  const created = await platform.api("POST", "/v1/events", { type: "order.completed", data: { id: "ord_1" } });
  const event = created.body.id as string;
  const list = async () => (await platform.api("GET", `/v1/deliveries?event=${event}`)).body.data;
  await expect.poll(async () => (await list())[0].attempt_count).toBe(1);
  return { event, delivery: (await list())[0].id };
}

it("a retry concurrent with retention never leaves a pending delivery without its event", async () => {
  const created = [await createAttempted(), await createAttempted()];
  const old = created.map((_, index) => lowestIdAt("event", Date.now() - 31 * DAY_MS + index));
  for (const [index, { event, delivery }] of created.entries()) {
    await sql("UPDATE events SET id = $2 WHERE id = $1", [event, old[index]]);
    await sql("UPDATE deliveries SET event_id = $2, status = 'failed', next_attempt = NULL WHERE id = $1", [
      delivery,
      old[index],
    ]);
  }
  // A removal that did not check for a lease would wait here.
  await holder.query("BEGIN");
  await holder.query("SELECT id FROM events WHERE id = $1 FOR UPDATE", [old[0]]);
  const tasks = clock.waiting();
  clock.passMinute();
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  const isStuck = async () => (await sql(waiting)).length > 0;
  const isDone = async () => clock.waiting() === tasks;
  await expect.poll(async () => (await isStuck()) || (await isDone())).toBe(true);
  const retry = await platform.api("POST", `/v1/deliveries/${created[1]!.delivery}/retry`);
  await holder.query("COMMIT");
  await expect.poll(isDone).toBe(true);

  expect([retry.status, retry.body.code]).toEqual([410, "event_expired"]);
  const orphans = await sql(
    `SELECT d.id FROM deliveries d
     WHERE d.status = 'pending' AND NOT EXISTS (SELECT 1 FROM events e WHERE e.id = d.event_id)`,
  );
  expect(orphans).toEqual([]);
});

it("a pending delivery whose event is missing fails, and does not stop an advance of the test clock", async () => {
  const { event, delivery } = await createAttempted();
  await sql("DELETE FROM events WHERE id = $1", [event]);
  expect(await advance(HOUR)).toMatchObject({ status: 200, body: { attempts: 0 } });
  expect(await deliveryOf(delivery)).toMatchObject({
    status: "failed",
    attempts: [{ status_code: 500 }, { status_code: null, error: expect.stringMatching(/^event_expired: /) }],
  });
});

it("an advance of the test clock finishes although another process holds due deliveries", async () => {
  const { delivery } = await createAttempted();
  await holder.query("BEGIN");
  await holder.query("SELECT id FROM deliveries WHERE id = $1 FOR UPDATE", [delivery]);
  expect(await advance(60)).toMatchObject({ status: 200, body: { attempts: 0 } });
  await holder.query("COMMIT");
  // It stays due, and the worker attempts it.
  await expect.poll(async () => (await deliveryOf(delivery)).attempt_count).toBe(2);
  await sql("UPDATE deliveries SET status = 'failed', next_attempt = NULL WHERE id = $1", [delivery]);
});

it("an advance takes over the claims of a dead process, and counts the attempt that the process had begun", async () => {
  const { delivery } = await createAttempted();
  // Deliveries are disabled, so no other process releases the lease.
  await platform.restart({ role: "api" });
  await sql(
    `UPDATE deliveries SET lease_until = 1, lease_token = 'dead.1', begun_at = next_attempt, next_attempt = next_attempt - 1
     WHERE id = $1`,
    [delivery],
  );
  expect(await advance(60)).toMatchObject({ status: 200, body: { attempts: 1 } });
  const { attempts } = await deliveryOf(delivery);
  expect(attempts).toMatchObject([
    { status_code: 500 },
    { status_code: null, error: expect.stringMatching(/^interrupted: /) },
    { status_code: 500 },
  ]);
  await sql("UPDATE deliveries SET status = 'failed', next_attempt = NULL WHERE id = $1", [delivery]);
  await platform.restart();
});

it("a rate limit refills as usual after the database's clock was set back by a day", async () => {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const database = await openDatabase({ database: url, version: "test", log, connections: 2 });
  const bucket = { name: "a credential", burst: 3, refillMs: 20 };
  const take = async (count: number) => (await database.write((tx) => takeTokens(tx, bucket, count))).granted;
  expect(await take(3)).toBe(3);
  // The state after the clock was a day ahead.
  await sql("UPDATE rate_buckets SET tokens = 0, at = at + 86400000");
  expect(await take(1)).toBe(0);
  await expect.poll(() => take(1)).toBe(1);
  await database.close();
});
