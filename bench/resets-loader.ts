// Fills the sandbox of a platform that is not running with events, and prints how long a reset with its commit takes
// (`fill <database> <number>`); or prints when the rows
// of a sandbox that was reset have begun to disappear, and when they are gone (`watch <database>`).
import { setTimeout as delay } from "node:timers/promises";
import { resetSandbox } from "../src/platform/domain/sandbox.ts";
import type { RequestContext } from "../src/platform/domain/request-context.ts";
import { isPostgresUrl, type Queries, type Transaction } from "../src/platform/storage/database.ts";
import { openDatabase } from "../src/platform/storage/open-database.ts";
import { openSqliteReader } from "../src/platform/storage/sqlite/open.ts";
import { fillEvents } from "./fill-events.ts";

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const POLL_MILLISECONDS = 100;
const ROUNDS = 100;
const [mode, place = "", events] = process.argv.slice(2);
const say = (value: object) => void process.stdout.write(`${JSON.stringify(value)}\n`);
const open = () => openDatabase({ database: place, version: "bench", log: LOG, statementMilliseconds: 600_000 });

async function fill(): Promise<void> {
  const database = await open();
  const { id: environment, ...account } = (await database.get<{ id: number; account_id: string; version: string }>(
    `SELECT v.id, v.account_id, a.version FROM environments v JOIN accounts a ON a.id = v.account_id
     WHERE v.name = 'sandbox'`,
  ))!;
  const now = Date.now();
  await fillEvents(database, environment, { now, past: Number(events), waiting: 0 });
  const tenant: RequestContext["tenant"] = {
    environment,
    name: "sandbox",
    livemode: false,
    account: { id: account.account_id, name: "Bench", version: account.version },
  };
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    await database.write((tx) => resetSandbox(tx, tenant, {}, now), { isolation: "read committed" });
    times.push(performance.now() - began);
    await database.write((tx) => undoReset(tx, environment));
  }
  await database.close();
  say({ reset: times.toSorted((a, b) => a - b)[ROUNDS / 2] });
}

/** Returns to the sandbox with the events. */
async function undoReset(tx: Transaction, environment: number): Promise<void> {
  const later = await tx.get<{ id: number }>("SELECT id FROM environments WHERE name = 'sandbox'");
  for (const table of ["api_keys", "oauth_apps", "oauth_grants", "oauth_codes", "listeners", "webhook_endpoints"]) {
    await tx.run(`UPDATE ${table} SET environment = $2 WHERE environment = $1`, [later!.id, environment]);
  }
  await tx.run("DELETE FROM environments WHERE id = $1", [later!.id]);
  await tx.run("UPDATE environments SET name = 'sandbox', since = NULL WHERE id = $1", [environment]);
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
