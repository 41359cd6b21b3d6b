import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { shellWord } from "../../src/contract/shell-command.ts";
import { openSqliteReader } from "../../src/platform/storage/sqlite/open.ts";
import { loadSqlite } from "../../src/platform/storage/sqlite/runtime.ts";
import { apiOf } from "../support/api.ts";
import { startPlatformOn } from "../support/platform.ts";
import { runCli } from "../support/run-cli.ts";

/**
 * A platform was backed up with one customer, served a second one, and was killed. Each test works on a copy of the
 * result.
 */
const original = mkdtempSync(join(tmpdir(), "service-restore-"));
const FILES = ["platform.db", "platform.db-wal", "platform.db-shm", "platform.db.key", "backup.db"];
let key: string;
let folder: string;
let file: string;
let backup: string;

beforeAll(async () => {
  const database = join(original, "platform.db");
  const platform = await startPlatformOn(database, 0);
  key = platform.sandboxKey;
  const api = apiOf(platform.baseUrl, key);
  expect((await api("POST", "/v1/customers", { email: "kept@example.com" })).status).toBe(201);
  const saved = await runCli(["db", "backup", join(original, "backup.db"), "--database", database]);
  expect(saved).toEqual({ exitCode: 0, stdout: `${join(original, "backup.db")}\n`, stderr: "" });
  expect((await api("POST", "/v1/customers", { email: "later@example.com" })).status).toBe(201);
  await platform.kill();
  expect(statSync(`${database}-wal`).size).toBeGreaterThan(0);
});
afterAll(() => rmSync(original, { recursive: true, force: true }));

beforeEach(() => {
  folder = mkdtempSync(join(original, "test-"));
  for (const name of FILES) copyFileSync(join(original, name), join(folder, name));
  file = join(folder, "platform.db");
  backup = join(folder, "backup.db");
});

async function emailsIn(database: string): Promise<string[]> {
  const reader = await openSqliteReader(database);
  const rows = await reader.all<{ email: string }>("SELECT email FROM customers ORDER BY email");
  await reader.close();
  return rows.map(({ email }) => email);
}

const restore = (...args: string[]) => runCli(["db", "restore", ...args]);
const contents = () => FILES.map((name) => readFileSync(join(folder, name)).toString("base64"));

describe("a backup copied over the database of a killed platform", () => {
  it("is not served, and the suggested commands quote file names for the shell", async () => {
    const odd = join(folder, "it's $(id);");
    mkdirSync(odd);
    for (const name of FILES) copyFileSync(join(original, name), join(odd, name));
    const path = join(odd, "platform.db");
    const quoted = shellWord(path);
    const unsaved = await restore(path, "--database", join(folder, "other.db"));
    expect(unsaved.stderr.replaceAll(/\s+/g, " ")).toContain(`service db backup FILE --database ${quoted})`);
    copyFileSync(backup, path);
    const served = await runCli(["serve", "--port", "0", "--database", path]);
    expect(served.stderr.replaceAll(/\s+/g, " ")).toContain(`service db restore BACKUP --database ${quoted}`);
    rmSync(`${path}-wal`);
    const bare = await runCli(["serve", "--port", "0", "--database", path]);
    expect(bare.stderr.replaceAll(/\s+/g, " ")).toContain(`service db restore BACKUP --database ${quoted}`);
  });

  it("is not served, stays unchanged with its log, and the message contains the fix", async () => {
    copyFileSync(backup, file);
    const before = contents();
    const served = await runCli(["serve", "--port", "0", "--database", file]);
    expect(served).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("does not belong to") });
    expect(served.stderr.replaceAll(/\s+/g, " ")).toContain(`service db restore BACKUP --database ${file}`);
    expect((await runCli(["db", "backup", join(folder, "new.db"), "--database", file])).exitCode).toBe(1);
    expect(contents()).toEqual(before);
    expect((await restore(backup, "--database", file, "--yes")).exitCode).toBe(0);
    const platform = await startPlatformOn(file, 0);
    const { body } = await apiOf(platform.baseUrl, key)("GET", "/v1/customers");
    expect(body.data).toMatchObject([{ email: "kept@example.com" }]);
    expect(await platform.stop()).toBe(0);
  });
});

