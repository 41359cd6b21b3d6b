import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Database, StorageUnavailableError, type Transaction } from "../../src/platform/storage/database.ts";
import { openPostgres } from "../../src/platform/storage/postgres/open.ts";
import { insert, notes } from "../storage/notes.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { startLine } from "./line.ts";

let server: PostgresServer & { remove(): Promise<void> };
let url: string;
let line: Awaited<ReturnType<typeof startLine>>;
/** Another program's connection. */
let other: Client;
/** Opened anew for each test. */
let database: Database;

/** With three connections, one of them for readers. */
const open = (statementMilliseconds: number) =>
  openPostgres({ url: line.url, migrations: [notes], connections: 3, statementMilliseconds });

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  line = await startLine(url);
  other = new Client({ connectionString: url });
  await other.connect();
});
afterAll(async () => {
  await other.end();
  line.close();
  await server.remove();
});

beforeEach(async () => {
  line.state.replaces = undefined;
  database = await open(10_000);
});
afterEach(async () => {
  await database.close();
  await other.query("TRUNCATE notes, counters");
});

const storedIds = async () =>
  (await other.query<{ id: string }>("SELECT id FROM notes ORDER BY id")).rows.map(({ id }) => id);

describe("memory", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heapMegabytes = () => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };

  it.each(["alone", "beside", "latest"] as const)("does not keep the results of %s units", async (isolation) => {
    const run = () => database.write((tx) => tx.get("SELECT repeat('x', 100000) AS text"), { isolation });
    await run();
    const before = heapMegabytes();
    for (let i = 0; i < 100; i++) await run();
    // The results have 10 MB.
    expect(heapMegabytes() - before).toBeLessThan(3);
  });
});

describe("BEGIN", () => {
  it("that fails on a live connection leaves nothing of its unit behind", async () => {
    line.state.replaces = ["BEGIN ISOLATION", "BEGIX ISOLATION"];
    const write = database.write(async (tx) => {
      await insert(tx, "a");
      await insert(tx, "b");
    });
    await expect(write).rejects.toThrow(/BEGIX/);
    expect(await storedIds()).toEqual([]);
    line.state.replaces = undefined;
    await database.write((tx) => insert(tx, "c"));
    expect(await storedIds()).toEqual(["c"]);
  });

  it("keeps the order of the statements that wait for it", async () => {
    const count = (tx: Transaction) => tx.get("SELECT CAST(COUNT(*) AS INTEGER) AS count FROM notes");
    const write = database.write((tx) =>
      Promise.all([count(tx), insert(tx, "a"), count(tx), insert(tx, "b"), count(tx)]),
    );
    expect(await write).toEqual([{ count: 0 }, 1, { count: 1 }, 1, { count: 2 }]);
  });
});

describe("a failure of the network", () => {
  it("makes storage unavailable, whatever its error is", async () => {
    // The message's type and length come before its text.
    line.state.replaces = ["C\0\0\0\rSELECT 1\0", "!\0\0\0\rSELECT 1\0"];
    await expect(database.get("SELECT 1 AS one")).rejects.toThrow(StorageUnavailableError);
    line.state.replaces = undefined;
    expect(await database.get("SELECT 1 AS one")).toEqual({ one: 1 });
  });

  it("during COMMIT leaves it uncertain whether the change was made, whatever its error is", async () => {
    line.state.replaces = ["C\0\0\0\x0bCOMMIT\0", "!\0\0\0\x0bCOMMIT\0"];
    const write = database.write((tx) => insert(tx, "a"));
    await expect(write).rejects.toMatchObject({ name: "StorageUnavailableError", uncertain: true });
    expect(await storedIds()).toEqual(["a"]);
  });

  it("at the start says that the database cannot be reached, whatever its error is", async () => {
    // Without its interface such an address is invalid.
    const opening = openPostgres({ url: "postgres://user@[fe80::1]/none?sslmode=disable", migrations: [notes] });
    await expect(opening).rejects.toMatchObject({ name: "StorageOpenError", code: "unreachable" });
  });
});
