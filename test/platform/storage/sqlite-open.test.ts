import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeAll, afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { assertLocalFileSystem } from "../../../src/platform/storage/sqlite/database-file.ts";
import { type Database, StorageOpenError } from "../../../src/platform/storage/database.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { buildChildren, startChild } from "./child-process.ts";
import { insert, notes, tags } from "./notes.ts";
import { temporaryFolder } from "./test-database.ts";
import { describeError } from "./error-description.ts";

const programs = temporaryFolder();
let folder: ReturnType<typeof temporaryFolder>;
let file: string;
let opened: Database[];

beforeAll(() => buildChildren(programs.path));
afterAll(() => programs.remove());

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, "data.db");
  opened = [];
});

afterEach(async () => {
  vi.useRealTimers();
  for (const database of opened) await database.close();
  folder.remove();
});

/** Databases opened from now on use the test's clock. */
function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
}

async function open(path = file): Promise<Database> {
  const database = await openSqlite({ file: path, migrations: [notes] });
  opened.push(database);
  return database;
}

const rejection = (path = file) => describeError(openSqlite({ file: path, migrations: [notes] }));

describe("the database file", () => {
  it("is readable only by its owner, with its companions, whatever their mode was", async () => {
    const database = await open();
    await database.write((transaction) => insert(transaction, "a"));
    const modes = () =>
      Object.fromEntries(
        readdirSync(folder.path)
          .filter((name) => !name.endsWith(".lock"))
          .map((name) => [name, (statSync(join(folder.path, name)).mode & 0o777).toString(8)]),
      );
    const ownerOnly = { "data.db": "600", "data.db-shm": "600", "data.db-wal": "600" };
    expect(modes()).toEqual(ownerOnly);
    await database.close();
    chmodSync(file, 0o644);
    await open();
    expect(modes()).toEqual(ownerOnly);
  });

  it("gets missing folders that only the owner can access", async () => {
    const deep = join(folder.path, "a", "b", "data.db");
    await open(deep);
    expect(existsSync(deep)).toBe(true);
    expect(statSync(join(folder.path, "a", "b")).mode & 0o777).toBe(0o700);
  });

  it("may be relative to the working directory", async () => {
    await open(relative(process.cwd(), file));
    expect(existsSync(file)).toBe(true);
  });

  it("contains everything once it is closed", async () => {
    const database = await open();
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => database.write((transaction) => insert(transaction, `n${i}`))),
    );
    await database.close();
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
    expect(log?.size ?? 0).toBe(0);
    const copy = join(folder.path, "copy.db");
    writeFileSync(copy, readFileSync(file));
    const copied = await open(copy);
    expect(await copied.get("SELECT COUNT(*) AS count FROM notes")).toEqual({ count: 100 });
  });

  it("is rejected if it is not a database, and stays unchanged", async () => {
    writeFileSync(file, "not a database, but a text that is long enough to be looked at as one".repeat(50));
    const before = readFileSync(file);
    expect(await rejection()).toEqual({ code: "not_a_database", message: expect.stringContaining(file) });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("is rejected if it is a folder", async () => {
    mkdirSync(file);
    expect(await rejection()).toEqual({
      code: "not_a_database",
      message: expect.stringMatching(/data\.db is a folder/),
    });
  });

  it("is rejected if it has another program's tables", async () => {
    await (await openSqlite({ file, migrations: [] })).close();
    const foreign = join(folder.path, "foreign.db");
    const database = await openSqlite({ file: foreign, migrations: [notes] });
    await database.write((transaction) => transaction.run("DROP TABLE schema_migrations"));
    await database.close();
    expect(await rejection(foreign)).toEqual({
      code: "not_a_database",
      message: `${foreign} is an SQLite database of another program. Choose another file.`,
    });
    expect(await rejection()).toEqual({ code: "opened", message: "" });
  });

  it("is rejected by an older program, which reports the missing version", async () => {
    const later = { ...tags, number: 3, statements: () => [] };
    await (await openSqlite({ file, migrations: [notes, tags], version: "9.1.0" })).close();
    await (await openSqlite({ file, migrations: [notes, tags, later], version: "9.2.0" })).close();
    const message = expect.stringContaining(
      "migrated to schema 3 by version 9.2.0; this version supports schemas up to 1",
    );
    expect(await rejection()).toEqual({ code: "newer_schema", message });
  });

  it("is rejected if its folder is a file", async () => {
    writeFileSync(file, "");
    const below = join(file, "data.db");
    expect(await rejection(below)).toEqual({ code: "not_writable", message: expect.stringContaining(below) });
  });

  it("is rejected if this user may not write", async () => {
    const readOnly = join(folder.path, "read-only");
    mkdirSync(readOnly);
    const existing = join(readOnly, "existing.db");
    await (await openSqlite({ file: existing, migrations: [] })).close();
    rmSync(`${existing}-wal`, { force: true });
    const scratch = join(folder.path, "scratch.db");
    chmodSync(folder.path, 0o755);
    chmodSync(readOnly, 0o555);
    chmodSync(existing, 0o444);
    const paths = [existing, join(readOnly, "new.db"), join(readOnly, "folder", "new.db")];
    const child = startChild(programs.path, "unprivileged", [scratch, ...paths]);
    expect(await child.ended).toMatchObject({ code: 0, stderr: "" });
    chmodSync(readOnly, 0o755);
    const rejections = child.lines.map((line) => JSON.parse(line) as { code: string; message: string });
    expect(rejections).toEqual(
      paths.map((path) => ({ code: "not_writable", message: expect.stringContaining(`${path} cannot be written`) })),
    );
  });

  it("is rejected on a network file system", () => {
    const reject = (type: number) => () => assertLocalFileSystem(file, () => type);
    expect(reject(0x6969)).toThrow(StorageOpenError);
    expect(reject(0x6969)).toThrow(/NFS/);
    expect(reject(0xff534d42)).toThrow(/CIFS/);
    expect(reject(0xff534d42 | 0)).toThrow(/CIFS/);
    expect(reject(0xef53)).not.toThrow();
  });
});

