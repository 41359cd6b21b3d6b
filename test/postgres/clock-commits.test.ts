import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { startLine } from "./line.ts";

let server: PostgresServer & { remove(): Promise<void> };
let line: Awaited<ReturnType<typeof startLine>>;
let database: string;
let node: RunningPlatform;
let api: Api;

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  line = await startLine(database);
  node = await startNode(line.url);
  api = apiOf(node.baseUrl, node.sandboxKey);
});
afterAll(async () => {
  await node.kill();
  line.close();
  await server.remove();
});

const clock = async () => (await api("GET", "/v1/test_clock")).body;
const advance = (key: string) =>
  api("POST", "/v1/test_clock/advance", { seconds: 60 }, { "Idempotency-Key": `clock-${key}` });
const isHeld = async () =>
  (await server.query("SELECT id FROM environments WHERE clock_held_until > 0", [], database)).length > 0;

it("an advance of the test clock whose commit got no response runs, and a retry finds it", async () => {
  const { offset_seconds: before } = await clock();
  line.state.breaksAtResponse = "COMMIT\0";
  const lost = await advance("begun");
  line.state.breaksAtResponse = undefined;
  expect([lost.status, lost.body.code]).toEqual([503, "unavailable"]);
  expect(lost.body.detail).toMatch(/may or may not have been made.*Idempotency-Key/);
  const again = await advance("begun");
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(again.body).toMatchObject({ status: "idle", offset_seconds: before + 60 });
  expect(await isHeld()).toBe(false);
  expect(await clock()).toMatchObject({ offset_seconds: before + 60 });
});

it("a step of the test clock whose commit got no response holds the clock no longer than other steps", async () => {
  let retried: ServerResponse | undefined;
  const receiver = await startScriptedReceiver((_request, response) => {
    if (receiver.received.length === 1) response.writeHead(500).end();
    else retried = response;
  });
  await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const delivery = async () => (await api("GET", "/v1/deliveries?limit=1")).body.data[0];
  await expect.poll(async () => (await delivery())?.attempt_count).toBe(1);
  const { offset_seconds: before } = await clock();
  const advanced = advance("step");
  await receiver.until(2);
  const { broken } = line.state;
  line.state.breaksAtResponse = "COMMIT\0";
  retried!.end();
  await expect.poll(() => line.state.broken).toBeGreaterThan(broken);
  line.state.breaksAtResponse = undefined;
  await advanced;
  await expect.poll(async () => (await clock()).status).toBe("idle");
  expect(await clock()).toMatchObject({ offset_seconds: before + 60, attempts: 1, succeeded: 1 });
  expect(await isHeld()).toBe(false);
  expect(await delivery()).toMatchObject({ status: "succeeded", attempt_count: 2 });
  expect(receiver.received).toHaveLength(2);
  await receiver.close();
});

it("an attempt of the test clock whose commit got no response counts once for its endpoint", async () => {
  let retried: ServerResponse | undefined;
  const receiver = await startScriptedReceiver((_request, response) => {
    if (receiver.received.length === 1) response.writeHead(500).end();
    else retried = response.writeHead(500);
  });
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["customer.created"] })).body;
  await api("POST", "/v1/customers", { email: "failed@example.com" });
  const failures = async () => {
    const rows = await server.query("SELECT failures FROM webhook_endpoints WHERE id = $1", [id], database);
    return (rows as { failures: number }[])[0]!.failures;
  };
  await expect.poll(failures).toBe(1);
  const advanced = advance("failed");
  await receiver.until(2);
  line.state.breaksAtResponse = "COMMIT\0";
  retried!.end();
  await expect.poll(failures).toBeGreaterThan(1);
  line.state.breaksAtResponse = undefined;
  await advanced;
  await expect.poll(async () => (await clock()).status).toBe("idle");
  expect([receiver.received.length, await failures()]).toEqual([2, 2]);
  await receiver.close();
});

it("an attempt of the test clock is finished by its own process even after its lease has expired", async () => {
  let retried: ServerResponse | undefined;
  const receiver = await startScriptedReceiver((_request, response) => {
    if (receiver.received.length === 1) response.writeHead(500).end();
    else retried = response;
  });
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["customer.created"] })).body;
  await api("POST", "/v1/customers", { email: "expired@example.com" });
  const newest = async () => (await api("GET", `/v1/deliveries?endpoint=${id}`)).body.data[0];
  await expect.poll(async () => (await newest())?.attempt_count).toBe(1);
  const advanced = advance("expired");
  await receiver.until(2);
  await server.query("UPDATE deliveries SET lease_until = 1 WHERE lease_until IS NOT NULL", [], database);
  // The worker takes over leases before it claims this delivery.
  const live = apiOf(node.baseUrl, node.liveKey);
  await live("POST", "/v1/webhook_endpoints", { url: "https://127.0.0.1:9/", events: ["*"] });
  await live("POST", "/v1/customers", { email: "live@example.com" });
  await expect.poll(async () => (await live("GET", "/v1/deliveries")).body.data[0]?.attempt_count).toBe(1);
  retried!.end();
  await advanced;
  await expect.poll(async () => (await clock()).status).toBe("idle");
  const { attempts } = (await api("GET", `/v1/deliveries/${(await newest()).id}`)).body;
  expect(attempts).toMatchObject([{ status_code: 500 }, { status_code: 200 }]);
  await receiver.close();
});

it("an advance of the test clock whose progress cannot be read is reported as started, and a retry returns the result", async () => {
  let retried: ServerResponse | undefined;
  const receiver = await startScriptedReceiver((_request, response) => {
    if (receiver.received.length === 1) response.writeHead(500).end();
    else retried = response;
  });
  const endpoint = { url: receiver.url, events: ["customer.created"] };
  const { id } = (await api("POST", "/v1/webhook_endpoints", endpoint)).body;
  await api("POST", "/v1/customers", { email: "ada@example.com" });
  const delivery = async () => (await api("GET", `/v1/deliveries?endpoint=${id}`)).body.data[0];
  await expect.poll(async () => (await delivery())?.attempt_count).toBe(1);
  const advanced = advance("cut");
  await receiver.until(2);
  // Collects everything sent from now on.
  line.state.breaksAt = "\0";
  const cut = await advanced;
  line.state.breaksAt = undefined;
  retried!.end();
  expect([cut.status, cut.body.code]).toEqual([503, "unavailable"]);
  expect(cut.body.detail).toMatch(/its work has begun/);
  await expect.poll(async () => (await clock()).status).toBe("idle");
  const again = await advance("cut");
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(again.body).toMatchObject({ status: "idle", target: (await clock()).target });
  await receiver.close();
});
