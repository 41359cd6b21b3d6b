import { afterAll, beforeAll, expect, it } from "vitest";
import type { Event } from "../../../src/contract/schemas/event.ts";
import { hostedPlatform } from "./support/hosted-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const platform = hostedPlatform();
let receiver: ScriptedReceiver;
/** The status of responses by path; 200 for others. */
const statuses = new Map<string, number>();

beforeAll(async () => {
  receiver = await startScriptedReceiver(({ path }, response) => {
    response.statusCode = statuses.get(path) ?? 200;
    response.end();
  });
});
afterAll(() => receiver.close());

const createEndpoint = async (path: string, events: string[]) => {
  const created = await platform.api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events });
  return created.body.id as string;
};
const endpoint = async (id: string) => (await platform.api("GET", `/v1/webhook_endpoints/${id}`)).body;
const ping = (id: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => platform.api("POST", `/v1/webhook_endpoints/${id}/ping`)));
const attemptsOf = async (id: string) => {
  const { endpoints } = (await platform.api("GET", `/v1/statistics?endpoint=${id}&minutes=60`)).body;
  return endpoints[0].attempts as number;
};
/** Pings an endpoint, and waits until each ping was attempted. */
const attempt = async (id: string, count: number) => {
  const before = await attemptsOf(id);
  await ping(id, count);
  await expect.poll(() => attemptsOf(id)).toBe(before + count);
};
/** Returns the events about an endpoint except pings, oldest first. */
const eventsAbout = async (id: string) => {
  const { data } = (await platform.api("GET", `/v1/events?related=${id}&limit=100`)).body as { data: Event[] };
  return data.filter(({ type }) => type !== "webhook_endpoint.ping").toReversed();
};
const typesAbout = async (id: string) => (await eventsAbout(id)).map(({ type }) => type);
const receivedAt = (path: string, type: string) =>
  receiver.at(path).filter(({ body }) => (JSON.parse(body) as Event).type === type);

it("an endpoint that begins to fail or recovers causes one event, for all endpoints but itself", async () => {
  const id = await createEndpoint("/failing", ["*"]);
  await createEndpoint("/alerts", ["webhook_endpoint.*"]);
  statuses.set("/failing", 500);
  await attempt(id, 19);
  expect(await typesAbout(id)).toEqual([]);
  await attempt(id, 5);
  const [failing, ...more] = await eventsAbout(id);
  expect(more).toEqual([]);
  const { health } = await endpoint(id);
  expect(health.failing_since).not.toBeNull();
  expect(failing).toMatchObject({
    type: "webhook_endpoint.failing",
    data: { object: { id, object: "webhook_endpoint", status: "enabled", health } },
    request: { id: null },
  });
  expect(failing).not.toHaveProperty("data.object.secret");

  statuses.delete("/failing");
  await attempt(id, 3);
  expect(await typesAbout(id)).toEqual(["webhook_endpoint.failing", "webhook_endpoint.recovered"]);
  expect((await eventsAbout(id))[1]).toMatchObject({ data: { object: { id, health: { failing_since: null } } } });
  statuses.set("/failing", 500);
  await attempt(id, 20);
  expect(await typesAbout(id)).toEqual([
    "webhook_endpoint.failing",
    "webhook_endpoint.recovered",
    "webhook_endpoint.failing",
  ]);

  await receiver.until(3, "/alerts");
  expect(receivedAt("/alerts", "webhook_endpoint.failing")).toHaveLength(2);
  expect(receivedAt("/alerts", "webhook_endpoint.recovered")).toHaveLength(1);
  const own = (await platform.api("GET", `/v1/deliveries?endpoint=${id}&limit=100`)).body.data;
  expect(own.every(({ event_type: type }: { event_type: string }) => type === "webhook_endpoint.ping")).toBe(true);
});

it("the event about a disabled endpoint has the user's request, or none after a 410", async () => {
  const byUser = await createEndpoint("/user", ["order.completed"]);
  const disabled = await platform.api("PATCH", `/v1/webhook_endpoints/${byUser}`, { status: "disabled" });
  expect(await eventsAbout(byUser)).toMatchObject([
    {
      type: "webhook_endpoint.disabled",
      data: { object: { id: byUser, status: "disabled", disabled_reason: "user" } },
      request: { id: disabled.headers.get("request-id") },
    },
  ]);
  await platform.api("PATCH", `/v1/webhook_endpoints/${byUser}`, { status: "disabled" });
  await platform.api("PATCH", `/v1/webhook_endpoints/${byUser}`, { status: "enabled" });
  expect(await eventsAbout(byUser)).toHaveLength(1);

  const gone = await createEndpoint("/gone", ["order.canceled"]);
  statuses.set("/gone", 410);
  await ping(gone, 3);
  await expect.poll(async () => (await endpoint(gone)).status).toBe("disabled");
  const { disabled_at: at } = await endpoint(gone);
  expect(await eventsAbout(gone)).toMatchObject([
    {
      type: "webhook_endpoint.disabled",
      data: { object: { id: gone, status: "disabled", disabled_reason: "gone", disabled_at: at } },
      request: { id: null },
    },
  ]);
});

it("failed deliveries of events about endpoints make an endpoint failing, and cause no further events", async () => {
  const id = await createEndpoint("/down", ["webhook_endpoint.recovered"]);
  statuses.set("/down", 500);
  const data = { id: "we_4Vf8aTqz0bKm2sNw9XyRcd", object: "webhook_endpoint" };
  for (let sent = 0; sent < 20; sent++) {
    await platform.api("POST", "/v1/events", { type: "webhook_endpoint.recovered", data });
  }
  await expect.poll(() => attemptsOf(id)).toBe(20);
  expect((await endpoint(id)).health.failing_since).not.toBeNull();
  expect(await typesAbout(id)).toEqual([]);
  // An attempt of another event reports it.
  await attempt(id, 1);
  expect(await typesAbout(id)).toEqual(["webhook_endpoint.failing"]);
});
