import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { BulkOperation } from "../../../src/contract/schemas/bulk-operation.ts";
import { formatTimestamp } from "../../../src/contract/timestamps.ts";
import { advanceClock } from "../../support/advance-clock.ts";
import { type Api, apiOf } from "../../support/api.ts";
import { freePort } from "../../support/free-port.ts";
import { type RunningPlatform, startNode, startPlatformOn } from "../../support/platform.ts";
import { type PostgresServer, usePostgres } from "../../support/postgres.ts";
import { followStream } from "./support/event-stream.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const SECONDS_OF_RETRIES = 3 * 86_400 + 60;

/** A platform whose deliveries fail until the test repairs the receiver. */
interface Scene {
  platform: RunningPlatform;
  api: Api;
  receiver: ScriptedReceiver;
  repair(): void;
  break(): void;
}

async function startScene(start: () => Promise<RunningPlatform>): Promise<Scene> {
  const platform = await start();
  let status = 500;
  const receiver = await startScriptedReceiver((_request, response) => response.writeHead(status).end());
  return {
    platform,
    api: apiOf(platform.baseUrl, platform.sandboxKey),
    receiver,
    repair: () => (status = 200),
    break: () => (status = 500),
  };
}

const createEndpoint = async ({ api, receiver }: Scene, path: string, events = ["order.*"]): Promise<string> =>
  (await api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events })).body.id;

async function createOrders({ api }: Scene, count: number): Promise<void> {
  const order = { amount: 1, currency: "EUR" };
  await Promise.all(Array.from({ length: count }, () => api("POST", "/v1/orders", order)));
}

/** Waits for the first attempts, then advances the clock until all deliveries have failed. */
async function failAll({ api }: Scene): Promise<void> {
  const pending = async () => (await api("GET", "/v1/deliveries?status=pending&limit=100")).body.data;
  await expect
    .poll(async () => (await pending()).every((one: { attempt_count: number }) => one.attempt_count > 0))
    .toBe(true);
  await advanceClock(api, SECONDS_OF_RETRIES);
  await expect.poll(async () => (await pending()).length).toBe(0);
}

/** Returns a time after all earlier objects were created, and before all later ones are. */
async function passedTime({ api }: Scene): Promise<string> {
  await advanceClock(api, 3600);
  const { body: clock } = await api("GET", "/v1/test_clock");
  await advanceClock(api, 5);
  return clock.now;
}

const ended = async ({ api }: Scene, id: string | null): Promise<BulkOperation> => {
  const operation = async () => (await api("GET", `/v1/bulk_operations/${id}`)).body as BulkOperation;
  await expect.poll(async () => (await operation()).status).not.toBe("running");
  return operation();
};

const count = async ({ api }: Scene, query: string): Promise<number> => {
  let total = 0;
  for (let cursor = ""; ;) {
    const { body } = await api("GET", `/v1/deliveries?limit=100&${query}${cursor && `&cursor=${cursor}`}`);
    total += body.data.length;
    if (!body.has_more) return total;
    cursor = body.next_cursor;
  }
};

