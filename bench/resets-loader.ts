// Fills the sandbox of a platform that is not running with events (`fill <database> <number>`), or prints when the rows
// of a sandbox that was reset have begun to disappear, and when they are gone (`watch <database>`).
import { setTimeout as delay } from "node:timers/promises";
import { isPostgresUrl } from "../src/platform/storage/database-url.ts";
import type { Queries } from "../src/platform/storage/database.ts";
import { openDatabase } from "../src/platform/storage/open-database.ts";
import { openSqliteReader } from "../src/platform/storage/sqlite/reader.ts";
import { fillEvents } from "./fill-events.ts";

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const POLL_MILLISECONDS = 100;
const [mode, place = "", events] = process.argv.slice(2);
const say = (value: object) => void process.stdout.write(`${JSON.stringify(value)}\n`);
const open = () => openDatabase({ database: place, version: "bench", log: LOG, statementMilliseconds: 600_000 });

async function fill(): Promise<void> {
  const database = await open();
  const sandbox = await database.get<{ id: number }>("SELECT id FROM environments WHERE name = 'sandbox'");
  const began = performance.now();
  await fillEvents(database, sandbox!.id, { now: Date.now(), past: Number(events), waiting: 0 });
  await database.close();
  say({ seconds: (performance.now() - began) / 1000 });
}

/** Each question reads a few rows by an index. */
async function watch(): Promise<void> {
  const database: Queries = isPostgresUrl(place) ? await open() : await openSqliteReader(place);
  const removed = await database.get<{ id: number }>(
    "SELECT MAX(id) AS id FROM environments WHERE name LIKE 'removed %'",
  );
  const first = async (table: string, column: string) =>
    (await database.get(`SELECT ${column} FROM ${table} WHERE environment = $1 ORDER BY ${column} LIMIT 1`, [
      removed!.id,
    ])) as Record<string, string> | undefined;
  const firstDelivery = async () => (await first("deliveries", "status, id"))?.["id"];
  const before = await firstDelivery();
  say({ watching: true });
  while ((await firstDelivery()) === before) await delay(POLL_MILLISECONDS);
  say({ begun: true });
  while ((await first("events", "seq")) !== undefined || (await first("request_logs", "id")) !== undefined) {
    await delay(POLL_MILLISECONDS);
  }
  say({ gone: true });
  process.exit(0);
}

await (mode === "fill" ? fill() : watch());
