import { once } from "node:events";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Log } from "../../../src/platform/ports.ts";
import { type Database, StorageUnavailableError, type Transaction } from "../../../src/platform/storage/database.ts";
import { loadSqlite } from "../../../src/platform/storage/sqlite/runtime.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { describeDatabase } from "./conformance.ts";
import { insert, notes } from "./notes.ts";
import { sqliteTestDatabase, temporaryFolder } from "./test-database.ts";

describeDatabase("SQLite", sqliteTestDatabase);

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
let logged: string[];
let log: Log;
let database: Database;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder.path, "data.db");
  logged = [];
  const note = (_: unknown, message: string) => logged.push(message);
  log = { debug: note, info: note, warn: note, error: note };
  database = await openSqlite({ file, migrations: [notes], log });
});

afterEach(async () => {
  await database.close();
  folder.remove();
});

function add(id: string): Promise<number> {
  return database.write((transaction) => {
    transaction.notify("events");
    return insert(transaction, id);
  });
}

/** Counts commits by their notifications. */
function countCommits(): () => number {
  let commits = 0;
  database.subscribe("events", () => {
    commits += 1;
  });
  return () => commits;
}

async function ids(): Promise<string[]> {
  return (await database.all<{ id: string }>("SELECT id FROM notes ORDER BY seq")).map((row) => row.id);
}

describe("settings", () => {
  it.each([
    ["journal_mode", "wal"],
    ["synchronous", 2],
    ["foreign_keys", 1],
    ["trusted_schema", 0],
    ["journal_size_limit", 67_108_864],
  ])("of the writer: %s is %j", async (name, value) => {
    const row = await database.write((transaction) => transaction.get(`PRAGMA ${name}`));
    expect(row).toEqual({ [name]: value });
  });

  it("keep both connections from blocking the event loop while another program holds a lock", async () => {
    expect(await database.get("PRAGMA busy_timeout")).toEqual({ timeout: 0 });
    const row = await database.write((transaction) => transaction.get("PRAGMA busy_timeout"));
    expect(row).toEqual({ timeout: 0 });
  });

  it("keep readers from writing", async () => {
    await expect(database.all("INSERT INTO notes (id) VALUES ('a') RETURNING id")).rejects.toThrow(
      StorageUnavailableError,
    );
    expect(await ids()).toEqual([]);
  });
});

describe("group commit", () => {
  it("commits once for all units submitted during one turn, in order", async () => {
    const commits = countCommits();
    await Promise.all(Array.from({ length: 50 }, (_, i) => add(`n${i}`)));
    expect(commits()).toBe(1);
    expect(await ids()).toEqual(Array.from({ length: 50 }, (_, i) => `n${i}`));
  });

  it("does not delay a unit for one of a later turn", async () => {
    const commits = countCommits();
    for (let i = 0; i < 5; i++) await add(`n${i}`);
    await turn();
    expect(commits()).toBe(5);
  });

  it("shares a commit between units of several events of one turn", async () => {
    const commits = countCommits();
    const writes: Promise<number>[] = [];
    const ticks = new EventTarget();
    ticks.addEventListener("tick", () => writes.push(add(`n${writes.length}`)));
    const read = once(ticks, "tick");
    for (let i = 0; i < 5; i++) {
      queueMicrotask(() => ticks.dispatchEvent(new Event("tick")));
      process.nextTick(() => ticks.dispatchEvent(new Event("tick")));
    }
    await read;
    await turn();
    await Promise.all(writes);
    expect([writes.length, commits()]).toEqual([10, 1]);
  });

  it("yields to the event loop between commits under load", async () => {
    const commits = countCommits();
    let turns = 0;
    const counting = new AbortController();
    const count = async () => {
      for (; !counting.signal.aborted; turns++) await turn();
    };
    const counted = count();
    await Promise.all(Array.from({ length: 3000 }, (_, i) => add(`n${i}`)));
    counting.abort();
    await counted;
    expect(commits()).toBeGreaterThanOrEqual(10);
    expect(turns).toBeGreaterThanOrEqual(commits() - 1);
    expect(await ids()).toEqual(Array.from({ length: 3000 }, (_, i) => `n${i}`));
  });

  it("ends a commit early if its units run many statements", async () => {
    const commits = countCommits();
    const large = (start: number) =>
      database.write(async (transaction) => {
        transaction.notify("events");
        for (let i = 0; i < 1000; i++) await insert(transaction, `n${start + i}`);
      });
    await Promise.all(Array.from({ length: 9 }, (_, i) => large(1000 * i)));
    expect(commits()).toBe(3);
    expect(await ids()).toHaveLength(9000);
  });

  it("notifies each topic once per commit, and none for a failed unit", async () => {
    const woken: string[] = [];
    database.subscribe("events", () => woken.push("events"));
    database.subscribe("deliveries", () => woken.push("deliveries"));
    const failing = database.write(async (transaction) => {
      transaction.notify("deliveries");
      throw new Error("no");
    });
    await expect(Promise.all([failing, add("a"), add("b")])).rejects.toThrow("no");
    await add("c");
    await turn();
    expect(woken).toEqual(["events", "events"]);
  });

  it("resolves the units first, then notifies subscribers", async () => {
    const order: string[] = [];
    database.subscribe("events", () => order.push("woken"));
    await Promise.all(["a", "b"].map(async (id) => order.push(`${await add(id)} ${id}`)));
    await turn();
    expect(order).toEqual(["1 a", "1 b", "woken"]);
  });

  it("logs a callback that throws", async () => {
    database.subscribe("events", () => {
      throw new Error("callback");
    });
    await add("a");
    await expect.poll(() => logged).toEqual(["a callback for committed changes failed"]);
  });

  it("rolls back only a unit that awaits something else", async () => {
    const outcomes = await Promise.allSettled([
      add("before"),
      database.write(async (transaction) => {
        await insert(transaction, "waiting");
        await turn();
        await turn();
        await insert(transaction, "late");
      }),
      add("after"),
      database.write(async (transaction) => {
        await insert(transaction, "outer");
        await add("inner");
      }),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
    expect(outcomes[1]).toMatchObject({ reason: { message: expect.stringMatching(/awaited something other/) } });
    await add("last");
    expect(await ids()).toEqual(["before", "after", "inner", "last"]);
  });

  it("keeps its log short while it reads and writes", async () => {
    const body = "x".repeat(4000);
    for (let round = 0; round < 200; round++) {
      await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          database.write((transaction) => insert(transaction, `${round}-${i}`, body)),
        ),
      );
      await database.get("SELECT id FROM notes");
      await database.all("SELECT id FROM notes LIMIT 10");
    }
    expect(statSync(file).size).toBeGreaterThan(35_000_000);
    expect(statSync(`${file}-wal`).size).toBeLessThan(10_000_000);
  });
});

