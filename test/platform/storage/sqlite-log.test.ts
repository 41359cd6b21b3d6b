import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSqlite, openSqliteReader } from "../../../src/platform/storage/sqlite/open.ts";
import { loadSqlite } from "../../../src/platform/storage/sqlite/runtime.ts";
import { buildChildren, startChild } from "./child-process.ts";
import { notes } from "./notes.ts";
import { temporaryFolder } from "./test-database.ts";
import { describeError } from "./error-description.ts";

const programs = temporaryFolder();
let folder: ReturnType<typeof temporaryFolder>;
let file: string;
let log: string;
let copy: string;

beforeAll(() => buildChildren(programs.path));
afterAll(() => programs.remove());

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, "data.db");
  log = `${file}-wal`;
  copy = join(folder.path, "copy.db");
});

afterEach(() => folder.remove());

const open = () => openSqlite({ file, migrations: [notes] });
const rejection = () => describeError(open());

/**
 * Writes a note in a process of its own. In this process @photostructure/sqlite would close the file at some later
 * garbage collection, and remove the log if the writer was killed in the meantime.
 */
async function writeAndClose(prefix: string): Promise<void> {
  const child = startChild(programs.path, "write", [file, prefix, "1"]);
  expect(await child.ended).toEqual({ code: 0, signal: null, stderr: "" });
}

/**
 * Starts a process that writes at least this many notes. Resolves with a function that kills it, and the acknowledged
 * notes.
 */
async function startWriter(prefix: string, count: number) {
  const child = startChild(programs.path, "write", [file, prefix]);
  await child.line(count);
  return {
    acknowledged: child.lines,
    /** Resolves once it has acknowledged this many more. */
    more: (further: number) => child.line(child.lines.length + further),
    async kill() {
      child.process.kill("SIGKILL");
      expect(await child.ended).toMatchObject({ signal: "SIGKILL", stderr: "" });
      expect(statSync(log).size).toBeGreaterThan(0);
    },
  };
}

async function ids(): Promise<string[]> {
  const database = await open();
  const rows = await database.all<{ id: string }>("SELECT id FROM notes ORDER BY seq");
  await database.close();
  return rows.map(({ id }) => id);
}

/** Runs a statement on the file from another program, whether or not it is in use. */
async function run(sql: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA busy_timeout = 5000; ${sql}`);
  database.close();
}

/** Expects that the file cannot be opened or read, and that trying changes neither it nor the log. */
async function expectMismatch(): Promise<void> {
  const files = () => [file, log].map((path) => readFileSync(path));
  const before = files();
  const mismatch = { code: "log_mismatch", message: expect.stringContaining("service db restore") };
  expect(await rejection()).toEqual(mismatch);
  expect(await describeError(openSqliteReader(file))).toEqual(mismatch);
  expect(files().map((bytes, i) => bytes.equals(before[i]!))).toEqual([true, true]);
}

describe("the log that a killed process left", () => {
  it("is applied to its own file, also in another folder", async () => {
    const writer = await startWriter("w", 300);
    await writer.kill();
    const moved = join(folder.path, "moved");
    mkdirSync(moved);
    for (const path of [file, log]) copyFileSync(path, join(moved, path.slice(folder.path.length)));
    file = join(moved, "data.db");
    expect(await ids()).toEqual(expect.arrayContaining(writer.acknowledged));
  });

  it("is not applied to an earlier copy of the file", async () => {
    await writeAndClose("kept");
    copyFileSync(file, copy);
    await writeAndClose("lost");
    const writer = await startWriter("w", 20);
    await writer.kill();
    copyFileSync(copy, file);
    await expectMismatch();
  });

  it("is not applied to a copy that VACUUM INTO created while the process ran", async () => {
    const writer = await startWriter("w", 50);
    await run(`VACUUM INTO '${copy}'`);
    await writer.more(50);
    await writer.kill();
    copyFileSync(copy, file);
    await expectMismatch();
  });

  it("is not applied to a copy of the pages from before the log was restarted", async () => {
    const writer = await startWriter("w", 50);
    await run("PRAGMA wal_checkpoint(TRUNCATE)");
    copyFileSync(file, copy);
    const salt = () => readFileSync(log).toString("hex", 16, 24);
    await expect.poll(salt).not.toBe("");
    const before = salt();
    await expect.poll(salt).not.toBe(before);
    // The header of the new log alone, without a page, would be no reason to reject it.
    await writer.more(50);
    await writer.kill();
    copyFileSync(copy, file);
    await expectMismatch();
  });

  it.each<[string, () => void]>([
    ["is missing", () => rmSync(log)],
    ["is empty", () => truncateSync(log, 0)],
    ["was overwritten", () => writeFileSync(log, Buffer.alloc(8192, 0xa5))],
  ])("is required if it %s, and nothing is opened without it", async (_, damage) => {
    await writeAndClose("kept");
    const writer = await startWriter("w", 20);
    await writer.kill();
    copyFileSync(log, copy);
    damage();
    const before = readFileSync(file);
    const missing = { code: "log_mismatch", message: expect.stringContaining(`Put ${log} back`) };
    expect(await rejection()).toEqual(missing);
    expect(await describeError(openSqliteReader(file))).toEqual(missing);
    expect(readFileSync(file).equals(before)).toBe(true);
    copyFileSync(copy, log);
    expect(await ids()).toEqual(expect.arrayContaining(["kept-0", ...writer.acknowledged]));
  });

  it("may be missing if the file contains all of it", async () => {
    const writer = await startWriter("w", 20);
    await writer.kill();
    const holder = startChild(programs.path, "hold", [file]);
    await holder.line(0);
    await run("PRAGMA wal_checkpoint(FULL)");
    holder.process.kill("SIGKILL");
    await holder.ended;
    rmSync(log);
    expect(await ids()).toEqual(expect.arrayContaining(writer.acknowledged));
  });

  it("is kept if its file is missing or empty", async () => {
    const writer = await startWriter("w", 50);
    await writer.kill();
    copyFileSync(file, copy);
    writeFileSync(file, "");
    await expectMismatch();
    rmSync(file);
    expect(await rejection()).toMatchObject({ code: "log_mismatch", message: expect.stringContaining("is missing") });
    copyFileSync(copy, file);
    expect(await ids()).toEqual(expect.arrayContaining(writer.acknowledged));
  });
});
