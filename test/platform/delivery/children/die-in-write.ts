// Makes a change through the domain, and kills itself before the n-th statement of its transactions; or prints what the
// sandbox has.
import { API_VERSIONS } from "../../../../src/contract/versions.ts";
import { Versions } from "../../../../src/platform/domain/versions.ts";
import { createObject } from "../../../../src/platform/domain/objects.ts";
import {
  copySandbox,
  copySnapshot,
  resetSandbox,
  restoreSnapshot,
  saveSnapshot,
} from "../../../../src/platform/domain/sandbox.ts";
import type { RequestContext } from "../../../../src/platform/domain/request-context.ts";
import type { Database, Transaction } from "../../../../src/platform/storage/database.ts";
import { openDatabase } from "../../../../src/platform/storage/open-database.ts";
import { EnvironmentTime } from "../../../../src/platform/time/environment-time.ts";
import { systemClock, systemRandom } from "../../../../src/platform/ports.ts";

const [url = "", environment = "", last = "", account = "", change = "customer"] = process.argv.slice(2);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const database = await openDatabase({ database: url, version: "test", log });
const time = new EnvironmentTime(systemClock, systemRandom);
const tenant: RequestContext["tenant"] = {
  environment: Number(environment),
  name: "sandbox",
  livemode: false,
  account: { id: account, name: "Test", version: "2026-11-01" },
};

let statements = 0;
function counted(tx: Transaction): Transaction {
  const step = () => {
    if (statements++ === Number(last)) process.kill(process.pid, "SIGKILL");
  };
  return {
    dialect: tx.dialect,
    isShared: tx.isShared,
    get: (sql, parameters) => (step(), tx.get(sql, parameters)),
    all: (sql, parameters) => (step(), tx.all(sql, parameters)),
    allShared: (sql, parameters) => (step(), tx.allShared(sql, parameters)),
    run: (sql, parameters) => (step(), tx.run(sql, parameters)),
    notify: (topic) => tx.notify(topic),
    claim: (name) => tx.claim(name),
    lock: (name, mode) => tx.lock(name, mode),
  };
}

const countedDatabase: Database = {
  dialect: database.dialect,
  get: (sql, parameters) => database.get(sql, parameters),
  all: (sql, parameters) => database.all(sql, parameters),
  allShared: (sql, parameters) => database.allShared(sql, parameters),
  readOneState: (read) => database.readOneState(read),
  write: (unit, options) => database.write((tx) => unit(counted(tx)), options),
  subscribe: (topic, callback) => database.subscribe(topic, callback),
  probe: () => database.probe(),
  close: () => database.close(),
};
const name = "base";
const now = Date.now();
const copying = { database: countedDatabase, clock: systemClock, assertTime: () => {} };

async function changeOf(): Promise<(tx: Transaction) => Promise<unknown>> {
  if (change === "reset") return (tx) => resetSandbox(tx, tenant, {}, now);
  if (change === "save") {
    const copied = await copySandbox(copying, tenant, name);
    return (tx) => saveSnapshot(tx, tenant, { name, ...copied, now });
  }
  if (change === "restore") {
    const copied = await copySnapshot(copying, tenant, name);
    return (tx) => restoreSnapshot(tx, tenant, { name, ...copied, now });
  }
  return async (tx) => {
    const at = await time.read(tx, tenant);
    const context = {
      tx,
      tenant,
      requestId: "req_0000000000000000000000",
      versions: new Versions(API_VERSIONS),
      ...at,
    };
    await createObject(context, "customer", { email: `${last}@example.com` });
  };
}

const TABLES = ["customers", "orders", "webhook_endpoints", "api_keys", "oauth_apps", "events"];

async function look(): Promise<object> {
  const sandbox = await database.get<{ id: number }>("SELECT id, account_id FROM environments WHERE name = 'sandbox'");
  const rows = TABLES.map(async (table) => {
    const sql = `SELECT COUNT(*) AS count FROM ${table} WHERE environment = $1`;
    return (await database.get<{ count: number }>(sql, [sandbox!.id]))!.count;
  });
  const snapshots = await database.all("SELECT id FROM environments WHERE name LIKE 'snapshot %'");
  return { sandbox, state: { rows: await Promise.all(rows), snapshots: snapshots.length } };
}

if (change !== "look") await countedDatabase.write(await changeOf(), { isolation: "read committed" });
process.stdout.write(`${JSON.stringify(change === "look" ? await look() : statements)}\n`);
await database.close();
