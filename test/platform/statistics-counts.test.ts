import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DatabaseReader } from "../../src/platform/storage/database.ts";
import { MIGRATIONS } from "../../src/platform/storage/migrations/index.ts";
import { openSqlite, openSqliteReader } from "../../src/platform/storage/sqlite/open.ts";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";
import { createMinuteClock, type MinuteClock } from "./delivery/support/minute-clock.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./delivery/support/scripted-receiver.ts";
import { apiOf } from "../support/api.ts";
import { changeAtRandom, expectPlainCounts } from "../support/plain-counts.ts";
import { startPlatformOn } from "../support/platform.ts";
import { volume } from "../support/volume.ts";

const HOUR = 3_600_000;
const SEED = 20_261_122;

let receiver: ScriptedReceiver;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-counts-"));
  receiver = await startScriptedReceiver((request, response) => {
    response.statusCode = { "/refuses": 503, "/gone": 410 }[request.path] ?? 200;
    response.end();
  });
});
afterAll(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the statistics of an SQLite database", () => {
  let clock: MinuteClock;
  let platform: HostedPlatform;
  let rows: DatabaseReader;

  beforeAll(async () => {
    clock = createMinuteClock();
    platform = await hostPlatform({ clock });
    rows = await openSqliteReader(platform.database);
  });
  afterAll(async () => {
    await rows.close();
    await platform.close();
  });

  const pendingMetric = async () => {
    const text = await (await fetch(`${platform.baseUrl}/metrics`)).text();
    return Number(/^service_deliveries_pending (\d+)$/m.exec(text)?.[1]);
  };
  const countOf = async (table: string) =>
    (await rows.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`))!.count;

  it("equal a count of its rows after random changes", async () => {
    const endpoints = await changeAtRandom([platform.api], receiver.url, SEED, volume(2_000, 150));
    await expectPlainCounts(rows, platform.api, endpoints);
    expect(await countOf("attempts")).toBeGreaterThan(0);
    const waiting = async () =>
      (await rows.get<{ count: number }>("SELECT COUNT(*) AS count FROM deliveries WHERE status = 'pending'"))!.count;
    await expect.poll(async () => (await pendingMetric()) - (await waiting())).toBe(0);
  });

  it("equal a count of its rows after retention, which removes counts after eight days", async () => {
    await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    clock.pass(8 * 24 * HOUR + 2 * HOUR);
    const waiting = clock.waiting();
    clock.passMinute();
    await expect.poll(() => clock.waiting()).toBe(waiting);
    await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    await expectPlainCounts(rows, platform.api);
    expect(await countOf("events")).toBeGreaterThan(1);
    expect(await countOf("event_counts")).toBe(1);
    clock.pass(31 * 24 * HOUR);
    clock.passMinute();
    await expect.poll(() => countOf("event_counts")).toBe(0);
    await expectPlainCounts(rows, platform.api);
  });
});

it("statistics count each row once although the process is killed while it writes", async () => {
  const file = join(folder, "killed.db");
  let platform = await startPlatformOn(file, 0);
  const key = platform.sandboxKey;
  let api = apiOf(platform.baseUrl, key);
  for (const path of ["/takes", "/refuses"]) {
    await api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events: ["*"] });
  }
  for (let life = 0; life < 2; life++) {
    const received = receiver.received.length;
    const orders = Array.from({ length: 200 }, () =>
      api("POST", "/v1/orders", { amount: 1, currency: "EUR" }).catch(() => undefined),
    );
    await receiver.until(received + 20);
    await platform.kill();
    await Promise.all(orders);
    platform = await startPlatformOn(file, 0);
    api = apiOf(platform.baseUrl, key);
    const rows = await openSqliteReader(file);
    await expectPlainCounts(rows, api);
    await rows.close();
  }
  await platform.stop();
});

it("statistics count rows that are inserted with plain SQL", async () => {
  const file = join(folder, "plain-sql.db");
  const database = await openSqlite({ file, migrations: MIGRATIONS });
  const now = Date.now();
  await database.write(async (tx) => {
    await tx.run("INSERT INTO accounts (id, name, version, created) VALUES ('acct', 'Test', '2026-11-01', 1)");
    await tx.run("INSERT INTO environments (id, account_id, name) VALUES (1, 'acct', 'sandbox')");
    const delivery = `INSERT INTO deliveries (id, environment, event_id, event_type, endpoint_id, status, attempt_count,
      created) VALUES ($1, 1, 'evt', 'order.created', $2, $3, 1, 1)`;
    await tx.run(delivery, ["dlv_1", "we_1", "pending"]);
    await tx.run(delivery, ["dlv_2", null, "succeeded"]);
    const event = `INSERT INTO events (environment, id, type, created, body) VALUES (1, $1, 'order.created', $2, '{}')`;
    await tx.run(event, ["evt_1", now]);
    await tx.run(event, ["evt_2", now]);
    const attempt = `INSERT INTO attempts (delivery_id, number, at, status_code, error, duration_ms)
      VALUES ($1, $2, $3, $4, $5, $6)`;
    await tx.run(attempt, ["dlv_1", 1, now, 503, null, 30]);
    await tx.run(attempt, ["dlv_1", 2, now, 503, null, 40]);
    await tx.run(attempt, ["dlv_2", 1, now, null, "timeout: no complete response within 10 s", 20_000]);
  });
  const minute = Math.floor(now / 60_000);
  expect(await database.all("SELECT * FROM event_counts")).toEqual([{ environment: 1, minute, count: 2 }]);
  const group = { environment: 1, minute, last_at: now };
  expect(await database.all("SELECT * FROM attempt_counts ORDER BY endpoint_id")).toEqual([
    {
      ...group,
      endpoint_id: "",
      status_code: 0,
      error: "timeout: no complete response within 10 s",
      bucket: 10,
      count: 1,
    },
    { ...group, endpoint_id: "we_1", status_code: 503, error: "", bucket: 20, count: 1 },
    { ...group, endpoint_id: "we_1", status_code: 503, error: "", bucket: 21, count: 1 },
  ]);
  expect(await database.all("SELECT * FROM pending_counts")).toEqual([
    { environment: 1, endpoint_id: "we_1", count: 1 },
  ]);
  await database.close();
});
