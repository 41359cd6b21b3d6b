import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeliveryBench, type Shown, startDeliveryBench } from "./support/delivery-bench.ts";
import { hostPlatform } from "./support/hosted-platform.ts";
import { startScriptedReceiver } from "./support/scripted-receiver.ts";
import { advanceClock } from "../../support/advance-clock.ts";

let bench: DeliveryBench;
let createCustomer: DeliveryBench["createCustomer"];
let createEndpoint: DeliveryBench["createEndpoint"];
let delivered: DeliveryBench["delivered"];
let disable: DeliveryBench["disable"];
let platform: DeliveryBench["platform"];
let remove: DeliveryBench["remove"];

beforeAll(async () => {
  bench = await startDeliveryBench();
  ({ createCustomer, createEndpoint, delivered, disable, platform, remove } = bench);
});
afterAll(() => bench.close());

describe("a manual retry", () => {
  it("attempts a pending delivery now, and gives a failed delivery another 3 days", async () => {
    let status = 500;
    const flaky = await startScriptedReceiver((_request, response) => response.writeHead(status).end());
    const { id } = await createEndpoint(flaky.url);
    const event = await createCustomer();
    const { id: delivery } = await delivered(event, id);
    const retried = await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    expect(retried.status).toBe(200);
    expect(retried.body).toMatchObject({ id: delivery, status: "pending" });
    await delivered(event, id, 2);
    await advanceClock(platform.api, 3 * 86_400);
    const failed = (await platform.api("GET", `/v1/deliveries/${delivery}`)).body as Shown;
    expect(failed.status).toBe("failed");
    await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    const again = await delivered(event, id, failed.attempt_count + 1);
    expect(again).toMatchObject({ status: "pending", next_attempt: expect.any(String) });
    status = 204;
    await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    const done = await delivered(event, id, failed.attempt_count + 2);
    expect(done.status).toBe("succeeded");
    expect(done.attempts.map(({ status_code: code }) => code).slice(-3)).toEqual([500, 500, 204]);
    expect(flaky.received.map(({ headers }) => headers["service-delivery-attempt"])).toEqual(
      flaky.received.map((_, index) => String(index + 1)),
    );
    const rejected = await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    expect(rejected.status).toBe(409);
    expect(rejected.body.code).toBe("delivery_not_retryable");
    await remove(id);
    await flaky.close();
  });

  it("during an attempt is made right after that attempt fails", async () => {
    let respond: (() => void) | undefined;
    const slow = await startScriptedReceiver((_request, response) => {
      if (slow.received.length === 1) respond = () => void response.writeHead(500).end();
      else response.end();
    });
    const { id } = await createEndpoint(slow.url);
    const event = await createCustomer();
    await slow.until(1);
    const [{ id: delivery }] = (await platform.api("GET", `/v1/deliveries?event=${event}&endpoint=${id}`)).body.data;
    expect((await platform.api("POST", `/v1/deliveries/${delivery}/retry`)).status).toBe(200);
    respond!();
    const done = await delivered(event, id, 2);
    expect(done.attempts.map(({ status_code: code }) => code)).toEqual([500, 200]);
    await remove(id);
    await slow.close();
  });

  it("is rejected if nothing can be sent", async () => {
    const { id } = await createEndpoint("/500/refuse");
    const { id: delivery } = await delivered(await createCustomer(), id);
    await disable(id);
    const disabled = await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    expect([disabled.status, disabled.body.code]).toEqual([409, "endpoint_disabled"]);
    await remove(id);
    const deleted = await platform.api("POST", `/v1/deliveries/${delivery}/retry`);
    expect([deleted.status, deleted.body.code]).toEqual([409, "endpoint_deleted"]);
    expect((await platform.live("POST", `/v1/deliveries/${delivery}/retry`)).status).toBe(404);
    expect((await platform.api("POST", "/v1/deliveries/dlv_nonsense/retry")).status).toBe(404);
  });
});

