import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "../../src/platform/storage/database.ts";
import { openDatabase } from "../../src/platform/storage/open-database.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const NAMES = Array.from({ length: 50 }, (_, index) => `name ${index}`);
/** As few as a database may have, one for waking and one for all that is held. */
const CONNECTIONS = 4;

let server: PostgresServer & { remove(): Promise<void> };
let url: string;
let database: Database;
let other: Database;

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const open = () => openDatabase({ database: url, version: "test", log, connections: 2 });
  database = await open();
  other = await open();
});
afterAll(async () => {
  await Promise.all([database.close(), other.close()]);
  await server.remove();
});

const connections = async () => {
  const sql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  return (await server.query(sql, [], url)).length;
};

it("many names are held on one connection, and are free again when that is lost", async () => {
  const holds = await Promise.all(NAMES.map((name) => database.hold(name)));
  expect(holds.every((hold) => hold !== undefined)).toBe(true);
  expect(await Promise.all(NAMES.map((name) => other.hold(name)))).toEqual(NAMES.map(() => undefined));
  expect(await connections()).toBeLessThanOrEqual(2 * CONNECTIONS);

  await holds[0]!.release();
  const taken = await other.hold(NAMES[0]!);
  expect(taken).toBeDefined();
  expect(await database.hold(NAMES[0]!)).toBeUndefined();
  await taken!.release();

  await server.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [],
    url,
  );
  await expect.poll(async () => (await other.hold(NAMES[1]!)) !== undefined).toBe(true);
  await Promise.all(holds.map((hold) => hold!.release()));
  expect(await database.hold(NAMES[2]!)).toBeDefined();
});
