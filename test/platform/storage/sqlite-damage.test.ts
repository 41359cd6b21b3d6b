import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Database } from "../../../src/platform/storage/database.ts";
import { loadSqlite } from "../../../src/platform/storage/sqlite/runtime.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { insert, notes } from "./notes.ts";
import { temporaryFolder } from "./test-database.ts";

/** By then, a change of the files was noticed, in milliseconds. */
const SOON = 500;
/** The number of a page in the middle of the file that contains notes. */
const PAGE = 4096;

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
let copy: string;
let logged: { message: string; database: unknown }[];
/** The findings of checks of the whole file, one per check. */
let found: string[];
let checks: number;
let database: Database;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder.path, "data.db");
  copy = join(folder.path, "copy.db");
  logged = [];
  found = [];
  checks = 0;
  await open();
  await add("first");
  await run("PRAGMA wal_checkpoint(TRUNCATE)");
  copyFileSync(file, copy);
  await fill();
  await run("PRAGMA wal_checkpoint(TRUNCATE)");
  await add("last");
  await database.probe();
});

afterEach(async () => {
  vi.useRealTimers();
  await database.close();
  folder.remove();
});

/** Databases opened from now on use the test's clock. */
function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
}

async function open(): Promise<void> {
  const note = (fields: Record<string, unknown>, message: string) =>
    logged.push({ message, database: fields["database"] });
  database = await openSqlite({
    file,
    migrations: [notes],
    log: { debug: note, info: note, warn: note, error: note },
    check: async () => {
      checks += 1;
      return found;
    },
  });
}

const add = (id: string) => database.write((transaction) => insert(transaction, id, "x".repeat(1000)));
const fill = () => Promise.all(Array.from({ length: 200 }, (_, i) => add(`n${i}`)));

/** Runs a statement from another program. */
async function run(sql: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const other = new DatabaseSync(file);
  other.exec(sql);
  other.close();
}

/** Overwrites a part of a file in place. */
function overwrite(path: string, at: number, bytes: Buffer): void {
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}

/** Makes the folder inaccessible to this process. Returns a function that undoes it. */
function closeFolder(): () => void {
  chmodSync(folder.path, 0);
  // Root ignores permissions.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  return () => {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder.path, 0o700);
  };
}

/** Replaces the open file by a device that accepts every write and flushes none. */
function failToFlush(path: string): void {
  for (const name of readdirSync("/proc/self/fd")) {
    const link = join("/proc/self/fd", name);
    if (!existsSync(link) || readlinkSync(link) !== path) continue;
    closeSync(Number(name));
    // The lowest free number is taken first.
    while (openSync("/dev/null", "r+") !== Number(name));
  }
}

const garbage = Buffer.alloc(PAGE, 0xa5);

describe("a file that is damaged under an open database", () => {
  it.each<[string, string, () => void]>([
    ["the file is truncated", "data.db", () => truncateSync(file, PAGE)],
    ["the file is emptied", "data.db", () => writeFileSync(file, "")],
    ["an older copy is written over the file", "data.db", () => copyFileSync(copy, file)],
    ["other bytes are written over the file's beginning", "data.db", () => overwrite(file, 0, garbage)],
    ["the file is deleted", "data.db", () => rmSync(file)],
    ["a copy takes the file's place", "data.db", () => renameSync(copy, file)],
    ["the log is deleted", "data.db-wal", () => rmSync(`${file}-wal`)],
    ["the log is truncated", "data.db-wal", () => truncateSync(`${file}-wal`, 0)],
    [
      "the log loses its last bytes",
      "data.db-wal",
      () => truncateSync(`${file}-wal`, statSync(`${file}-wal`).size - 1),
    ],
    ["the log's beginning is overwritten", "data.db-wal", () => overwrite(`${file}-wal`, 0, garbage)],
    ["the shared memory is deleted", "data.db-shm", () => rmSync(`${file}-shm`)],
  ])("is unavailable if %s", async (_, name, damage) => {
    damage();
    const trouble = { name: "StorageUnavailableError", message: expect.stringContaining(join(folder.path, name)) };
    await expect(database.probe()).rejects.toMatchObject(trouble);
    await expect(add("lost")).rejects.toMatchObject(trouble);
    expect(logged).toContainEqual({ message: "the database rejects writes", database: file });
  });

  it("is unavailable while this process may not read its folder", async () => {
    await database.close();
    useFakeTimers();
    await open();
    const reopenFolder = closeFolder();
    const trouble = { name: "StorageUnavailableError", message: expect.stringContaining(`EACCES: permission denied`) };
    await expect(database.probe()).rejects.toMatchObject(trouble);
    await expect(add("lost")).rejects.toMatchObject(trouble);
    expect(logged.map(({ message }) => message)).toEqual([
      "the database cannot be used",
      "the database rejects writes",
    ]);
    reopenFolder();
    await vi.advanceTimersByTimeAsync(SOON);
    await vi.waitFor(() => database.probe());
    await add("kept");
  });

  it("completes a commit during which its folder becomes inaccessible, and later ones fail until it is accessible", async () => {
    await database.close();
    useFakeTimers();
    await open();
    let reopenFolder = () => {};
    await database.write(async (transaction) => {
      await insert(transaction, "during");
      reopenFolder = closeFolder();
    });
    await vi.advanceTimersByTimeAsync(SOON);
    await expect(add("lost")).rejects.toThrow("EACCES: permission denied");
    reopenFolder();
    await add("after");
    await vi.advanceTimersByTimeAsync(SOON);
    await database.probe();
  });

  it("rejects writes soon after the file was moved, without a probe", async () => {
    await database.close();
    useFakeTimers();
    await open();
    renameSync(file, `${file}.away`);
    await vi.advanceTimersByTimeAsync(SOON);
    await expect(add("lost")).rejects.toThrow(/data\.db was moved/);
  });

  it("stays unchanged when the database is closed", async () => {
    copyFileSync(copy, file);
    await expect(database.probe()).rejects.toThrow(/overwritten/);
    const before = [file, `${file}-wal`].map((path) => readFileSync(path));
    await database.close();
    expect([file, `${file}-wal`].map((path, i) => readFileSync(path).equals(before[i]!))).toEqual([true, true]);
    await expect(openSqlite({ file, migrations: [notes] })).rejects.toMatchObject({ code: "log_mismatch" });
  });

  it("is detected and logged without requests, and so is its repair", async () => {
    await database.close();
    useFakeTimers();
    await open();
    renameSync(file, `${file}.away`);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(logged.at(-1)).toEqual({ message: "the database cannot be used", database: file });
    renameSync(`${file}.away`, file);
    await vi.advanceTimersByTimeAsync(SOON);
    expect(logged.at(-1)).toEqual({ message: "the database can be used again", database: file });
    expect(logged).toHaveLength(2);
    await database.probe();
  });

  it.each([
    ["damaged", ["page 7 is damaged"], "rejected"],
    ["intact", [], "fulfilled"],
  ])("is checked completely after a page in its middle is overwritten, and found %s", async (_, problems, status) => {
    found = problems;
    overwrite(file, 10 * PAGE, garbage);
    await database.probe();
    expect(checks).toBe(1);
    const [outcome] = await Promise.allSettled([database.probe()]);
    expect(outcome?.status).toBe(status);
    const message =
      status === "rejected" ? "the database is damaged: restore a backup" : "the database was checked and is intact";
    expect(logged).toEqual([{ message, database: file }]);
  });

  it("is checked completely after a statement finds damage, which is logged once", async () => {
    await run("PRAGMA wal_checkpoint(TRUNCATE)");
    await database.close();
    writeFileSync(file, readFileSync(file).fill(garbage, 10 * PAGE));
    await open();
    for (let i = 0; i < 3; i++) {
      await expect(database.all("SELECT body FROM notes")).rejects.toThrow("the database file is damaged");
    }
    expect(checks).toBe(1);
    expect(logged.filter(({ message }) => message === "the database could not be read")).toEqual([
      { message: "the database could not be read", database: file },
    ]);
  });
});

