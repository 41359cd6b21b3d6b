import { beforeEach, describe, expect, it } from "vitest";
import type { Explanation } from "../../src/cli/explanation.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { apiOf } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { explained, plain } from "./support/explained.ts";

/** The statuses of the next responses. Afterwards the receiver responds with 200. */
const statuses: number[] = [];
const world = explained((_request, response) => {
  const status = statuses.shift() ?? 200;
  response.writeHead(status).end(status === 200 ? "ok" : "the warehouse is closed");
});
beforeEach(async () => {
  await world.clear();
  statuses.length = 0;
});

const DELIVERED = { code: "delivered", action: null, fix: null };
/** Returns a command that forwards to this receiver. */
const forwarding = (fix: string | null) => fix!.replace(/--forward-to \S+/, `--forward-to ${world.receiver.url}`);
const succeeded = (event: string, count = 1) =>
  expect.poll(async () => (await world.deliveries(`event=${event}&status=succeeded`)).length).toBe(count);

describe("service why for an event", () => {
  it("reports the receiver of a delivered event, and how fast it was", async () => {
    await world.endpoint("/a", undefined, "Billing");
    const { event, deliveries } = await world.order();
    const answer = {
      ...DELIVERED,
      summary: expect.stringMatching(/^Delivered to Billing in N m?s$/),
      evidence: expect.stringMatching(/^Attempt 1 at T: 200 in N m?s, "ok"$/),
    };
    const { id } = event.data.object as { id: string };
    for (const about of [event.id, deliveries[0]!.id, id, event.request.id!]) {
      expect(plain(await world.why(about))).toEqual(answer);
    }
    await world.endpoint("/b");
    await world.endpoint("/c", ["*"]);
    const other = await world.order();
    await succeeded(other.event.id, 3);
    expect(plain(await world.why(other.event.id))).toMatchObject({
      ...DELIVERED,
      summary: "Delivered to all 3 endpoints",
    });
  });

  it("reports how late an event was delivered, and what failed before", async () => {
    await world.endpoint("/a", undefined, "Billing");
    statuses.push(500, 503);
    const { event } = await world.order();
    await advanceClock(world.api, 600);
    await succeeded(event.id);
    const answer = plain(await world.why(event.id));
    expect(answer).toMatchObject({
      ...DELIVERED,
      summary: expect.stringMatching(/^Delivered to Billing .+ after the event, with attempt 3$/),
      evidence: 'Attempt 3 at T: 200 in N ms, "ok". Attempts of this delivery: 1 × 500, 1 × 503, 1 × 200',
    });
    const { stdout } = await world.service(["why", event.id, "--json"]);
    const { cause, findings } = JSON.parse(stdout) as Explanation;
    expect(cause).toBe("delivered");
    expect(findings.at(-1)).toMatchObject({ code: "clock_ahead", action: null, fix: null });
  });

  it("shows the delivery that arrived last, with its receiver", async () => {
    await world.endpoint("/a", undefined, "Billing");
    await world.endpoint("/b", undefined, "Warehouse");
    statuses.push(500);
    const { event, deliveries } = await world.order();
    const { endpoint } = deliveries.find(({ last_status_code: code }) => code === 500)!;
    const { description } = (await world.api("GET", `/v1/webhook_endpoints/${endpoint}`)).body;
    await advanceClock(world.api, 600);
    await succeeded(event.id, 2);
    expect(plain(await world.why(event.id))).toEqual({
      ...DELIVERED,
      summary: "Delivered to both endpoints",
      evidence: `Last to ${description}: attempt 2 at T: 200 in N ms, "ok". Attempts of this delivery: 1 × 500, 1 × 200`,
    });
  });

  it("reports the receiver that failed first, then how many received the event", async () => {
    await world.endpoint("/a", undefined, "Billing");
    await world.endpoint("/b", undefined, "Warehouse");
    statuses.push(500);
    const { event } = await world.order();
    const { stdout } = await world.service(["why", event.id, "--json"]);
    const { findings } = JSON.parse(stdout) as Explanation;
    expect(findings.slice(0, 2).map(({ code }) => code)).toEqual(["receiver_error", "delivered"]);
    expect(findings[0]!.summary).toMatch(
      /^(Billing|Warehouse) responded with 500; .+\. order\.created reached 1 of 2 endpoints$/,
    );
    expect(findings[0]!.evidence).toContain('"the warehouse is closed"');
  });

  it("leads with how many endpoints an event reached, and names those that it did not", async () => {
    const url = `http://127.0.0.1:${await freePort()}/hooks`;
    await world.endpoint("/a", undefined, "Billing");
    await world.endpoint(url, undefined, "Warehouse");
    await world.endpoint("/c", undefined, "Mailer");
    statuses.push(500);
    const { event } = await world.order();
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=succeeded`)).length).toBe(1);
    const { stdout } = await world.service(["why", event.id, "--json"]);
    const { findings } = JSON.parse(stdout) as Explanation;
    expect(findings[0]).toMatchObject({
      code: "undelivered",
      summary: "order.created did not reach 2 of 3 endpoints: 2 are being retried",
      evidence: expect.stringMatching(/^Not delivered to \w+ and \w+$/),
      action: null,
    });
    const summaries = findings
      .slice(1, 3)
      .map(({ summary }) => summary)
      .sort();
    expect(summaries[0]).toMatch(/^(Billing|Mailer) responded with 500; attempt 2 is due at /);
    expect(summaries[1]).toMatch(/^Warehouse: Connection refused: no server is listening at /);
    expect(findings[3]).toMatchObject({ code: "delivered" });
  });

  it("does not repeat or capitalize the host of a receiver", async () => {
    await world.endpoint("http://nosuch.invalid/x");
    await world.endpoint("http://nosuch.invalid/y");
    const { event } = await world.order();
    const { stdout } = await world.service(["why", event.id, "--json"]);
    const { findings } = JSON.parse(stdout) as Explanation;
    const hosts = findings.slice(1, 3).map(({ summary }) => summary.split(";")[0]);
    expect(hosts).toEqual(Array.from({ length: 2 }, () => "The host name nosuch.invalid could not be resolved"));
  });

  it("mentions an endpoint that was disabled, in two steps, beside those that received the event or failed", async () => {
    await world.endpoint("/a", undefined, "Billing");
    const disabled = await world.endpoint("/d", undefined, "Legacy ERP");
    const update = (status: string) => world.api("PATCH", `/v1/webhook_endpoints/${disabled}`, { status });
    await update("disabled");
    const { event } = await world.order();
    await succeeded(event.id);
    const explain = async (id: string) => {
      const { stdout } = await world.service(["why", id, "--json"]);
      return (JSON.parse(stdout) as Explanation).findings;
    };
    const [answer, also] = await explain(event.id);
    expect(answer!.summary).toMatch(/^Delivered to Billing in .+; not sent to Legacy ERP, disabled at the time$/);
    const replay = `service events replay ${event.id} --endpoint ${disabled}`;
    expect(also).toMatchObject({
      code: "endpoint_disabled",
      subject: disabled,
      summary: expect.stringMatching(/^Not sent to Legacy ERP: it was disabled with the API key "First key" at 2/),
      action: "Enable the endpoint, then replay the event to it",
      fix: `service endpoints enable ${disabled} && ${replay}`,
    });
    statuses.push(500);
    const { event: other } = await world.order();
    const failing = await explain(other.id);
    expect(failing.slice(0, 2).map(({ code }) => code)).toEqual(["receiver_error", "endpoint_disabled"]);
    await world.endpoint("/b", undefined, "Mailer");
    statuses.push(500, 500);
    const { event: third } = await world.order();
    expect((await explain(third.id))[0]!.evidence).toMatch(
      /^Not delivered to .+; not sent to Legacy ERP, disabled at the time$/,
    );
    await update("enabled");
    const [, enabled] = await explain(event.id);
    expect(enabled).toMatchObject({
      summary: "Not sent to Legacy ERP: it was disabled when the event happened, and is enabled now",
      fix: replay,
    });
    await world.run(replay);
    await succeeded(event.id, 2);
    expect(await world.why(event.id)).toMatchObject({ summary: "Delivered to both endpoints" });
  });

  it("names the endpoints that the event was not meant for, and counts many", async () => {
    await world.endpoint("/a", undefined, "Billing");
    await world.endpoint("/m", ["customer.*"], "Mailer");
    const ledger = await world.endpoint("/l", ["payment.*"], "Ledger");
    const { event } = await world.order();
    await succeeded(event.id);
    await world.endpoint("/n", ["*"], "Newcomer");
    await world.api("PATCH", `/v1/webhook_endpoints/${ledger}`, { events: ["order.*"] });
    const noteOf = async (id: string) => {
      const { stdout } = await world.service(["why", id, "--json"]);
      const { findings } = JSON.parse(stdout) as Explanation;
      return findings.find(({ code }) => code === "not_subscribed")?.summary;
    };
    const note = "Not subscribed: Mailer. Subscribed after the event: Ledger. Created after the event: Newcomer";
    expect(await noteOf(event.id)).toBe(note);
    expect((await world.service(["why", event.id])).stdout).toContain(`\n\n${note}.\n`);
    for (let i = 0; i < 3; i++) await world.endpoint(`/more/${i}`, ["payment.*"]);
    const { event: later } = await world.order();
    expect(await noteOf(later.id)).toBe("Not subscribed: 4 endpoints");
    await world.clear();
    await world.endpoint("/a", undefined, "Billing");
    expect(await noteOf((await world.order()).event.id)).toBeUndefined();
  });

  it("reports after how many attempts the delivery was canceled", async () => {
    await world.endpoint("/a", undefined, "Billing");
    statuses.push(500);
    const { deliveries } = await world.order();
    const { id } = deliveries[0]!;
    await world.api("POST", `/v1/deliveries/${id}/cancel`);
    expect(plain(await world.why(id))).toEqual({
      code: "delivery_canceled",
      summary: "The delivery to Billing was canceled after 1 attempt",
      evidence: 'Attempt 1 at T: 500 in N ms, "the warehouse is closed"',
      action: "Retry it, if the receiver should still get the event",
      fix: `service deliveries retry ${id}`,
    });
  });

  it("reports that a replay delivered the event, even for the delivery that failed", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    statuses.push(500);
    const { event, deliveries } = await world.order();
    const { id } = deliveries[0]!;
    await world.api("POST", `/v1/deliveries/${id}/cancel`);
    await world.api("POST", `/v1/events/${event.id}/replay`, { endpoint });
    await succeeded(event.id);
    expect(plain(await world.why(event.id))).toMatchObject({
      ...DELIVERED,
      summary: "Delivered to Billing by a replay at T, after the earlier delivery was canceled",
    });
    expect(plain(await world.why(id))).toMatchObject({
      code: "delivery_canceled",
      summary: "The delivery to Billing was canceled after 1 attempt; a replay succeeded at T",
      action: null,
      fix: null,
    });
  });

  it("reports what the endpoints subscribe to instead, and delivers the event to one of them", async () => {
    await world.endpoint("/c", ["customer.*"], "Customers");
    const endpoint = await world.endpoint("/o", ["order.completed"], "Orders");
    await world.endpoint("/p", ["payment.*"], "Payments");
    const { event } = await world.order(0);
    const answer = await world.why(event.id);
    expect(answer).toMatchObject({
      code: "no_receiver",
      summary: "No endpoint subscribes to order.created",
      evidence:
        "Payments subscribes to payment.*; Orders subscribes to order.completed; Customers subscribes to customer.*",
      action: "Subscribe Orders to order.created, then replay the event to it",
      fix: `service endpoints update ${endpoint} --events order.completed,order.created && service events replay ${event.id} --endpoint ${endpoint}`,
    });
    await world.run(answer.fix!.split(" && ")[0]!);
    expect(await world.why(event.id)).toMatchObject({
      summary: "Orders subscribes to order.created, but did not yet when the event happened",
      action: "Replay the event",
      fix: `service events replay ${event.id}`,
    });
    await world.run(answer.fix);
    await succeeded(event.id);
  });

  it("suggests forwarding only the event without a receiver", async () => {
    await world.order(0);
    const { event } = await world.order(0);
    await world.order(0);
    const answer = await world.why(event.id);
    expect(answer).toMatchObject({
      code: "no_receiver",
      summary: "No endpoint subscribes to order.created, and no listener is connected",
      evidence: "There are no endpoints",
      action: "Forward the event to your application, for example on port 3000",
      fix: `service events replay ${event.id} --forward-to 3000`,
    });
    const earlier = world.receiver.received.length;
    const { exitCode, stderr } = await world.run(forwarding(answer.fix));
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    await succeeded(event.id);
    expect(world.receiver.received.slice(earlier).map((request) => request.event)).toEqual([event.id]);
    expect(plain(await world.why(event.id)).code).toBe("delivered");
  });

  it("reports how late a listener delivered the event", async () => {
    const { event } = await world.order(0);
    await advanceClock(world.api, 28);
    await world.run(forwarding((await world.why(event.id)).fix));
    await succeeded(event.id);
    expect(plain(await world.why(event.id)).summary).toMatch(
      /^Delivered by a listener N s after the event, with the first attempt$/,
    );
  });

  it("reports that its endpoint was disabled when it happened", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "disabled" });
    const { event } = await world.order(0);
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      summary: 'No endpoint got the event: Billing was disabled with the API key "First key" at T',
      evidence: "Billing subscribes to order.*",
      action: "Enable the endpoint, then replay the event",
      fix: `service endpoints enable ${endpoint} && service events replay ${event.id}`,
    });
  });

  it("lists each endpoint that was disabled when it happened, even after they are enabled", async () => {
    const endpoints = [
      await world.endpoint("/a", undefined, "Billing"),
      await world.endpoint("/b", undefined, "Warehouse"),
    ];
    for (const id of endpoints) await world.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
    const { event } = await world.order(0);
    const disabled = await world.why(event.id);
    const summary = expect.stringMatching(
      /^(Billing and Warehouse|Warehouse and Billing) subscribe to order.created, but were disabled when the event happened$/,
    );
    expect(disabled).toMatchObject({ summary, action: "Enable the endpoints, then replay the event" });
    for (const id of endpoints) await world.api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "enabled" });
    expect(await world.why(event.id)).toMatchObject({ summary, fix: `service events replay ${event.id}` });
    await world.run(disabled.fix);
    await succeeded(event.id, 2);
  });

  it("reports that its endpoint subscribed after it happened", async () => {
    const { event } = await world.order(0);
    await world.endpoint("/a", undefined, "Billing");
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      summary: "Billing subscribes to order.created, but was created after the event",
      fix: `service events replay ${event.id}`,
    });
  });

  it("reports that its endpoint was disabled, or subscribed to other types, until after it happened", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    const update = (change: object) => world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, change);
    await update({ status: "disabled" });
    const { event } = await world.order(0);
    await update({ status: "enabled" });
    expect(plain(await world.why(event.id))).toMatchObject({
      summary: "Billing subscribes to order.created, but was disabled when the event happened",
      action: "Replay the event",
      fix: `service events replay ${event.id}`,
    });
    await update({ events: ["customer.*"] });
    const { event: other } = await world.order(0);
    await update({ events: ["order.*"] });
    expect(plain(await world.why(other.id))).toMatchObject({
      summary: "Billing subscribes to order.created, but did not yet when the event happened",
    });
  });

  it("shows what the platform reported about an endpoint, which nothing has to receive", async () => {
    const endpoint = await world.endpoint("/a", ["*"], "Billing");
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "disabled" });
    const { body } = await world.api("GET", `/v1/events?related=${endpoint}&type=webhook_endpoint.disabled`);
    expect(await world.why(body.data[0].id)).toMatchObject({
      code: "endpoint_event",
      summary: "The platform reported that Billing was disabled; nothing has to receive this event",
      evidence:
        "An endpoint does not get reports about itself, and no other one subscribes to webhook_endpoint.disabled",
      action: "Explain the state of the endpoint",
      fix: `service why ${endpoint}`,
    });
  });

  it("mentions the replay of an event that was delivered before", async () => {
    const endpoint = await world.endpoint("/a", undefined, "Billing");
    const { event } = await world.order();
    const replay = await world.api("POST", `/v1/events/${event.id}/replay`, { endpoint });
    await succeeded(event.id, 2);
    const answer = { ...DELIVERED, summary: "Delivered to Billing in N ms; the replay at T succeeded too" };
    expect(plain(await world.why(event.id))).toMatchObject(answer);
    expect(plain(await world.why(replay.headers.get("request-id")!))).toMatchObject(answer);
  });
});

it("why reports that the sandbox was reset after the ID was created", async () => {
  const { event } = await world.order(0);
  await advanceClock(world.api, 3600);
  const { event: later } = await world.order(0);
  await world.api("POST", "/v1/sandbox/reset", {});
  for (const { id, created } of [event, later]) {
    const { exitCode, stderr } = await world.service(["why", id]);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(
      new RegExp(`The event ${id} does not exist in the sandbox, which was reset or restored at 2`),
    );
    expect(stderr).toContain(`The ID was created at ${created}.`);
    expect(stderr).toContain("See the newest events: service events list");
  }
});

it("why suggests commands with --live in live mode", async () => {
  const live = apiOf(world.platform.baseUrl, world.platform.liveKey);
  const url = "https://no-such-host.invalid/hooks";
  const { body } = await live("POST", "/v1/webhook_endpoints", { url, events: ["order.*"] });
  await live("PATCH", `/v1/webhook_endpoints/${body.id}`, { status: "disabled" });
  const env = { SERVICE_API_KEY: world.platform.liveKey };
  const { stdout } = await world.service(["why", body.id, "--live", "--json"], { env });
  const { findings } = JSON.parse(stdout) as Explanation;
  expect(findings[0]).toMatchObject({ code: "endpoint_disabled", fix: `service endpoints enable ${body.id} --live` });
});
