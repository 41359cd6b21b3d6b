import { afterAll, beforeAll, expect, it } from "vitest";
import { advanceClock } from "../../support/advance-clock.ts";
import { hostedPlatform } from "./support/hosted-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const platform = hostedPlatform();
let receiver: ScriptedReceiver;
let status = 500;

beforeAll(async () => {
  receiver = await startScriptedReceiver((_request, response) => {
    response.statusCode = status;
    response.end();
  });
});
afterAll(() => receiver.close());

const createEndpoint = async (events: string[]) => {
  const url = `${receiver.url}/${events[0]}`;
  return (await platform.api("POST", "/v1/webhook_endpoints", { url, events })).body.id as string;
};
const failingSince = async (id: string) =>
  (await platform.api("GET", `/v1/webhook_endpoints/${id}`)).body.health.failing_since as string | null;
const ping = (id: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => platform.api("POST", `/v1/webhook_endpoints/${id}/ping`)));
const attemptsOf = async (id: string) => {
  const { endpoints } = (await platform.api("GET", `/v1/statistics?endpoint=${id}&minutes=360`)).body;
  return [endpoints[0].attempts, endpoints[0].failed] as [number, number];
};

it("after 20 consecutive failures, an endpoint is failing since the first one, until an attempt succeeds", async () => {
  status = 500;
  const id = await createEndpoint(["order.created"]);
  await ping(id, 1);
  await expect.poll(() => attemptsOf(id)).toEqual([1, 1]);
  const [{ id: delivery }] = (await platform.api("GET", `/v1/deliveries?endpoint=${id}`)).body.data;
  const [first] = (await platform.api("GET", `/v1/deliveries/${delivery}`)).body.attempts;
  await ping(id, 18);
  await expect.poll(() => attemptsOf(id)).toEqual([19, 19]);
  expect(await failingSince(id)).toBeNull();
  await ping(id, 1);
  await expect.poll(() => failingSince(id)).toBe(first.at);
  status = 200;
  await ping(id, 1);
  await expect.poll(() => failingSince(id)).toBeNull();
  status = 500;
  await ping(id, 2);
  await expect.poll(() => attemptsOf(id)).toEqual([23, 22]);
  expect(await failingSince(id)).toBeNull();
});

it("an endpoint is failing once all attempts of an hour have failed", async () => {
  status = 500;
  const id = await createEndpoint(["order.completed"]);
  await ping(id, 1);
  await expect.poll(() => attemptsOf(id)).toEqual([1, 1]);
  await advanceClock(platform.api, 1800);
  await ping(id, 1);
  await expect.poll(async () => (await attemptsOf(id))[0]).toBeGreaterThan(1);
  expect(await failingSince(id)).toBeNull();
  await advanceClock(platform.api, 1800);
  // Waits are random, so a retry may not fall after the hour.
  await ping(id, 1);
  await expect.poll(() => failingSince(id)).not.toBeNull();
  expect((await attemptsOf(id))[0]).toBeLessThan(20);
});