describe("harmless access of other programs to the files of an open database", () => {
  it("does not make it unavailable: checkpoints, writes, copies, and a new modification time", async () => {
    await run("PRAGMA wal_checkpoint(TRUNCATE)");
    await database.probe();
    await add("b");
    await run("INSERT INTO notes (id) VALUES ('theirs')");
    await run("PRAGMA wal_checkpoint(RESTART)");
    await fill().catch(() => {});
    await run(`VACUUM INTO '${copy}.vacuum'`);
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 200 }, (_, i) => add(`${round}-${i}`)));
      await database.probe();
    }
    expect(checks).toBe(0);
    utimesSync(file, new Date(), new Date(0));
    await database.probe();
    await add("c");
    await database.probe();
    expect(logged.map(({ message }) => message)).toEqual(["the database was checked and is intact"]);
  });
});

describe("the log of a killed process", () => {
  it("causes a check of the file after the next start; a clean stop does not", async () => {
    useFakeTimers();
    const stopped = file;
    file = join(folder.path, "crashed.db");
    for (const suffix of ["", "-wal"]) copyFileSync(stopped + suffix, file + suffix);
    await database.close();
    found = ["page 9 is damaged"];
    await open();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checks).toBe(1);
    await expect(database.probe()).rejects.toThrow(`${file} is damaged: page 9 is damaged`);
    await database.close();
    file = stopped;
    await open();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checks).toBe(1);
    await database.probe();
  });
});

describe("a commit that failed", () => {
  it("keeps the database unready until another succeeds, which is retried without other writes", async () => {
    await database.close();
    useFakeTimers();
    await open();
    renameSync(file, `${file}.away`);
    await expect(database.probe()).rejects.toThrow(/moved/);
    await expect(add("lost")).rejects.toThrow(/moved/);
    renameSync(`${file}.away`, file);
    await expect(database.probe()).rejects.toThrow(/moved/);
    await vi.advanceTimersByTimeAsync(SOON);
    await vi.waitFor(() => database.probe(), { timeout: 60_000 });
  });

  it("may have made the change if the disk failed during it, but not if a unit failed before", async () => {
    await database.get("SELECT id FROM notes");
    failToFlush(`${file}-wal`);
    const [broken, added] = await Promise.allSettled([
      database.write(() => Promise.reject(new Error("own"))),
      add("lost"),
    ]);
    expect(broken).toMatchObject({ reason: { message: "own" } });
    expect(added).toMatchObject({
      reason: { name: "StorageUnavailableError", message: "Storage is unavailable: disk I/O failed.", uncertain: true },
    });
    truncateSync(file, PAGE);
    await expect(database.probe()).rejects.toThrow(/truncated/);
    await expect(add("rejected")).rejects.toMatchObject({ name: "StorageUnavailableError", uncertain: false });
  });
});
