import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSqlite } from "../../../src/platform/storage/sqlite/open.ts";
import { volume } from "../../support/volume.ts";
import { buildChildren, startChild } from "./child-process.ts";
import { notes, tags } from "./notes.ts";
import { temporaryFolder } from "./test-database.ts";

const programs = temporaryFolder();
let folder: ReturnType<typeof temporaryFolder>;
let file: string;

beforeAll(() => buildChildren(programs.path));
afterAll(() => programs.remove());

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, "data.db");
});

afterEach(() => folder.remove());

describe("a process killed while it writes", () => {
  const ROUNDS = volume(5, 2);

  it(`loses nothing that it had acknowledged, ${ROUNDS} times over`, async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const child = startChild(programs.path, "write", [file, `r${round}`]);
      await child.line(200 + 77 * round);
      child.process.kill("SIGKILL");
      expect(await child.ended).toMatchObject({ signal: "SIGKILL", stderr: "" });
      acknowledged.push(...child.lines);
    }
    const database = await openSqlite({ file, migrations: [notes] });
    const rows = await database.all<{ id: string }>("SELECT id FROM notes");
    const present = new Set(rows.map((row) => row.id));
    expect(acknowledged.filter((id) => !present.has(id))).toEqual([]);
    expect(await database.get("PRAGMA integrity_check")).toEqual({ integrity_check: "ok" });
    await database.close();
  });
});

describe("a process killed while it migrates", () => {
  // Two migrations of two statements each.
  it.each([0, 1, 2, 3])("before statement %d leaves a database that the next start completes", async (last) => {
    const child = startChild(programs.path, "migrate", [file, `${last}`]);
    expect(await child.ended).toMatchObject({ signal: "SIGKILL", stderr: "" });
    const database = await openSqlite({ file, migrations: [notes, tags] });
    expect(await database.all("SELECT number, name FROM schema_migrations ORDER BY number")).toEqual([
      { number: 1, name: "notes" },
      { number: 2, name: "tags" },
    ]);
    const tables = await database.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'");
    expect(tables.map((table) => table.name)).toEqual(expect.arrayContaining(["notes", "counters", "tags"]));
    await database.close();
  });

  it("after the last statement has nothing left to do", async () => {
    const child = startChild(programs.path, "migrate", [file, "4"]);
    expect(await child.ended).toEqual({ code: 0, signal: null, stderr: "" });
  });
});

interface DiskReport {
  acknowledged: string[];
  rejected: string[];
  errors: string[];
  readDuring: number;
  present: string[];
  integrity: string;
  logged: string[];
}

describe("a full disk", () => {
  const smallFileSystem = (path: string) => [
    "unshare",
    "--mount",
    ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]),
    "sh",
    "-c",
    `mount -t tmpfs -o size=24m none '${path}' && exec "$0" "$@"`,
  ];
  const [unshare, ...probe] = [...smallFileSystem("/mnt"), "true"];
  const mayMount = spawnSync(unshare, probe).status === 0;

  // A file size limit works for every user; mounting a file system requires root.
  it.each(mayMount ? ["limit", "ballast"] : ["limit"])("(%s) fails writes until there is room", async (means) => {
    const data = join(folder.path, "data");
    mkdirSync(data);
    const prefix = means === "ballast" ? smallFileSystem(data) : [];
    const child = startChild(programs.path, "full-disk", [data, means], { prefix });
    expect(await child.ended).toEqual({ code: 0, signal: null, stderr: "" });
    const report = JSON.parse(await child.line(0)) as DiskReport;

    // No unit of work got a wrong result, whichever met the full disk first.
    expect(report.present.toSorted()).toEqual(report.acknowledged.toSorted());
    expect(report.integrity).toBe("ok");
    expect(report.rejected).toEqual(
      expect.arrayContaining(["big", "swallowing", "swallowing-alone", "returning", "swallowing-last", "during-2-199"]),
    );
    expect(new Set(report.errors)).toEqual(new Set(["StorageUnavailableError"]));
    expect(report.readDuring).toBeGreaterThanOrEqual(20);
    expect(report.rejected.filter((id) => /before|after/.test(id))).toEqual([]);
    expect(report.acknowledged).toContain("after-big");
    expect(report.logged.at(0)).toBe("the database rejects writes");
    expect(report.logged.at(-1)).toBe("the database accepts writes again");
  });
});

describe("the garbage collector", () => {
  const ROUNDS = volume(200, 50);

  it(`runs ${2 * ROUNDS} times beside reads and writes without harm`, async () => {
    const child = startChild(programs.path, "collect", [folder.path, `${ROUNDS}`], { nodeArguments: ["--expose-gc"] });
    expect(await child.ended).toEqual({ code: 0, signal: null, stderr: "" });
    expect(child.lines).toEqual(["done"]);
  });
});