describe("a database that is open", () => {
  it("is rejected in another process, which reports the holder, until the holder is killed", async () => {
    const holder = startChild(programs.path, "hold", [file]);
    await holder.line(0);
    const pid = holder.process.pid ?? 0;
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await rejection()).toEqual({ code: "locked", message: expect.stringContaining(`process ${pid}.`) });
    }
    holder.process.kill("SIGKILL");
    expect(await holder.ended).toMatchObject({ signal: "SIGKILL", stderr: "" });
    const database = await open();
    expect(await database.write((transaction) => insert(transaction, "a"))).toBe(1);
  });

  it("belongs to one process when several start concurrently", async () => {
    const children = Array.from({ length: 6 }, () => startChild(programs.path, "hold", [file]));
    const rejected = children.map((child) => child.ended.then(({ stderr }) => stderr));
    const opened = await Promise.any(children.map(async (child) => [child, await child.line(0)] as const));
    const others = await Promise.all(rejected.filter((_, i) => children[i] !== opened[0]));
    expect(others).toEqual(others.map(() => expect.stringContaining("StorageOpenError")));
    expect(others).toEqual(others.map(() => expect.stringMatching(/in use by (process \d+|another process)\./)));
    expect(others).toHaveLength(5);
    opened[0].process.kill("SIGKILL");
    await opened[0].ended;
  });

  it("is rejected in this process too, without releasing the lock", async () => {
    await open();
    expect(await rejection()).toEqual({ code: "locked", message: expect.stringContaining(`process ${process.pid}.`) });
    const other = startChild(programs.path, "hold", [file]);
    expect(await other.ended).toMatchObject({ code: 1, stderr: expect.stringContaining(`process ${process.pid}.`) });
  });

  it("is rejected under any of its names", async () => {
    await open();
    const link = join(folder.path, "link.db");
    symlinkSync(file, link);
    expect(await rejection(link)).toMatchObject({ code: "locked" });
    const folderLink = join(folder.path, "folder");
    symlinkSync(folder.path, folderLink);
    expect(await rejection(join(folderLink, "data.db"))).toMatchObject({ code: "locked" });
  });

  it("is rejected under a hard link, even before it is open", async () => {
    await (await openSqlite({ file, migrations: [notes] })).close();
    const link = join(folder.path, "link.db");
    linkSync(file, link);
    expect(await rejection(link)).toEqual({ code: "hard_linked", message: expect.stringContaining("2 names") });
    expect(await rejection()).toMatchObject({ code: "hard_linked" });
    rmSync(link);
    await open();
    linkSync(file, link);
    expect(await rejection(link)).toMatchObject({ code: "hard_linked" });
  });

  it("stays locked when its lock file is deleted, without any write", async () => {
    useFakeTimers();
    await open();
    rmSync(`${file}.lock`);
    await vi.advanceTimersByTimeAsync(500);
    expect(await rejection()).toMatchObject({ code: "locked" });
  });

  it("rejects writes soon after another process has started because its lock file was deleted", async () => {
    useFakeTimers();
    const first = await open();
    await first.write((transaction) => insert(transaction, "before"));
    rmSync(`${file}.lock`);
    const second = await open();
    await vi.advanceTimersByTimeAsync(500);
    for (const close of [false, true]) {
      if (close) await second.close();
      await expect(first.write((transaction) => insert(transaction, "lost"))).rejects.toMatchObject({
        name: "StorageUnavailableError",
        message: expect.stringContaining("data.db.lock was deleted"),
      });
    }
    expect(await first.all("SELECT id FROM notes")).toEqual([{ id: "before" }]);
  });

  it("leaves no lock file when it is closed, and none after a rejected start", async () => {
    await (await openSqlite({ file, migrations: [notes, tags] })).close();
    expect(await rejection()).toMatchObject({ code: "newer_schema" });
    expect(readdirSync(folder.path)).not.toContain("data.db.lock");
  });

  it("is free again once it is closed, although opening it failed meanwhile", async () => {
    const database = await open();
    expect(await rejection()).toMatchObject({ code: "locked" });
    await database.close();
    const holder = startChild(programs.path, "hold", [file]);
    expect(await holder.line(0)).toBe("open");
    holder.process.kill("SIGKILL");
    await holder.ended;
  });

  it("is free again after a failed attempt", async () => {
    await (await openSqlite({ file, migrations: [notes, tags] })).close();
    expect(await rejection()).toMatchObject({ code: "newer_schema" });
    await (await openSqlite({ file, migrations: [notes, tags] })).close();
  });
});

