// The API's own server without storage, as the baseline of a durable write.
import { createIdGenerator } from "../src/contract/ids.ts";
import { SCOPES } from "../src/contract/scopes.ts";
import { API_VERSIONS } from "../src/contract/versions.ts";
import { Versions } from "../src/platform/domain/versions.ts";
import { ClockTrust } from "../src/platform/time/clock-trust.ts";
import { EnvironmentTime } from "../src/platform/time/environment-time.ts";
import { serveApi } from "../src/platform/api/serve.ts";
import { createApp } from "../src/platform/http/app.ts";
import { createClientAddress } from "../src/platform/http/client-address.ts";
import { createAuthenticate } from "../src/platform/http/authenticate.ts";
import { KeyUsage } from "../src/platform/security/key-usage.ts";
import { RequestRecorder } from "../src/platform/observability/request-recorder.ts";
import type { Database, Transaction } from "../src/platform/storage/database.ts";
import { createVault } from "../src/platform/security/vault.ts";
import { systemClock, systemRandom } from "../src/platform/ports.ts";

const key = {
  id: "key_0000000000000000000000",
  environment: 1,
  environment_name: "sandbox",
  kind: "secret_key",
  prefix: "sk_sandbox_0",
  last4: "0000",
  scopes: JSON.stringify(SCOPES),
  ip_allowlist: "[]",
  expires_at: null,
  revoked_at: null,
  account_id: "acct_0000000000000000000000",
  account_name: "bench",
  account_version: "2026-11-01",
};

const nothing: Transaction = {
  dialect: "sqlite",
  isShared: true,
  get: (async (sql: string) => (sql.includes("FROM api_keys") ? key : undefined)) as Transaction["get"],
  all: async () => [],
  allShared: (async (sql: string) =>
    sql.includes("FROM environments") ? [{ name: "sandbox", clock_offset: 0 }] : []) as Transaction["allShared"],
  run: async () => 1,
  notify: () => {},
  claim: async () => true,
  lock: async () => {},
};
const database: Database = {
  ...nothing,
  write: (unit) => unit(nothing),
  readOneState: (read) => read(nothing),
  subscribe: () => () => {},
  probe: async () => {},
  close: async () => {},
};

const log = { debug() {}, info() {}, warn() {}, error() {} };
const vault = createVault(Buffer.alloc(32, 1), systemRandom);
const tools: Parameters<typeof createApp>[0] & Parameters<typeof serveApi>[1] = {
  database,
  vault,
  clock: systemClock,
  clockTrust: new ClockTrust(systemClock, log, undefined),
  random: systemRandom,
  newId: createIdGenerator((size) => systemRandom.bytes(size)),
  time: new EnvironmentTime(systemClock, systemRandom),
  urlRules: { allowHttp: true, blockReason: () => undefined, baseUrl: () => "" },
  log,
  versions: new Versions(API_VERSIONS),
  requests: new RequestRecorder({ database, clock: systemClock, log, vault }),
  report: (activity) => void process.stdout.write(`${JSON.stringify(activity)}\n`),
  baseUrl: () => "",
  publicUrl: undefined,
  rateLimit: undefined,
  requestSeconds: 20,
  clientAddress: (request) => request.socket.remoteAddress,
  contact: "mailto:bench@example.com",
  pageOfBadUrl: () => undefined,
  listeners: { sessionsIn: async () => [], endedIn: () => [], resultsOf: () => [] },
  clockAdvancer: {
    begin: () => Promise.reject(new Error("no clock here")),
    follow: () => Promise.reject(new Error("no clock here")),
  },
};
const app = createApp(tools);
serveApi(
  app,
  tools,
  createAuthenticate({
    database,
    vault,
    now: systemClock.now,
    usage: new KeyUsage({ database, clock: systemClock, log }),
    clientAddress: createClientAddress([]),
    publicUrl: undefined,
  }),
);
const baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify({ base_url: baseUrl })}\n`);
