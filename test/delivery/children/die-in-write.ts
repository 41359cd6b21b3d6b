// Makes a change through the domain, and kills itself before the n-th statement of the transaction.
import { API_VERSIONS } from "../../../src/contract/versions.ts";
import { Versions } from "../../../src/platform/domain/versions.ts";
import { createObject } from "../../../src/platform/domain/objects.ts";
import { resetSandbox, restoreSnapshot, saveSnapshot } from "../../../src/platform/domain/sandbox.ts";
import type { RequestContext } from "../../../src/platform/domain/request-context.ts";
import type { Transaction } from "../../../src/platform/storage/database.ts";
import { openDatabase } from "../../../src/platform/storage/open-database.ts";
import { EnvironmentTime } from "../../../src/platform/time/environment-time.ts";
import { systemClock, systemRandom } from "../../../src/platform/system.ts";

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

await database.write(
  async (tx) => {
    const transaction = counted(tx);
    const at = await time.read(transaction, tenant);
    const now = Date.now();
    if (change === "reset") await resetSandbox(transaction, tenant, {}, now);
    else if (change === "save") await saveSnapshot(transaction, tenant, "base", now);
    else if (change === "restore") await restoreSnapshot(transaction, tenant, "base", now);
    else {
      const context = { tenant, requestId: "req_0000000000000000000000", versions: new Versions(API_VERSIONS), ...at };
      await createObject(transaction, context, "customer", { email: `${last}@example.com` });
    }
  },
  { isolation: "read committed" },
);
process.stdout.write(`${statements}\n`);
await database.close();