describe("files removed under an open database", () => {
  it.each(["data.db", "data.db-wal"])("stop writes while %s is missing", async (name) => {
    const database = await open();
    await database.write((transaction) => insert(transaction, "before"));
    const path = join(folder.path, name);
    const away = join(folder.path, "away");
    renameSync(path, away);
    await expect(database.probe()).rejects.toThrow(/moved/);
    await expect(database.write((transaction) => insert(transaction, "lost"))).rejects.toMatchObject({
      name: "StorageUnavailableError",
      message: expect.stringContaining(`${name} was moved`),
    });
    writeFileSync(path, "");
    await expect(database.write((transaction) => insert(transaction, "lost"))).rejects.toThrow(/replaced/);
    rmSync(path);
    linkSync(away, path);
    await database.write((transaction) => insert(transaction, "after"));
    expect(await database.all("SELECT id FROM notes ORDER BY seq")).toEqual([{ id: "before" }, { id: "after" }]);
  });
});

describe("a Node.js without SQLite", () => {
  it("uses the package", async () => {
    const child = startChild(programs.path, "foreign-runtime", [file]);
    expect(await child.ended).toEqual({ code: 0, signal: null, stderr: "" });
    expect(child.lines).toEqual([JSON.stringify({ code: "opened", message: "" })]);
  });

  it("fails if the package is missing too", async () => {
    const bare = temporaryFolder();
    await buildChildren(bare.path, { packages: false });
    const child = startChild(bare.path, "foreign-runtime", [file], { prefix: ["env", `XDG_DATA_HOME=${bare.path}`] });
    expect(await child.ended).toEqual({ code: 0, signal: null, stderr: "" });
    expect(JSON.parse(await child.line(0))).toEqual({
      code: "driver_missing",
      message: `This Node.js (${process.version}) has no SQLite built in`,
    });
    expect(existsSync(file)).toBe(false);
    bare.remove();
  });
});

describe("the current Node.js", () => {
  it("opens a database without output on stderr", async () => {
    const child = startChild(programs.path, "hold", [file]);
    expect(await child.line(0)).toBe("open");
    child.process.kill("SIGTERM");
    expect(await child.ended).toEqual({ code: null, signal: "SIGTERM", stderr: "" });
  });
});
