import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Database } from "../../src/platform/storage/database.ts";
import { openPostgres } from "../../src/platform/storage/postgres/open.ts";
import { notes } from "../storage/notes.ts";
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