describe("another program's write lock", () => {
  it("is waited for without blocking reads and the event loop", async () => {
    const { DatabaseSync } = await loadSqlite();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE; INSERT INTO notes (id) VALUES ('theirs')");
    let settled = false;
    const writing = add("ours").finally(() => (settled = true));
    for (let i = 0; i < 20; i++) {
      await turn();
      expect(await ids()).toEqual([]);
    }
    expect(settled).toBe(false);
    other.exec("COMMIT");
    other.close();
    await writing;
    expect(await ids()).toEqual(["theirs", "ours"]);
    expect(logged).toEqual([]);
  });

  it("rejects units that wait too long, and later ones work again", async () => {
    await database.close();
    database = await openSqlite({ file, migrations: [notes], log, lockMilliseconds: 20 });
    const { DatabaseSync } = await loadSqlite();
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const outcomes = await Promise.allSettled(Array.from({ length: 300 }, (_, i) => add(`n${i}`)));
    expect(outcomes.every((outcome) => outcome.status === "rejected")).toBe(true);
    expect(outcomes[299]).toMatchObject({ reason: { name: "StorageUnavailableError" } });
    expect(await ids()).toEqual([]);
    other.exec("ROLLBACK");
    other.close();
    await add("after");
    expect(await ids()).toEqual(["after"]);
    expect(logged).toEqual(["the database rejects writes", "the database accepts writes again"]);
  });
});

describe("a commit that fails", () => {
  it("rejects each unit that could see earlier changes, whatever the unit itself threw", async () => {
    const taken = async (transaction: Transaction) => {
      const rows = await transaction.all<{ id: string }>("SELECT id FROM notes");
      throw new Error(`taken by ${rows.map(({ id }) => id).join()}`);
    };
    renameSync(file, `${file}.away`);
    await expect(database.probe()).rejects.toThrow(StorageUnavailableError);
    const outcomes = await Promise.allSettled([database.write(taken), add("a"), database.write(taken)]);
    expect(outcomes).toMatchObject([
      { reason: { message: "taken by " } },
      { reason: { name: "StorageUnavailableError" } },
      { reason: { name: "StorageUnavailableError" } },
    ]);
    renameSync(`${file}.away`, file);
    await expect(database.write(taken)).rejects.toThrow("taken by ");
    expect(await ids()).toEqual([]);
  });
});

describe("statements whose text is always new", () => {
  it("are not cached without limit", async () => {
    for (let i = 0; i < 2000; i++) expect(await database.get(`SELECT ${i} AS i`)).toEqual({ i });
    expect(await database.get("SELECT 0 AS i")).toEqual({ i: 0 });
  });
});

describe("a damaged database", () => {
  /** Overwrites the first page of a table. */
  async function damage(table: string): Promise<void> {
    const sql = "SELECT (rootpage - 1) * 4096 AS start FROM sqlite_schema WHERE name = $1";
    const row = await database.get<{ start: number }>(sql, [table]);
    await database.close();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, row?.start ?? 0, (row?.start ?? 0) + 4096));
  }

  it("is unavailable if it is damaged, and otherwise works", async () => {
    await damage("notes");
    database = await openSqlite({ file, migrations: [notes] });
    await expect(database.all("SELECT body FROM notes")).rejects.toThrow(StorageUnavailableError);
    await expect(database.get("SELECT body FROM notes")).rejects.toThrow(StorageUnavailableError);
    const swallowing = database.write(async (transaction) => {
      await transaction.run("INSERT INTO counters (id, value) VALUES ('partial', 1)");
      await transaction.all("SELECT body FROM notes").catch(() => undefined);
    });
    await expect(swallowing).rejects.toThrow(StorageUnavailableError);
    await database.write((transaction) => transaction.run("INSERT INTO counters (id, value) VALUES ('whole', 1)"));
    expect(await database.all("SELECT id FROM counters")).toEqual([{ id: "whole" }]);
  });

  it("is rejected if its schema cannot be read", async () => {
    await damage("schema_migrations");
    await expect(openSqlite({ file, migrations: [notes] })).rejects.toMatchObject({
      code: "not_a_database",
      message: `${file} is a damaged SQLite database. Restore it from a backup, or choose another file.`,
    });
  });
});
