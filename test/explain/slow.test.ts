import type { ServerResponse } from "node:http";
import { afterAll, beforeEach, expect, it } from "vitest";
import { createPassingClock } from "../support/passing-clock.ts";
import { explained, plain } from "./support/explained.ts";

const clock = createPassingClock();
/** How many of the next requests get a response. The others wait. */
let responses = 0;
const waiting: ServerResponse[] = [];
const world = explained(
  (_request, response) => {
    if (responses-- > 0) response.end("ok");
    else waiting.push(response);
  },
  { clock },
);
/** Ends what is in flight. A platform that stops would wait for it. */
async function endAttempts(): Promise<void> {
  await world.clear();
  for (const response of waiting.splice(0)) response.destroy();
}
beforeEach(endAttempts);
afterAll(endAttempts);

const IN_FLIGHT = 20;

/** Creates orders without waiting for their deliveries. */
async function orders(count: number): Promise<void> {
  for (let made = 0; made < count; made++) await world.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
}

it("why reports the backlog of a receiver that does not respond, for the endpoint and a delivery in the backlog", async () => {
  const endpoint = await world.endpoint("/slow", undefined, "Billing");
  await orders(IN_FLIGHT + 3);
  await expect.poll(() => waiting.length).toBe(IN_FLIGHT);
  clock.pass(2500);
  const expected = {
    code: "backlog",
    summary: "23 deliveries are waiting for Billing, the oldest for N s, because it has not responded yet",
    evidence: "No attempt in the last hour has finished",
    action: "Return 2xx at once: store the event in the receiver and process it later",
    fix: `service deliveries list --status pending --endpoint ${endpoint}`,
  };
  expect(plain(await world.why(endpoint))).toEqual(expected);
  expect(await world.deliveries(`endpoint=${endpoint}&status=retrying`)).toEqual([]);
  const [newest] = await world.deliveries(`endpoint=${endpoint}&limit=1`);
  expect(plain(await world.why(newest!.id))).toEqual(expected);
  await world.clear();
  expect(await world.why(newest!.id)).toMatchObject({
    code: "endpoint_deleted",
    summary: `The endpoint ${endpoint} was deleted before the first attempt`,
    action: "Forward the event to your application, for example on port 3000",
  });
});

it("why reports the share of attempts that timed out, and how many deliveries are waiting", async () => {
  const endpoint = await world.endpoint("/slow", undefined, "Billing");
  responses = 6;
  await orders(8);
  await expect.poll(() => waiting.length).toBe(2);
  await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=succeeded`)).length).toBe(6);
  clock.pass(11_000);
  const timedOut = async () =>
    (await world.deliveries(`endpoint=${endpoint}&status=pending`)).filter(({ last_error: error }) => error !== null);
  await expect.poll(async () => (await timedOut()).length).toBe(2);
  expect(plain(await world.why(endpoint))).toEqual({
    code: "timeout",
    summary:
      "Billing did not respond within N s; 2 of 8 attempts in the last hour failed, and 2 deliveries are being retried",
    evidence: "Last failed attempt at T: no complete response within N s",
    action: "Respond with 2xx first, and do slow work afterwards. Then retry",
    fix: `service deliveries retry --pending --endpoint ${endpoint}`,
  });
});

it("why reports timeouts although newer deliveries wait for their first attempt", async () => {
  const endpoint = await world.endpoint("/slow", undefined, "Billing");
  await orders(IN_FLIGHT);
  await expect.poll(() => waiting.length).toBe(IN_FLIGHT);
  await orders(25);
  clock.pass(11_000);
  await expect.poll(() => waiting.length).toBe(2 * IN_FLIGHT);
  expect(plain(await world.why(endpoint))).toMatchObject({
    code: "timeout",
    // The rest is overdue unless a worker has claimed it.
    summary: expect.stringMatching(
      /^Billing did not respond within N s; every attempt since T has failed, and 45 deliveries are (queued or being retried|waiting, the oldest for N s)/,
    ),
    evidence: "Last failed attempt at T: no complete response within N s",
  });
});

it("why reports that a retry is in progress, not that it is due", async () => {
  const endpoint = await world.endpoint("/hook", undefined, "Billing");
  const { event } = await world.order(0);
  const [delivery] = await world.deliveries(`event=${event.id}`);
  // The platform still begins attempts that it had claimed for the endpoint of the test before.
  const inProgress = () => waiting.filter(({ req, writableEnded }) => req.url === "/hook" && !writableEnded);
  await expect.poll(() => inProgress().length).toBe(1);
  inProgress()[0]!.writeHead(500).end();
  await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}`))[0]?.attempt_count).toBe(1);
  await world.api("POST", `/v1/deliveries/${delivery!.id}/retry`);
  await expect.poll(() => inProgress().length).toBe(1);
  expect(plain(await world.why(delivery!.id)).summary).toBe("Billing responded with 500; attempt 2 is in progress");
});

it("why says that a response which began was not ended", async () => {
  const endpoint = await world.endpoint("/slow", undefined, "Billing");
  await orders(1);
  await expect.poll(() => waiting.length).toBe(1);
  waiting[0]!.writeHead(200).write("x");
  // The beginning of the response has arrived once another one, which is sent later, has.
  responses = 1;
  await orders(1);
  await expect.poll(async () => (await world.deliveries(`endpoint=${endpoint}&status=succeeded`)).length).toBe(1);
  clock.pass(11_000);
  const timedOut = async () => (await world.deliveries(`endpoint=${endpoint}&status=pending`))[0]?.last_error ?? null;
  await expect.poll(timedOut).not.toBeNull();
  const [delivery] = await world.deliveries(`endpoint=${endpoint}&status=pending`);
  expect(plain(await world.why(delivery!.id))).toMatchObject({
    code: "timeout",
    summary: expect.stringMatching(/^Billing began a response, but did not end it within N s/),
    action: expect.stringMatching(/^End the response, for example with res\.end\(\)/),
  });
});
