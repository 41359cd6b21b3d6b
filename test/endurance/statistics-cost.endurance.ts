import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lowestIdAt } from "../../src/contract/ids.ts";
import type { Database } from "../../src/platform/storage/database.ts";
import { openDatabase } from "../../src/platform/storage/open-database.ts";
import { type Platform, startPlatform } from "../../src/platform/start.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const EVENTS = 250_000;
const PENDING = 1_000_000;
const ENDPOINTS = 50;
const HOUR = 3_600_000;
const READS = 20;
const BATCHES = 5;

const LOG = { debug() {}, info() {}, warn() {}, error() {} };

let server: PostgresServer & { remove(): Promise<void> };
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-cost-"));
  server = await usePostgres();
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns SQL for the numbers from 1 to `count` as text, for ordered IDs. */
function numbersTo(count: number, { dialect }: Database): { from: string; digits: string } {
  const counted = `WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count}) SELECT n FROM s`;
  return dialect === "sqlite"
    ? { from: `(${counted}) AS s`, digits: "printf('%010d', s.n)" }
    : { from: `generate_series(1, ${count}) AS s (n)`, digits: "lpad(CAST(s.n AS TEXT), 10, '0')" };
}

const idsAt = (kind: "event" | "delivery", time: number) => `'${lowestIdAt(kind, time).slice(0, 16)}'`;

/** Inserts events, each with a delivery and an attempt, in one minute. */
async function loadMinute(database: Database, endpoints: readonly string[], time: number): Promise<void> {
  const { from, digits } = numbersTo(EVENTS, database);
  const [event, delivery] = [`${idsAt("event", time)} || ${digits}`, `${idsAt("delivery", time)} || ${digits}`];
  const sandbox = "(SELECT id FROM environments WHERE name = 'sandbox')";
  await database.write(async (tx) => {
    await tx.run(
      `INSERT INTO events (seq, environment, id, type, object_id, created, body)
       SELECT s.n, ${sandbox}, ${event}, 'order.created', NULL, ${time}, '{}' FROM ${from}`,
    );
    await tx.run(
      `INSERT INTO deliveries (id, environment, event_id, event_type, endpoint_id, status, attempt_count, created)
       SELECT ${delivery}, ${sandbox}, ${event}, 'order.created', ${oneOf(endpoints)}, 'failed', 1, ${time} FROM ${from}`,
    );
    await tx.run(
      `INSERT INTO attempts (delivery_id, number, at, status_code, duration_ms)
       SELECT ${delivery}, 1, ${time}, CASE WHEN s.n % 10 = 0 THEN 503 ELSE 200 END, s.n % 100 FROM ${from}`,
    );
  });
}

/** Inserts deliveries that are due in three hours. */
async function loadQueue(database: Database, endpoints: readonly string[], time: number): Promise<void> {
  const { from, digits } = numbersTo(PENDING, database);
  await database.write((tx) =>
    tx.run(
      `INSERT INTO deliveries (id, environment, event_id, event_type, endpoint_id, status, attempt_count, next_attempt,
         created)
       SELECT ${idsAt("delivery", time + 1)} || ${digits}, (SELECT id FROM environments WHERE name = 'sandbox'), 'evt',
         'order.created', ${oneOf(endpoints)}, 'pending', 0, ${time + 3 * HOUR} + s.n, ${time} FROM ${from}`,
    ),
  );
}

const oneOf = (ids: readonly string[]) =>
  `CASE ${ids.map((id, index) => `WHEN s.n % ${ids.length} = ${index} THEN '${id}'`).join(" ")} END`;

interface Loaded {
  platform: Platform;
  api: Api;
  time: number;
  /** Returns the processor time of this process and of the database, in milliseconds. */
  processorTime(): Promise<number>;
}

