import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { lowestIdAt } from "../../src/contract/ids.ts";
import { listenTo } from "../platform/delivery/support/listen-socket.ts";
import { apiOf } from "../support/api.ts";
import { startNode, startPlatformOn } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { BIN, cliEnv, runCli, spawnCli } from "../support/run-cli.ts";

const CUSTOMERS = 1_200;

let server: PostgresServer & { remove(): Promise<void> };
let file: string;
let key: string;
let email: string;
/** A time after all customers were created, and before the first of their events was replayed. */
let afterCustomers: number;

beforeAll(async () => {
  server = await usePostgres();
  file = join(mkdtempSync(join(tmpdir(), "service-copy-")), "platform.db");
  const platform = await startPlatformOn(file, 0);
  key = platform.sandboxKey;
  const api = apiOf(platform.baseUrl, key);
  for (let i = 0; i < CUSTOMERS; i += 60) {
    await Promise.all(
      Array.from({ length: 60 }, (_, j) =>
        api("POST", "/v1/customers", { email: `c${i + j}@example.com`, name: "Zoë", metadata: { at: "日本" } }),
      ),
    );
  }
  email = "c7@example.com";
  const [first] = (await api("GET", "/v1/events?limit=1")).body.data as { id: string }[];
  afterCustomers = Date.now() + 1;
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(afterCustomers));
  expect((await api("POST", `/v1/events/${first!.id}/replay`)).status).toBe(201);
  // The platform is running.
  const status = await runCli(["db", "status", "--database", file, "--json"]);
  expect(JSON.parse(status.stdout)).toMatchObject({ engine: "SQLite", initialized: true, deliveries_pending: 0 });
  const backup = `${file}.backup`;
  const created = await runCli(["db", "backup", backup, "--database", file, "--json"]);
  expect([created.exitCode, created.stderr]).toEqual([0, ""]);
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  await platform.stop();
});
afterAll(() => server.remove());

/** Creates a folder with a stand-in for a PostgreSQL program, which not every machine has. */
function pgDumpThat(script: string): string {
  const folder = mkdtempSync(join(tmpdir(), "service-dump-"));
  writeFileSync(join(folder, "pg_dump"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

describe("db backup", () => {
  it("creates a platform's database from a served SQLite file, with everything acknowledged", async () => {
    const platform = await startPlatformOn(`${file}.backup`, 0).catch((error: unknown) => error);
    // A backup does not include the master key.
    expect(String(platform)).toMatch(/has a master key already, but .* does not exist/);
    const status = await runCli(["db", "status", "--database", `${file}.backup`, "--json"]);
    expect(JSON.parse(status.stdout)).toMatchObject({ engine: "SQLite", initialized: true });
  });

  it("overwrites nothing, and reports missing arguments", async () => {
    const again = await runCli(["db", "backup", `${file}.backup`, "--database", file]);
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("already exists")]);
    const database = await server.createDatabase();
    const target = `${file}.dump`;
    const dumped = await runCli(["db", "backup", target], { env: { SERVICE_DATABASE: database, PATH: "/nowhere" } });
    expect([dumped.exitCode, dumped.stderr]).toEqual([1, expect.stringContaining("pg_dump was not found")]);
    expect(existsSync(target)).toBe(false);
    const nowhere = join(target, "x", "backup");
    const unwritable = await runCli(["db", "backup", nowhere, "--database", file]);
    expect([unwritable.exitCode, unwritable.stderr]).toEqual([1, expect.stringContaining("cannot be written")]);
  });

  it("passes the platform's schema and connection settings to pg_dump, and hides the password", async () => {
    const database = new URL(await server.createDatabase());
    await server.query('CREATE SCHEMA "a b"', [], database.href);
    database.searchParams.set("options", '-c search_path="a\\ b"');
    const target = `${file}.whole`;
    const { exitCode, stderr } = await runCli(["db", "backup", target, "--json"], {
      env: { SERVICE_DATABASE: database.href, PATH: pgDumpThat('echo "password $PGPASSWORD"; printf "%s\\n" "$@"') },
    });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    const [password, ...args] = readFileSync(target, "utf8").trim().split("\n");
    expect(password).toBe(`password ${database.password}`);
    expect(args).toEqual(["--format=custom", expect.stringMatching(/^--dbname=postgres:/), '--schema="a b"']);
    const requested = new URL(args[1]!.slice("--dbname=".length));
    expect([requested.password, requested.searchParams.get("sslmode")]).toEqual(["", "disable"]);
    // libpq does not decode a plus sign as a space.
    expect(requested.search).not.toContain("+");
  });

  it("leaves no file if pg_dump fails, so that it can be run again", async () => {
    const env = { SERVICE_DATABASE: await server.createDatabase(), PATH: pgDumpThat("echo half; echo no >&2; exit 3") };
    for (let run = 0; run < 2; run++) {
      const { exitCode, stderr } = await runCli(["db", "backup", `${file}.half`], { env });
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("pg_dump exited with 3: no")]);
      expect(existsSync(`${file}.half`)).toBe(false);
    }
  });
});

describe("db backup that is killed", () => {
  it("leaves no file with the backup's name, and can be run again", async () => {
    const database = await server.createDatabase();
    const target = `${file}.killed`;
    const cut = await spawnCli(["db", "backup", target], {
      env: { SERVICE_DATABASE: database, PATH: pgDumpThat("echo half; kill -9 $PPID") },
    });
    expect([cut.exitCode, existsSync(target)]).toEqual([null, false]);
    const env = { SERVICE_DATABASE: database, PATH: pgDumpThat("echo whole") };
    expect((await runCli(["db", "backup", target], { env })).exitCode).toBe(0);
    expect(readFileSync(target, "utf8")).toBe("whole\n");
  });
});

