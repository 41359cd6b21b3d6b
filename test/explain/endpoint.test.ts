import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { formatTimestamp } from "../../src/contract/timestamps.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { explained, plain } from "./support/explained.ts";

/** The statuses of the next responses. Afterwards the receiver responds with 200. */
const statuses: number[] = [];
/** In place of a status: the test sends the response. */
const HELD = 0;
const held: ServerResponse[] = [];
const world = explained(({ path }, response) => {
  const status = statuses.shift() ?? 200;
  if (status === HELD) return void held.push(response);
  if (path === "/busy") response.setHeader("Retry-After", "3600");
  response.writeHead(status).end(status === 200 ? "ok" : "the warehouse is closed");
});
beforeEach(async () => {
  await world.clear();
  statuses.length = 0;
});

const NOTHING_WRONG = {
  action: "Nothing to repair. To test the endpoint, trigger an event that it subscribes to",
  fix: "service trigger customer.deleted",
};
const DELIVERED = { code: "delivered", action: null, fix: null };
const succeeded = (event: string) =>
  expect.poll(async () => (await world.deliveries(`event=${event}&status=succeeded`)).length).toBe(1);

describe("service why for an endpoint", () => {
  it("reports that no event happened, or none of its types", async () => {
    // Before the clock has passed a second, earlier events are as old as the endpoint.
    await advanceClock(world.api, 2);
    const endpoint = await world.endpoint("/a", ["customer.deleted"], "Billing");
    expect(plain(await world.why(endpoint))).toEqual({
      code: "no_event",
      summary: "No event has happened since Billing was created at T",
      evidence: "It subscribes to customer.deleted",
      ...NOTHING_WRONG,
    });
    await world.order(0);
    expect(plain(await world.why(endpoint))).toEqual({
      code: "no_matching_event",
      summary: "Billing subscribes to customer.deleted, and no such event has happened since it was created",
      evidence: "Other events happened: order.created (T)",
      ...NOTHING_WRONG,
    });
    await world.api("POST", `/v1/webhook_endpoints/${endpoint}/ping`, {});
    await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=succeeded`)).length).toBe(1);
    expect(plain(await world.why(endpoint)).code).toBe("no_matching_event");
    const events = ["customer.deleted", "order.created"];
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { events });
    const answer = await world.why(endpoint);
    expect(plain(answer)).toMatchObject({
      code: "no_matching_event",
      summary: "The last order.created happened at T, before Billing subscribed to it",
      evidence: "It has subscribed to customer.deleted, order.created since T",
      action: expect.stringMatching(/^Replay what it missed since 2/),
      fix: expect.stringMatching(`^service events replay --missed --since 2\\S+ --endpoint ${endpoint}$`),
    });
    await world.run(`${answer.fix!} --yes`);
    await expect.poll(async () => (await world.why(endpoint)).code).toBe("delivered");
  });

  it("reports that events happened while it was disabled, and suggests replaying all of them", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    await advanceClock(world.api, 10);
    const { event: delivered } = await world.order();
    const update = (status: string) => world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status });
    const { disabled_at: disabledAt } = (await update("disabled")).body;
    const { event: first } = await world.order(0);
    await world.api("POST", `/v1/orders/${(first.data.object as { id: string }).id}/complete`);
    await world.api("POST", "/v1/customers", { email: "disabled@example.com" });
    await advanceClock(world.api, 60);
    // The response to a long advance is 202.
    const slow = await world.endpoint("/slow", ["payment.*"]);
    statuses.push(500, HELD);
    await world.api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
    await expect.poll(async () => (await world.deliveries(`endpoint=${slow}`))[0]?.attempt_count).toBe(1);
    expect((await world.api("POST", "/v1/test_clock/advance", { seconds: 3600 })).status).toBe(202);
    held.pop()!.end();
    await expect.poll(async () => (await world.api("GET", "/v1/test_clock")).body.status).toBe("idle");
    const { event: second } = await world.order(0);
    await advanceClock(world.api, 60);
    const replay = expect.stringMatching(
      `^service endpoints enable ${endpoint} && service events replay --missed --since 2\\S+ --endpoint ${endpoint}$`,
    );
    const advice = { action: "Enable the endpoint, and replay what it missed", fix: replay };
    expect(await world.why(endpoint)).toMatchObject({ code: "endpoint_disabled", ...advice });
    await update("enabled");
    const answer = await world.why(endpoint);
    expect(plain(answer)).toMatchObject({
      code: "no_matching_event",
      summary: "The last order.created happened at T, while Billing was disabled",
      evidence: "It was enabled at T, and subscribes to order.*",
    });
    expect(answer.action).toBe(`Replay what it missed since ${disabledAt}`);
    const { stdout } = await world.run(`${answer.fix!} --yes --json`);
    expect(JSON.parse(stdout)).toMatchObject({ total: 3, done: 3 });
    await succeeded(first.id);
    await succeeded(second.id);
    await succeeded(delivered.id);
  });

  it("reports which API key disabled it, and how many deliveries are waiting", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(500);
    await world.order();
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "disabled" });
    expect(plain(await world.why(endpoint))).toEqual({
      code: "endpoint_disabled",
      summary: 'Billing was disabled with the API key "First key" at T; 1 delivery is held until it is enabled',
      evidence: expect.stringMatching(/ 500\b.*\. Last failed attempt at T: 500 in .*\. Disabled by request req_\w+$/),
      action: expect.stringMatching(/, then enable the endpoint$/),
      fix: `service endpoints enable ${endpoint}`,
    });
    await world.run(`service endpoints enable ${endpoint}`);
    expect((await world.api("GET", `/v1/webhook_endpoints/${endpoint}`)).body.status).toBe("enabled");
  });

  it("suggests triggering the first event that it subscribes to", async () => {
    await advanceClock(world.api, 2);
    const endpoint = await world.endpoint("/a", ["customer.deleted"], "Billing");
    await world.run((await world.why(endpoint)).fix);
    await expect.poll(async () => (await world.why(endpoint)).code).toBe("delivered");
  });

  it("reports that all is well, with the last response, although the clock is ahead", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    await advanceClock(world.api, 60);
    await world.order();
    await world.order();
    expect(plain(await world.why(endpoint))).toEqual({
      ...DELIVERED,
      summary: "Both attempts to Billing in the last hour succeeded, the last one at T",
      evidence: 'Last attempt at T: 200 in N ms, "ok"',
    });
    await advanceClock(world.api, 2 * 3600);
    expect(plain(await world.why(endpoint))).toEqual({
      ...DELIVERED,
      summary: "The last delivery to Billing succeeded at T; no matching event has happened since",
      evidence: "It subscribes to order.*",
    });
  });

  it("reports since when it fails, although its next attempts are hours away", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(...Array.from({ length: 40 }, () => 500));
    await world.order();
    await world.order();
    // After 10 attempts, the next one is due in more than 3 hours.
    await advanceClock(world.api, 390 * 60);
    expect(plain(await world.why(endpoint))).toEqual({
      code: "receiver_error",
      summary: "Billing responded with 500; every attempt since T has failed, and 2 deliveries are being retried",
      evidence: 'Last failed attempt at T: 500 in N ms, "the warehouse is closed"',
      action: "Fix the error in the receiver, then retry",
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
    });
  });

  it("quotes the newest attempt, although it is not of the newest delivery", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(500, 500, 500);
    const { deliveries } = await world.order();
    await world.order();
    await advanceClock(world.api, 10);
    const { id } = deliveries[0]!;
    await world.api("POST", `/v1/deliveries/${id}/retry`);
    const retried = async () => (await world.api("GET", `/v1/deliveries/${id}`)).body;
    await expect.poll(async () => (await retried()).attempt_count).toBe(2);
    const { last_attempt_at: at } = await retried();
    // The evidence is not the test event that failed after it.
    statuses.unshift(500);
    await world.api("POST", `/v1/webhook_endpoints/${endpoint}/ping`, {});
    const ping = async () => (await world.deliveries(`endpoint=${endpoint}`))[0]!;
    await expect.poll(async () => (await ping()).attempt_count).toBe(1);
    expect((await ping()).event_type).toBe("webhook_endpoint.ping");
    const { evidence } = await world.why(endpoint);
    expect(evidence).toMatch(new RegExp(`^Last failed attempt at ${at}: 500`));
  });

  it("reports how many deliveries failed for good, also once the endpoint has recovered", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(...Array.from({ length: 100 }, () => 500));
    await world.order();
    await world.order();
    await advanceClock(world.api, 4 * 86_400);
    await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=failed`)).length).toBe(2);
    const lost = "; 2 deliveries will not arrive unless you retry them";
    const fix = `service deliveries retry --failed --endpoint ${endpoint}`;
    expect(plain(await world.why(endpoint))).toMatchObject({
      summary: `Billing responded with 500; every attempt since T has failed${lost}`,
      fix,
    });
    statuses.push(500);
    await world.order();
    statuses.length = 0;
    await advanceClock(world.api, 60);
    await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=succeeded`)).length).toBe(1);
    const recovered = await world.why(endpoint);
    expect(plain(recovered)).toMatchObject({
      code: "endpoint_recovered",
      summary: "Billing works again, but 2 older deliveries have not arrived",
      evidence: expect.stringMatching(/^Last failure: attempt \d+ at T: 500 in N ms, "the warehouse is closed"$/),
      action: "Retry the deliveries that did not arrive",
      fix,
    });
    await world.run(`${fix} --yes`);
    await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=succeeded`)).length).toBe(3);
    expect(plain(await world.why(endpoint))).toMatchObject({ action: null, fix: null });
  });

  it("does not forget what failed before it was disabled, once it works again", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(410);
    const { event } = await world.order();
    const retry = `service deliveries retry --failed --endpoint ${endpoint}`;
    expect(plain(await world.why(endpoint))).toMatchObject({
      summary: "Billing was disabled at T, because it responded with 410 Gone; 1 delivery failed",
      action: expect.stringMatching(
        /\. Otherwise enable the endpoint once its receiver is back, then retry what failed$/,
      ),
      fix: `service endpoints enable ${endpoint} && ${retry}`,
    });
    for (let count = 0; count < 103; count++) await world.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    const advice = await world.why(endpoint);
    expect(plain(advice).summary).toMatch(/ 410 Gone; 1 delivery failed and 103 events were missed$/);
    expect(advice.action).toMatch(/ is back, and replay what it missed, then retry what failed$/);
    expect(advice.fix).toMatch(
      /^service endpoints enable \S+ && service events replay --missed .+ && service deliveries/,
    );
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "enabled" });
    // In this hour, no attempt failed.
    await advanceClock(world.api, 2 * 3600);
    await world.order();
    const answer = await world.why(endpoint);
    expect(plain(answer)).toEqual({
      code: "endpoint_recovered",
      summary: "Billing works again, but 1 older delivery has not arrived",
      evidence: 'Last failure: attempt 1 at T: 410 in N ms, "the warehouse is closed"',
      action: "Retry the deliveries that did not arrive",
      fix: retry,
    });
    await advanceClock(world.api, 2 * 3600);
    expect((await world.why(endpoint)).fix).toBe(retry);
    await world.run(`${answer.fix!} --yes`);
    await succeeded(event.id);
    expect((await world.why(endpoint)).code).toBe("delivered");
  });

  it("says which pause a receiver asks for, and when the next attempt is", async () => {
    const endpoint = await world.endpoint("/busy", undefined, "Billing");
    statuses.push(503, 503);
    await world.order();
    await world.order();
    const answer = await world.why(endpoint);
    expect(plain(answer)).toMatchObject({
      code: "receiver_error",
      action: expect.stringMatching(/^Billing asks for a pause of 1 h; .*\. Retry the 2 deliveries once it is back$/),
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
    });
    const next = (await world.deliveries(`endpoint=${endpoint}`)).map(({ next_attempt: at }) => Date.parse(at!));
    expect(answer.action).toContain(`is at ${formatTimestamp(Math.min(...next))}.`);
    // After a day, attempts are hours apart.
    statuses.push(...Array<number>(60).fill(503));
    await advanceClock(world.api, 86_400);
    const last = (await world.deliveries(`endpoint=${endpoint}`)).map(({ last_attempt_at: at }) => Date.parse(at!));
    const { now } = (await world.api("GET", "/v1/test_clock")).body;
    const rest = Math.ceil((Math.max(...last) - Date.parse(now)) / 1000) + 3605;
    if (rest > 0) await advanceClock(world.api, rest);
    expect(plain(await world.why(endpoint)).action).toMatch(
      /^Retry the 2 deliveries now, or wait: its pause of 1 h has been over since \S+Z; the next attempt is at \S+Z$/,
    );
  });

  it("says since when it works again, and had failed, also if that was hours ago", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(...Array<number>(40).fill(500));
    await world.order();
    await world.order();
    await advanceClock(world.api, 390 * 60);
    statuses.length = 0;
    await world.service(["deliveries", "retry", "--pending", "--endpoint", endpoint, "--yes"]);
    await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=succeeded`)).length).toBe(2);
    expect(plain(await world.why(endpoint))).toMatchObject({
      code: "endpoint_recovered",
      summary: "Billing works again since T, after every attempt from T on had failed; nothing is waiting",
      evidence: expect.stringMatching(
        /^Last attempt at T: 200 in N ms, "ok"\. Attempts of this delivery: 10 × 500, 1 × 200$/,
      ),
      action: null,
    });
  });

  it("reports partial failure, with each kind of failure, until the waiting deliveries have arrived", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(500, 502, 500);
    for (let count = 0; count < 3; count++) await world.order();
    const { event } = await world.order();
    await succeeded(event.id);
    expect(plain(await world.why(endpoint))).toEqual({
      code: "receiver_error",
      summary:
        "Billing responded with 500; 3 of 4 attempts in the last hour failed (2 × 500, 1 × 502), and 3 deliveries are being retried",
      evidence: 'Last failed attempt at T: 500 in N ms, "the warehouse is closed"',
      action: "Fix the error in the receiver, then retry",
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
    });
    await world.service(["deliveries", "retry", "--pending", "--endpoint", endpoint, "--yes"]);
    await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=succeeded`)).length).toBe(4);
    expect(plain(await world.why(endpoint))).toMatchObject({ action: null, fix: null });
  });

  it("counts the attempts of the last hour by cause, and quotes a response", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Warehouse");
    statuses.push(500, 500, 404);
    for (let count = 0; count < 3; count++) await world.order();
    expect(plain(await world.why(endpoint))).toEqual({
      code: "receiver_error",
      summary:
        "Warehouse responded with 500; all 3 attempts in the last hour failed (2 × 500, 1 × 404), and 3 deliveries are being retried",
      evidence: 'Last failed attempt at T: 500 in N ms, "the warehouse is closed"',
      action: "Fix the error in the receiver, then retry",
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
    });
  });

  it("reports since when every attempt has failed", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(...Array<number>(20).fill(500));
    const { event } = await world.order();
    for (let count = 1; count < 20; count++) {
      await world.api("POST", `/v1/events/${event.id}/replay`, { endpoint });
    }
    const failing = async () => (await world.api("GET", `/v1/webhook_endpoints/${endpoint}`)).body.health.failing_since;
    await expect.poll(failing).not.toBeNull();
    expect(plain(await world.why(endpoint))).toMatchObject({
      code: "receiver_error",
      summary: "Billing responded with 500; every attempt since T has failed, and 20 deliveries are being retried",
    });
  });
});