describe.each(["sqlite", "postgres"] as const)("bulk operations on %s", (dialect) => {
  let scene: Scene;
  let server: (PostgresServer & { remove(): Promise<void> }) | undefined;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "service-bulk-"));
    server = dialect === "postgres" ? await usePostgres() : undefined;
    const database = (await server?.createDatabase()) ?? join(folder, "platform.db");
    scene = await startScene(async () =>
      server === undefined ? startPlatformOn(database, await freePort()) : startNode(database),
    );
  });
  afterAll(async () => {
    await scene.platform.stop();
    await scene.receiver.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    scene.break();
    const { data } = (await scene.api("GET", "/v1/webhook_endpoints")).body;
    for (const { id } of data) await scene.api("DELETE", `/v1/webhook_endpoints/${id}`);
  });

  it("retry every failed delivery once, count them first, and report progress", async () => {
    const endpoint = await createEndpoint(scene, "/retry", ["order.*"]);
    await createOrders(scene, 120);
    await failAll(scene);
    const { body: counted } = await scene.api("POST", "/v1/deliveries/retry", { endpoint, dry_run: true });
    expect(counted).toMatchObject({ id: null, total: 120, done: 0, filters: { endpoint, status: "failed" } });
    const { body: earlier } = await scene.api("GET", "/v1/bulk_operations");
    expect(earlier.data.map(({ filters }: BulkOperation) => filters)).not.toContainEqual(counted.filters);
    scene.repair();
    const before = scene.receiver.at("/retry").length;
    const { status, body: started } = await scene.api("POST", "/v1/deliveries/retry", { endpoint });
    expect({ status, started }).toMatchObject({
      status: 201,
      started: { id: expect.stringMatching(/^blk_/), type: "deliveries.retry", status: "running", total: 120 },
    });
    expect(await ended(scene, started.id)).toMatchObject({ status: "succeeded", total: 120, done: 120, failed: 0 });
    await expect.poll(() => count(scene, `endpoint=${endpoint}&status=succeeded`)).toBe(120);
    expect(scene.receiver.at("/retry").length - before).toBe(120);
    const { body: list } = await scene.api("GET", "/v1/bulk_operations");
    expect(list.data.slice(1)).toEqual(earlier.data);
    expect(list.data[0].id).toBe(started.id);
  });

  it("count deliveries that cannot be retried, with the reason", async () => {
    const endpoint = await createEndpoint(scene, "/disabled");
    await createOrders(scene, 3);
    await failAll(scene);
    await scene.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "disabled" });
    const { body } = await scene.api("POST", "/v1/deliveries/retry", { endpoint });
    expect(await ended(scene, body.id)).toMatchObject({
      status: "succeeded",
      total: 3,
      done: 0,
      failed: 3,
      last_error: expect.stringContaining("is disabled"),
    });
  });

  it("replay only to the endpoints at which an event failed", async () => {
    const from = await passedTime(scene);
    const deleted = await createEndpoint(scene, "/deleted");
    await createOrders(scene, 3);
    await failAll(scene);
    await scene.api("DELETE", `/v1/webhook_endpoints/${deleted}`);
    const broken = await createEndpoint(scene, "/broken");
    await createOrders(scene, 4);
    await failAll(scene);
    scene.repair();
    const working = await createEndpoint(scene, "/working");
    await createOrders(scene, 2);
    const replay = { status: "failed", type: "order.*", created_after: from };
    const { body } = await scene.api("POST", "/v1/events/replay", replay);
    expect(await ended(scene, body.id)).toMatchObject({ type: "events.replay", done: 4, failed: 3, filters: replay });
    await expect.poll(() => count(scene, `endpoint=${broken}&status=succeeded`)).toBe(6);
    expect(await count(scene, `endpoint=${working}`)).toBe(2);
  });

  it("replay only the events that an endpoint subscribes to and missed", async () => {
    scene.repair();
    const from = await passedTime(scene);
    const endpoint = await createEndpoint(scene, "/missed");
    await createOrders(scene, 2);
    await expect.poll(() => count(scene, `endpoint=${endpoint}&status=succeeded`)).toBe(2);
    const update = (status: string) => scene.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status });
    await update("disabled");
    await createOrders(scene, 3);
    await scene.api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
    const replay = { endpoint, missed: true, created_after: from };
    const { body: counted } = await scene.api("POST", "/v1/events/replay", { ...replay, dry_run: true });
    expect(counted).toMatchObject({ total: 3, filters: replay });
    const { body: none } = await scene.api("POST", "/v1/events/replay", {
      ...replay,
      type: "payment.*",
      dry_run: true,
    });
    expect(none.total).toBe(0);
    await update("enabled");
    const { body } = await scene.api("POST", "/v1/events/replay", replay);
    expect(await ended(scene, body.id)).toMatchObject({ status: "succeeded", total: 3, done: 3, failed: 0 });
    await expect.poll(() => count(scene, `endpoint=${endpoint}&status=succeeded`)).toBe(5);
    for (const fields of [{ missed: true }, { ...replay, status: "failed" }]) {
      expect((await scene.api("POST", "/v1/events/replay", fields)).status).toBe(400);
    }
  });

  it("replay no event about an endpoint to itself, because it did not miss that", async () => {
    scene.repair();
    const endpoint = await createEndpoint(scene, "/own", ["*"]);
    await scene.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "disabled" });
    await createOrders(scene, 1);
    const { body: found } = await scene.api("GET", `/v1/webhook_endpoints/${endpoint}`);
    const from = formatTimestamp(Date.parse(found.disabled_at) - 1000);
    const replay = { endpoint, missed: true, created_after: from };
    const { body: counted } = await scene.api("POST", "/v1/events/replay", { ...replay, dry_run: true });
    expect(counted.total).toBe(1);
    await scene.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "enabled" });
    const { body } = await scene.api("POST", "/v1/events/replay", replay);
    expect(await ended(scene, body.id)).toMatchObject({ total: 1, done: 1, failed: 0 });
    expect((await scene.api("GET", `/v1/deliveries?endpoint=${endpoint}`)).body.data).toHaveLength(1);
  });

  it.each(["deleted", "disabled"])("replay to the other endpoints if one was %s", async (change) => {
    const from = await passedTime(scene);
    const lost = await createEndpoint(scene, "/lost");
    const repaired = await createEndpoint(scene, "/repaired");
    await createOrders(scene, 2);
    await failAll(scene);
    if (change === "deleted") await scene.api("DELETE", `/v1/webhook_endpoints/${lost}`);
    else await scene.api("PATCH", `/v1/webhook_endpoints/${lost}`, { status: "disabled" });
    scene.repair();
    const replay = { status: "failed", type: "order.*", created_after: from };
    const { body } = await scene.api("POST", "/v1/events/replay", replay);
    expect(await ended(scene, body.id)).toMatchObject({ total: 2, done: 2, failed: 0, last_error: null });
    await expect.poll(() => count(scene, `endpoint=${repaired}&status=succeeded`)).toBe(2);
  });

  it("replay events that many endpoints received, each to streams only once", async () => {
    const from = await passedTime(scene);
    scene.repair();
    const paths = Array.from({ length: 25 }, (_, index) => `/many/${index}`);
    for (const path of paths) await createEndpoint(scene, path);
    await createOrders(scene, 50);
    const sent = () => paths.map((path) => scene.receiver.at(path).length);
    await expect.poll(sent, { timeout: 120_000 }).toEqual(paths.map(() => 50));
    await expect.poll(() => count(scene, "status=pending"), { timeout: 120_000 }).toBe(0);
    const stream = await followStream(scene.platform.baseUrl, scene.platform.sandboxKey, { after: "now" });
    const replay = { status: "succeeded", type: "order.*", created_after: from };
    const { body } = await scene.api("POST", "/v1/events/replay", replay);
    expect(await ended(scene, body.id)).toMatchObject({ status: "succeeded", total: 50, done: 50, failed: 0 });
    await expect.poll(sent, { timeout: 120_000 }).toEqual(paths.map(() => 100));
    await scene.api("POST", "/v1/customers", { email: "last@example.com" });
    const types = () => stream.messages.slice(1).map(({ data }) => (JSON.parse(data) as { type: string }).type);
    await expect.poll(() => types().at(-1)).toBe("customer.created");
    expect(types()).toHaveLength(51);
    stream.close();
  });

  it("replay events between two times to every subscribed endpoint", async () => {
    scene.repair();
    const from = await passedTime(scene);
    await createOrders(scene, 3);
    const endpoint = await createEndpoint(scene, "/late");
    const { body } = await scene.api("POST", "/v1/events/replay", { created_after: from });
    expect(await ended(scene, body.id)).toMatchObject({ status: "succeeded", total: 3, done: 3 });
    await expect.poll(() => count(scene, `endpoint=${endpoint}&status=succeeded`)).toBe(3);
  });

  it("reject an endpoint that does not exist and times in the wrong order", async () => {
    const missing = { endpoint: "we_4Vf8aTqz0bKm2sNw9XyRcd" };
    const unknown = await scene.api("POST", "/v1/events/replay", missing);
    expect(unknown.body).toMatchObject({ status: 400, errors: [{ pointer: "/endpoint", code: "unknown" }] });
    const times = { created_after: "2026-01-02T00:00:00Z", created_before: "2026-01-01T00:00:00Z" };
    const reversed = await scene.api("POST", "/v1/deliveries/retry", times);
    expect(reversed.body).toMatchObject({ status: 400, errors: [{ pointer: "/created_after" }] });
    const live = apiOf(scene.platform.baseUrl, scene.platform.liveKey);
    expect((await live("GET", "/v1/bulk_operations")).body.data).toEqual([]);
  });
});