describe("service db restore", () => {
  it("replaces the database, reports its contents, and keeps the previous database with its log", async () => {
    const before = new Set(readdirSync(folder));
    const { exitCode, stdout, stderr } = await restore(backup, "--database", file, "--yes", "--json");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const report = JSON.parse(stdout) as { previous: string; rows: Record<string, number> };
    expect(report).toMatchObject({ database: file, restored_from: backup, rows: { customers: 1, events: 1 } });
    const { previous } = report;
    const added = readdirSync(folder).filter((name) => !before.has(name));
    expect(added.map((name) => join(folder, name))).toEqual([previous, `${previous}-wal`]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await emailsIn(file)).toEqual(["kept@example.com"]);
    expect(await emailsIn(previous)).toEqual(["kept@example.com", "later@example.com"]);
  });

  it.each<[what: string, repeat: () => Promise<void> | void, emails: string[]]>([
    ["the platform continues with the previous database", () => {}, ["kept@example.com", "later@example.com"]],
    [
      "it can be run again",
      async () => expect((await restore(backup, "--database", file, "--yes")).exitCode).toBe(0),
      ["kept@example.com"],
    ],
  ])("may be killed before it replaces the file: %s", async (_what, repeat, emails) => {
    linkSync(file, `${file}.replaced-20261123T000000Z`);
    await repeat();
    const platform = await startPlatformOn(file, 0);
    expect(await platform.stop()).toBe(0);
    expect(await emailsIn(file)).toEqual(emails);
  });

  it("requires --yes without a terminal", async () => {
    const before = contents();
    const { exitCode, stderr } = await restore(backup, "--database", file);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--yes is required")]);
    expect(contents()).toEqual(before);
  });

  it("creates a database if there is none", async () => {
    const fresh = join(folder, "new", "platform.db");
    expect((await restore(backup, "--database", fresh)).exitCode).toBe(0);
    expect(readdirSync(join(folder, "new"))).toEqual(["platform.db"]);
    expect(await emailsIn(fresh)).toEqual(["kept@example.com"]);
  });

  it("is rejected while the platform runs", async () => {
    const platform = await startPlatformOn(file, 0);
    const { exitCode, stderr } = await restore(backup, "--database", file, "--yes");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`in use by process ${platform.pid}`)]);
    expect(await platform.stop()).toBe(0);
  });

  it("changes nothing if the backup is damaged, incomplete, missing, or the database itself", async () => {
    const bytes = readFileSync(backup);
    const text = Buffer.from("kept@example.com");
    const broken = join(folder, "broken.db");
    const flipped = Buffer.from(bytes);
    for (let at = flipped.indexOf(text); at >= 0; at = flipped.indexOf(text, at + 1)) flipped.fill("#", at, at + 4);
    const half = join(folder, "half.db");
    writeFileSync(broken, flipped);
    writeFileSync(half, bytes.subarray(0, bytes.length / 2));
    writeFileSync(join(folder, "text.db"), "no database, but long enough to look like one".repeat(20));
    copyFileSync(file, join(folder, "crashed.db"));
    copyFileSync(`${file}-wal`, join(folder, "crashed.db-wal"));
    const before = contents();
    const rejections = { "broken.db": "damaged", "half.db": "damaged", "text.db": "not an SQLite database" };
    for (const [name, problem] of Object.entries({
      ...rejections,
      "crashed.db": "has changes that are not in it",
      "none.db": "does not exist",
      "platform.db": "the database itself",
    })) {
      const { exitCode, stderr } = await restore(join(folder, name), "--database", file, "--yes");
      expect([name, exitCode, stderr.replaceAll(/\s+/g, " ")]).toEqual([
        name,
        name === "none.db" ? 2 : 1,
        expect.stringContaining(problem),
      ]);
      expect(stderr).not.toContain("restoring");
    }
    expect(contents()).toEqual(before);
    expect(readdirSync(folder).filter((name) => /restoring|replaced|lock/.test(name))).toEqual([]);
  });

  it("explains how to restore a PostgreSQL backup", async () => {
    const { exitCode, stderr } = await restore(backup, "--database", "postgres://user@db.example.com/service");
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("pg_restore --single-transaction")]);
  });
});

describe("service db check", () => {
  it("counts the rows of an intact database, also while it is served", async () => {
    const platform = await startPlatformOn(file, 0);
    const { exitCode, stdout } = await runCli(["db", "check", "--database", file, "--json"]);
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      0,
      { database: file, intact: true, problems: [], rows: expect.objectContaining({ customers: 2, events: 2 }) },
    ]);
    await platform.stop();
  });

  it("reports the damage and exits with 1", async () => {
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(backup);
    database.exec(`UPDATE events SET body = replace(body, 'kept', 'lost');
                   INSERT INTO attempts (delivery_id, number, at, duration_ms) VALUES ('dlv_none', 1, 0, 0);
                   PRAGMA foreign_keys = OFF; UPDATE orders SET environment = 99; UPDATE customers SET environment = 99`);
    database.close();
    const { exitCode, stdout, stderr } = await runCli(["db", "check", "--database", backup, "--json"]);
    expect([exitCode, JSON.parse(stderr)]).toEqual([1, expect.objectContaining({ code: "damaged" })]);
    const { intact, problems } = JSON.parse(stdout) as { intact: boolean; problems: string[] };
    expect(intact).toBe(false);
    expect(problems).toEqual([
      expect.stringMatching(/^customers: a row .*refers to a missing row of environments/),
      expect.stringMatching(/^events: the body of evt_\w+ does not match its checksum/),
      expect.stringMatching(/^customers: the environment of this row is missing: cus_/),
      "attempts: the delivery of this attempt is missing: dlv_none",
    ]);
    expect((await runCli(["db", "check", "--quick", "--database", backup])).exitCode).toBe(0);
  });

  it("finds damaged pages", async () => {
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(backup);
    const root = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'customers'").get()?.["rootpage"];
    database.close();
    writeFileSync(backup, readFileSync(backup).fill(0xff, (Number(root) - 1) * 4096, Number(root) * 4096));
    for (const quick of [[], ["--quick"]]) {
      const { exitCode, stdout } = await runCli(["db", "check", "--database", backup, "--json", ...quick]);
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({
        intact: false,
        problems: expect.arrayContaining([expect.any(String)]),
      });
    }
  });
});

describe("a database with an incomplete copy", () => {
  it("is not served", async () => {
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(backup);
    database.exec("CREATE TABLE copy_progress (name TEXT PRIMARY KEY, last_key TEXT NOT NULL)");
    database.close();
    copyFileSync(`${file}.key`, `${backup}.key`);
    const { exitCode, stderr } = await runCli(["serve", "--port", "0", "--database", backup]);
    expect([exitCode, stderr.replaceAll(/\s+/g, " ")]).toEqual([1, expect.stringContaining("Only a part of another")]);
    expect(existsSync(`${backup}.admin`)).toBe(false);
  });
});