describe("pending deliveries", () => {
  it("of a disabled endpoint wait until it is enabled", async () => {
    let status = 500;
    const flaky = await startScriptedReceiver((_request, response) => response.writeHead(status).end());
    const { id } = await createEndpoint(flaky.url);
    const event = await createCustomer();
    await delivered(event, id);
    await disable(id);
    await advanceClock(platform.api, 3600);
    expect(await delivered(event, id)).toMatchObject({ status: "pending", next_attempt: null, attempt_count: 1 });
    status = 200;
    await platform.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "enabled" });
    expect(await delivered(event, id, 2)).toMatchObject({ status: "succeeded" });
    await remove(id);
    await flaky.close();
  });

  it("of an endpoint that stays disabled fail after their 3 days, with the reason", async () => {
    const { id } = await createEndpoint("/500/paused");
    const event = await createCustomer();
    await delivered(event, id);
    await disable(id);
    await advanceClock(platform.api, 3 * 86_400 + 60);
    const ended = await delivered(event, id, 2);
    expect(ended).toMatchObject({ status: "failed", next_attempt: null });
    expect(ended.attempts[1]).toMatchObject({
      status_code: null,
      error: expect.stringMatching(/^endpoint_disabled: /),
    });
    await remove(id);
  });

  it("wait another 3 days after a retry if their endpoint is disabled before the attempt", async () => {
    const slow = await hostPlatform({ deliveryLimits: { perEndpoint: 1 } });
    const { api } = slow;
    let respond: ((response: ServerResponse) => void) | undefined;
    const gone = await startScriptedReceiver((_request, response) => {
      if (respond === undefined) response.writeHead(500).end();
      else respond(response);
    });
    await api("POST", "/v1/webhook_endpoints", { url: gone.url, events: ["customer.created"] });
    for (const name of ["ada", "bob"]) await api("POST", "/v1/customers", { email: `${name}@example.com` });
    const shown = async () => (await api("GET", "/v1/deliveries")).body.data as Shown[];
    const counts = async () => (await shown()).map(({ attempt_count: count }) => count);
    await expect.poll(counts).toEqual([1, 1]);
    const advance = (seconds: number) => advanceClock(api, seconds);
    await advance(4 * 86_400);
    const [waiting, attempted] = await shown();
    expect([waiting!.status, attempted!.status]).toEqual(["failed", "failed"]);
    const attempt = new Promise<ServerResponse>((resolve) => (respond = resolve));
    await api("POST", `/v1/deliveries/${attempted!.id}/retry`);
    const response = await attempt;
    await api("POST", `/v1/deliveries/${waiting!.id}/retry`);
    response.writeHead(410).end();
    await expect.poll(counts).toEqual([waiting!.attempt_count, attempted!.attempt_count + 1]);
    const statusOfWaiting = async () => (await shown())[0]!.status;
    // An advance fails what has waited for too long.
    await advance(60);
    expect(await statusOfWaiting()).toBe("pending");
    await advance(3 * 86_400);
    expect(await statusOfWaiting()).toBe("failed");
    await slow.close();
    await gone.close();
  });

  it("of a deleted endpoint are canceled immediately, with the reason", async () => {
    const { id } = await createEndpoint("/500/deleted");
    const event = await createCustomer();
    await delivered(event, id);
    await remove(id);
    const ended = await delivered(event, id, 2);
    expect(ended).toMatchObject({ status: "canceled", next_attempt: null });
    expect(ended.attempts[1]).toMatchObject({ status_code: null, error: expect.stringMatching(/^endpoint_deleted: /) });
    const listed = await platform.api("GET", `/v1/deliveries?status=canceled&endpoint=${id}`);
    expect(listed.body.data).toHaveLength(1);
  });

  it("are not attempted again after they are canceled, even if an attempt is in flight", async () => {
    let respond: (() => void) | undefined;
    const slow = await startScriptedReceiver((_request, response) => {
      respond = () => void response.writeHead(500).end();
    });
    const { id } = await createEndpoint(slow.url);
    const event = await createCustomer();
    await slow.until(1);
    const [{ id: delivery }] = (await platform.api("GET", `/v1/deliveries?event=${event}&endpoint=${id}`)).body.data;
    const canceled = await platform.api("POST", `/v1/deliveries/${delivery}/cancel`);
    expect(canceled).toMatchObject({ status: 200, body: { status: "canceled", next_attempt: null } });
    respond!();
    const ended = await delivered(event, id);
    expect(ended).toMatchObject({ status: "canceled", next_attempt: null });
    expect(ended.attempts).toHaveLength(1);
    await remove(id);
    await slow.close();
  });

  it("can be retried after they were canceled", async () => {
    let status = 500;
    const flaky = await startScriptedReceiver((_request, response) => response.writeHead(status).end());
    const { id } = await createEndpoint(flaky.url);
    const event = await createCustomer();
    const { id: delivery } = await delivered(event, id);
    expect((await platform.api("POST", `/v1/deliveries/${delivery}/cancel`)).status).toBe(200);
    status = 200;
    expect((await platform.api("POST", `/v1/deliveries/${delivery}/retry`)).status).toBe(200);
    expect(await delivered(event, id, 2)).toMatchObject({ status: "succeeded" });
    const late = await platform.api("POST", `/v1/deliveries/${delivery}/cancel`);
    expect([late.status, late.body.code]).toEqual([409, "delivery_not_cancelable"]);
    await remove(id);
    await flaky.close();
  });

  it("survive a restart", async () => {
    const { id } = await createEndpoint("/500/restart");
    const event = await createCustomer();
    const before = await delivered(event, id);
    await platform.restart();
    expect(await delivered(event, id)).toEqual(before);
    await remove(id);
  });
});