describe("a running bulk operation", () => {
  const EVENTS = 400;
  let folder: string;
  let database: string;
  let scene: Scene;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "service-bulk-"));
    database = join(folder, "platform.db");
    scene = await startScene(async () => startPlatformOn(database, await freePort()));
    await createOrders(scene, EVENTS);
    scene.repair();
    await createEndpoint(scene, "/hook");
  });
  afterAll(async () => {
    await scene.platform.kill();
    await scene.receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const begin = async () => (await scene.api("POST", "/v1/events/replay", {})).body as BulkOperation;
  const progress = async (id: string | null) =>
    (await scene.api("GET", `/v1/bulk_operations/${id}`)).body as BulkOperation;

  it("continues after its process was killed, and repeats nothing", async () => {
    const before = await count(scene, "");
    const { id } = await begin();
    await expect.poll(async () => (await progress(id)).done).toBeGreaterThan(0);
    await scene.platform.kill();
    const { sandboxKey } = scene.platform;
    scene.platform = await startPlatformOn(database, await freePort());
    scene.api = apiOf(scene.platform.baseUrl, sandboxKey);
    expect(await ended(scene, id)).toMatchObject({ status: "succeeded", total: EVENTS, done: EVENTS, failed: 0 });
    expect((await count(scene, "")) - before).toBe(EVENTS);
  });

  it("stops when it is canceled, and stays canceled", async () => {
    let before: number;
    let canceled: BulkOperation;
    const cancel = async (id: string | null) =>
      (await scene.api("POST", `/v1/bulk_operations/${id}/cancel`)).body as BulkOperation;
    do {
      before = await count(scene, "");
      canceled = await cancel((await begin()).id);
      // On a busy machine, an operation may have ended before.
    } while (canceled.status === "succeeded");
    expect(canceled).toMatchObject({ status: "canceled", total: EVENTS, ended_at: expect.any(String) });
    expect(canceled.done).toBeLessThan(EVENTS);
    const { id: next } = await begin();
    expect((await ended(scene, next)).done).toBe(EVENTS);
    expect(await cancel(canceled.id)).toEqual(canceled);
    expect((await count(scene, "")) - before).toBe(EVENTS + canceled.done);
  });
});
