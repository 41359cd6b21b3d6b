import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type Platform, startPlatform } from "../../src/platform/start.ts";
import { systemClock } from "../../src/platform/ports.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const MASTER_KEY = "5a".repeat(32);

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let receiver: ScriptedReceiver;
/** A separate process with a correct clock. */
let node: RunningPlatform;
let api: Api;
/** The platform in this process, and the shift of its monotonic clock since its start. */
let hosted: Platform;
let ahead: number;
let respond: (count: number, end: (status: number) => void) => void;

beforeAll(async () => {
  server = await usePostgres();
});
afterAll(() => server.remove());

beforeEach(async () => {
  database = await server.createDatabase();
  receiver = await startScriptedReceiver((_request, response) =>
    respond(receiver.received.length, (status) => response.writeHead(status).end()),
  );
  // It serves the API only; the other process delivers.
  node = await startNode(database, ["--role", "api"]);
  api = apiOf(node.baseUrl, node.sandboxKey);
  ahead = 0;
  const none = () => {};
  hosted = await startPlatform({
    host: "127.0.0.1",
    port: 0,
    database,
    masterKey: MASTER_KEY,
    version: "test",
    log: { debug: none, info: none, warn: none, error: none },
    report: none,
    allowPrivateTargets: true,
    clock: { ...systemClock, elapsed: () => systemClock.elapsed() + ahead },
  });
  await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
});
afterEach(async () => {
  await hosted.close();
  await node.kill();
  await receiver.close();
});

it("a process that was suspended with its machine leases deliveries for the usual time", async () => {
  let end: (status: number) => void = () => {};
  respond = (_count, respond) => (end = respond);
  ahead = -60_000;
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  // It was due before the suspension, so the process has already read it.
  await server.query("UPDATE deliveries SET next_attempt = 0", [], database);
  await receiver.until(1);
  const [lease] = await server.query(
    `SELECT lease_until > extract(epoch FROM clock_timestamp()) * 1000 AS lasts FROM deliveries`,
    [],
    database,
  );
  expect(lease).toEqual({ lasts: true });
  end(200);
  await expect.poll(async () => (await api("GET", "/v1/deliveries")).body.data[0].status).toBe("succeeded");
});

it("a delivery's attempts are in order although a process's clock is ahead", async () => {
  respond = (count, respond) => respond(count === 1 ? 500 : 200);
  ahead = 8000;
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const delivery = async () => (await api("GET", "/v1/deliveries")).body.data[0];
  await expect.poll(async () => (await delivery()).attempt_count).toBe(1);
  ahead = 0;
  const { id } = await delivery();
  await api("POST", `/v1/deliveries/${id}/retry`);
  await expect.poll(async () => (await delivery()).attempt_count).toBe(2);
  const { attempts } = (await api("GET", `/v1/deliveries/${id}`)).body as { attempts: { at: string }[] };
  const times = attempts.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
});
