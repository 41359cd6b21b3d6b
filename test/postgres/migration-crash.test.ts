import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MIGRATIONS } from "../../src/platform/storage/migrations/index.ts";
import { openPostgres } from "../../src/platform/storage/postgres/open.ts";
import { buildChildren, startChild } from "../platform/storage/child-process.ts";
import { temporaryFolder } from "../platform/storage/test-database.ts";
import { startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { BIN, cliEnv } from "../support/run-cli.ts";
import { volume } from "../support/volume.ts";

const ROWS = 300;

let server: PostgresServer & { remove(): Promise<void> };
/** The schema after an undisturbed start. */
let whole: string;

beforeAll(async () => {
  server = await usePostgres();
  const database = await server.createDatabase();
  await (await startNode(database)).stop();
  whole = await schemaOf(database);
});
afterAll(() => server.remove());

/** Returns every column, index, constraint and migration. */
async function schemaOf(database: string): Promise<string> {
  const lines = await server.query<{ line: string }>(
    `SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) AS line
     FROM information_schema.columns WHERE table_schema = 'public'
     UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
               WHERE connamespace = 'public'::regnamespace
     UNION ALL SELECT concat_ws(' ', proname, prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
     UNION ALL SELECT concat_ws(' ', number, name, version) FROM schema_migrations
     ORDER BY line`,
    [],
    database,
  );
  return lines.map(({ line }) => line).join("\n");
}

/** Fills a database with rows that a later migration must keep. */
async function fill(database: string): Promise<void> {
  const storage = await openPostgres({ url: database, migrations: MIGRATIONS, version: "0.1.0" });
  await storage.close();
  const rows = `FROM generate_series(1, ${ROWS}) AS n`;
  for (const sql of [
    "INSERT INTO accounts VALUES ('acct_1', 'Old', '2026-11-01', 1)",
    "INSERT INTO environments (id, account_id, name) VALUES (1, 'acct_1', 'live'), (2, 'acct_1', 'sandbox')",
    `INSERT INTO customers (environment, id, email, email_key, name, phone, metadata, created)
     SELECT 2, 'cus_' || n, n || '@example.com', n || '@example.com', 'Zoë', NULL, '{}', n ${rows}`,
    `INSERT INTO events (environment, id, type, object_id, created, body)
     SELECT 2, 'evt_' || n, 'customer.created', 'cus_' || n, n, '{}' ${rows}`,
    `INSERT INTO deliveries (id, environment, event_id, event_type, status, attempt_count, created)
     SELECT 'dlv_' || n, 2, 'evt_' || n, 'customer.created', 'succeeded', 1, n ${rows}`,
    `INSERT INTO attempts (delivery_id, number, at, duration_ms) SELECT 'dlv_' || n, 1, n, 1 ${rows}`,
  ]) {
    await server.query(sql, [], database);
  }
}

/** Returns the content of the rows without columns that a later migration adds. */
async function contentOf(database: string) {
  return server.query(
    `SELECT (SELECT md5(string_agg(concat(id, email, name, created), ',' ORDER BY id)) FROM customers) AS customers,
            (SELECT md5(string_agg(concat(seq, id, type, body), ',' ORDER BY seq)) FROM events) AS events,
            (SELECT md5(string_agg(concat(id, event_id, status), ',' ORDER BY id)) FROM deliveries) AS deliveries,
            (SELECT md5(string_agg(concat(delivery_id, number, at), ',' ORDER BY delivery_id)) FROM attempts) AS attempts`,
    [],
    database,
  );
}

/** Returns the wait events of a database's connections. */
async function waitsOf(database: string): Promise<string[]> {
  const rows = await server.query<{ wait: string }>(
    `SELECT wait_event AS wait FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' ORDER BY wait`,
    [],
    database,
  );
  return rows.map(({ wait }) => wait);
}

async function advisoryLocks(database: string): Promise<number> {
  const sql = `SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database
               WHERE locktype = 'advisory' AND datname = current_database()`;
  return (await server.query(sql, [], database)).length;
}

it.each([
  [["--json"], /^\{"warning":"Waiting for the database: .* another process is migrating it\."\}\n/],
  [[], /^Warning: Waiting for the database: .* another process is migrating it\.\n/],
])("a start that waits for another process's migration reports it on stderr: %j", async (flags, message) => {
  const database = await server.createDatabase();
  const other = new Client({ connectionString: database });
  await other.connect();
  await other.query("SELECT pg_advisory_lock(hashtextextended(current_schema() || ' migrations', 0))");
  const env = cliEnv({ SERVICE_DATABASE: database, SERVICE_MASTER_KEY: "5a".repeat(32) });
  const child = spawn(process.execPath, [BIN, "serve", "--port", "0", ...flags], { env, stdio: "pipe" });
  const ended = once(child, "exit");
  let printed = "";
  let output = "";
  child.stdout.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (output += bytes.toString()));
  await expect.poll(() => output).toMatch(message);
  expect(printed).toBe("");
  await other.end();
  await expect.poll(() => printed).toContain("ready");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

/** Starts `wall`, a transaction of another program that blocks a statement, and kills the waiting process. */
async function killAt(database: string, wall: string, start: () => ChildProcess): Promise<Client> {
  const other = new Client({ connectionString: database });
  await other.connect();
  await other.query(`BEGIN; ${wall}`);
  const child = start();
  const ended = once(child, "exit");
  await expect.poll(() => waitsOf(database)).toHaveLength(1);
  child.kill("SIGKILL");
  await ended;
  expect(child.signalCode).toBe("SIGKILL");
  return other;
}

/** Ends `wall` once the killed process's statement and two new processes wait for it. */
async function endWall(database: string, other: Client): Promise<void> {
  await expect.poll(() => waitsOf(database)).toHaveLength(3);
  expect(await waitsOf(database)).toEqual(expect.arrayContaining(["advisory", "advisory"]));
  await other.end();
}

describe("two processes complete the first migration after SIGKILL", () => {
  it.each([
    ["at the last table", "CREATE TABLE pending_count_changes (taken INTEGER)"],
    ["at the first table", "CREATE TABLE settings (taken INTEGER)"],
  ])("%s", async (_where, wall) => {
    const database = await server.createDatabase();
    const env = cliEnv({ SERVICE_DATABASE: database, SERVICE_MASTER_KEY: "5a".repeat(32) });
    const other = await killAt(database, wall, () =>
      spawn(process.execPath, [BIN, "serve", "--json", "--port", "0"], { env, stdio: "ignore" }),
    );
    const starting = Promise.all([startNode(database), startNode(database)]);
    await endWall(database, other);
    const nodes = await starting;
    expect(await schemaOf(database)).toBe(whole);
    expect(nodes.filter(({ ready }) => ready.sandbox_key !== undefined)).toHaveLength(1);
    for (const node of nodes) expect((await fetch(`${node.baseUrl}/readyz`)).status).toBe(200);
    expect(await advisoryLocks(database)).toBe(0);
    await Promise.all(nodes.map((node) => node.kill()));
  });
});

describe("two processes complete a later migration after SIGKILL", () => {
  const programs = temporaryFolder();
  let upgraded: string;

  beforeAll(async () => {
    await buildChildren(programs.path);
    const database = await server.createDatabase();
    await fill(database);
    expect(await startChild(programs.path, "migrate-postgres", [database]).ended).toMatchObject({
      code: 0,
      stderr: "",
    });
    upgraded = await schemaOf(database);
    expect(upgraded).toContain(`${MIGRATIONS.length + 1} later`);
  });
  afterAll(() => programs.remove());

  const places: [string, string][] = [
    ["changing a table that another transaction reads", "LOCK TABLE replays IN ACCESS SHARE MODE"],
    ["before the commit of the migration", "LOCK TABLE schema_migrations IN SHARE MODE"],
    ["creating an index on a table that another transaction writes", "LOCK TABLE attempts IN ROW EXCLUSIVE MODE"],
  ];
  it.each(places.slice(0, volume(places.length, 2)))("%s", async (_where, wall) => {
    const database = await server.createDatabase();
    await fill(database);
    const before = await contentOf(database);
    const start = () => startChild(programs.path, "migrate-postgres", [database]);
    const other = await killAt(database, wall, () => start().process);
    const ends = [start(), start()].map(({ ended }) => ended);
    await endWall(database, other);
    for (const end of await Promise.all(ends)) expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(await schemaOf(database)).toBe(upgraded);
    expect(await contentOf(database)).toEqual(before);
    expect(await advisoryLocks(database)).toBe(0);
  });
});