/** Starts a platform with these rows, and waits until it is idle. */
async function startLoaded(
  url: string,
  load: (database: Database, endpoints: readonly string[], time: number) => Promise<void>,
): Promise<Loaded> {
  const settings = { database: url, version: "test", log: LOG };
  const start = () =>
    startPlatform({
      ...settings,
      host: "127.0.0.1",
      port: 0,
      report() {},
      allowPrivateTargets: true,
      ...(url.startsWith("postgres") ? { masterKey: "5a".repeat(32) } : {}),
    });
  const first = await start();
  const key = first.firstAccount!.keys.sandbox;
  const endpoints: string[] = [];
  for (let i = 0; i < ENDPOINTS; i++) {
    const endpoint = { url: "http://127.0.0.1:9", events: ["payment.failed"] };
    endpoints.push((await apiOf(first.baseUrl, key)("POST", "/v1/webhook_endpoints", endpoint)).body.id);
  }
  await first.close();
  const time = Date.now();
  const database = await openDatabase({ ...settings, statementMilliseconds: 600_000 });
  await load(database, endpoints, time);
  await database.close();
  const platform = await start();
  const onPostgres = <Row extends object>(sql: string) => server.query<Row>(sql, [], url);
  if (url.startsWith("postgres")) {
    await expect
      .poll(() =>
        onPostgres("SELECT (SELECT COUNT(*) FROM event_count_changes) AS e, COUNT(*) AS p FROM pending_count_changes"),
      )
      .toEqual([{ e: "0", p: "0" }]);
    // PostgreSQL does this automatically within a minute.
    await onPostgres("VACUUM ANALYZE");
  }
  return {
    platform,
    api: apiOf(platform.baseUrl, key),
    time,
    async processorTime() {
      const { user, system } = process.cpuUsage();
      const own = (user + system) / 1000;
      if (!url.startsWith("postgres")) return own;
      const sessions = await onPostgres<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
      return own + sessions.reduce((sum, { pid }) => sum + timeOfProcess(pid), 0);
    },
  };
}

/** Linux reports processor time in hundredths of a second. */
function timeOfProcess(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Returns the processor time of one read in milliseconds, including the test's own: the lowest of several averages. */
async function costOf(loaded: Loaded, read: () => Promise<unknown>): Promise<number> {
  const costs: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const before = await loaded.processorTime();
    for (let i = 0; i < READS; i++) await read();
    costs.push(((await loaded.processorTime()) - before) / READS);
  }
  return Math.min(...costs);
}

describe.each(["SQLite", "PostgreSQL"])("on %s", (engine) => {
  const create = async (name: string) =>
    engine === "SQLite" ? join(folder, `${name}.db`) : await server.createDatabase();

  it("reads the statistics of 250,000 events in a minute in 50 ms of processor time", async () => {
    const loaded = await startLoaded(await create("minute"), loadMinute);
    const read = async () => (await loaded.api("GET", "/v1/statistics")).body;
    const { minutes } = await read();
    const sum = (of: string) =>
      minutes.reduce((total: number, minute: Record<string, number>) => total + minute[of]!, 0);
    expect([sum("events"), sum("attempts"), sum("failed")]).toEqual([EVENTS, EVENTS, EVENTS / 10]);
    const cost = await costOf(loaded, read);
    expect(cost).toBeLessThanOrEqual(50);
    await loaded.platform.close();
  });

  it("reads the metrics of 1,000,000 pending deliveries in 5 ms of processor time, the statistics in 50 ms", async () => {
    const loaded = await startLoaded(await create("queue"), loadQueue);
    const readMetrics = async () => (await fetch(`${loaded.platform.baseUrl}/metrics`)).text();
    const readStatistics = async () => (await loaded.api("GET", "/v1/statistics?minutes=1")).body;
    expect(await readMetrics()).toContain(`\nservice_deliveries_pending ${PENDING}\n`);
    expect((await readStatistics()).queue.pending).toBe(PENDING);
    for (const [name, read, limit] of [
      ["metrics", readMetrics, 5],
      ["statistics", readStatistics, 50],
    ] as const) {
      const cost = await costOf(loaded, read);
      expect(cost, name).toBeLessThanOrEqual(limit);
    }
    await loaded.platform.close();
  });
});