describe("db status and migrate", () => {
  it("shows an empty database without changing it, and migrates it", async () => {
    const env = { SERVICE_DATABASE: await server.createDatabase() };
    const before = JSON.parse((await runCli(["db", "status", "--json"], { env })).stdout) as Record<string, unknown>;
    expect(before).toMatchObject({ engine: "PostgreSQL", schema: 0, initialized: false });
    const planned = await runCli(["db", "migrate", "--dry-run", "--json"], { env });
    expect(JSON.parse(planned.stdout)).toEqual(before);
    expect(planned.stderr).toMatch(/"\d+ pending migrations\. Nothing was changed\."/);
    const after = JSON.parse((await runCli(["db", "migrate", "--json"], { env })).stdout) as Record<string, unknown>;
    expect(after["schema"]).toBe(before["schema_known"]);
    expect((await runCli(["db", "status"], { env })).stdout).toContain("PostgreSQL");
  });

  it("creates nothing for a missing SQLite file or another program's", async () => {
    const folder = mkdtempSync(join(tmpdir(), "service-status-"));
    const none = await runCli(["db", "status", "--database", join(folder, "none.db")]);
    expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("none.db does not exist")]);
    writeFileSync(join(folder, "empty.db"), "");
    const empty = await runCli(["db", "status", "--database", join(folder, "empty.db")]);
    expect([empty.exitCode, empty.stderr]).toEqual([1, expect.stringContaining("not a database of the platform")]);
    writeFileSync(join(folder, "text.db"), "no database at all, but long enough to be looked at".repeat(20));
    const text = await runCli(["db", "status", "--database", join(folder, "text.db")]);
    expect([text.exitCode, text.stderr]).toEqual([1, expect.stringContaining("not an SQLite database")]);
    expect(readdirSync(folder).toSorted()).toEqual(["empty.db", "text.db"]);
  });

  it("explains why a database cannot be used", async () => {
    const wrong = new URL(server.url);
    wrong.password = "wrong";
    const rejected = await runCli(["db", "status", "--database", wrong.href]);
    expect([rejected.exitCode, rejected.stderr]).toEqual([
      1,
      expect.stringContaining("rejected the user or the password"),
    ]);
    expect(rejected.stderr).not.toContain("wrong@");
    wrong.port = "1";
    const away = await runCli(["db", "status", "--database", wrong.href]);
    expect([away.exitCode, away.stderr]).toEqual([1, expect.stringContaining("cannot be reached")]);
    const foreign = await server.createDatabase();
    await server.query("CREATE TABLE theirs (id INTEGER)", [], foreign);
    const theirs = await runCli(["db", "migrate", "--database", foreign]);
    expect([theirs.exitCode, theirs.stderr]).toEqual([1, expect.stringContaining("another program's tables")]);
  });
});

describe("db copy", () => {
  it("creates no database if there is none to copy", async () => {
    const none = join(mkdtempSync(join(tmpdir(), "service-copy-")), "none.db");
    const copied = await runCli(["db", "copy", none, await server.createDatabase()]);
    expect([copied.exitCode, copied.stderr]).toEqual([2, expect.stringContaining("none.db does not exist")]);
    expect(existsSync(none)).toBe(false);
  });

  it("copies every row even if it was killed and run again, and a platform continues with the copy", async () => {
    const database = await server.createDatabase();
    await runCli(["db", "migrate"], { env: { SERVICE_DATABASE: database } });
    // Kill the process before it copies the events.
    const wall = new Client({ connectionString: database });
    await wall.connect();
    await wall.query("BEGIN; LOCK TABLE events IN EXCLUSIVE MODE");
    const child = spawn(process.execPath, [BIN, "db", "copy", file, database], { env: cliEnv(), stdio: "pipe" });
    const ended = once(child, "exit");
    const count = async () => {
      const sql = "SELECT CAST(COUNT(*) AS INTEGER) AS count FROM customers";
      return (await server.query<{ count: number }>(sql, [], database))[0]!.count;
    };
    await expect.poll(count).toBe(CUSTOMERS);
    child.kill("SIGKILL");
    await ended;
    expect(child.signalCode).toBe("SIGKILL");
    await wall.end();
    expect(
      await server.query("SELECT name FROM copy_progress WHERE name IN ('customers', 'events')", [], database),
    ).toEqual([{ name: "customers" }]);

    const half = await runCli(["serve", "--port", "0", "--database", database]);
    expect([half.exitCode, half.stderr]).toEqual([1, expect.stringContaining("Only a part of another database")]);
    const copied = await runCli(["db", "copy", file, database, "--json"]);
    expect(copied.exitCode, copied.stderr).toBe(0);
    const { tables } = JSON.parse(copied.stdout) as { tables: { name: string; rows: number; checksum: string }[] };
    expect(tables.find(({ name }) => name === "events")).toMatchObject({ rows: CUSTOMERS });
    const twice = await runCli(["db", "copy", file, database]);
    expect([twice.exitCode, twice.stderr]).toEqual([1, expect.stringContaining("The target is not empty")]);

    const node = await startNode(database, [], readFileSync(`${file}.key`, "utf8").trim());
    const api = apiOf(node.baseUrl, key);
    const found = await api("GET", `/v1/customers?email=${email}`);
    expect(found.body.data).toMatchObject([{ email, name: "Zoë", metadata: { at: "日本" } }]);
    const listener = await listenTo(node.baseUrl, key, "?after=now");
    await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    await listener.until(1);
    await listener.close();
    const since = await listenTo(node.baseUrl, key, `?after=${lowestIdAt("event", afterCustomers)}`);
    await since.until(2);
    await since.close();
    expect(since.events.map(({ type }) => type)).toEqual(["customer.created", "order.created"]);
    await node.stop();
  });
});
