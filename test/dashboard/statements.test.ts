import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { it } from "../support/chromium.ts";
import { createPassingClock } from "../support/passing-clock.ts";
import { type Board, openBoard } from "./support/board.ts";

/** Failed attempts in a row that make an endpoint failing. */
const FAILING = 20;

let board: Board;
let receiver: ScriptedReceiver;
/** Responses at /held, which tests send. */
const held: ServerResponse[] = [];

beforeAll(async () => {
  receiver = await startScriptedReceiver(({ path }, response) => {
    if (path === "/held" && receiver.at(path).length > 1) held.push(response);
    else response.writeHead(path === "/works" ? 200 : 500).end("out of stock");
  });
  // No attempt times out, and no retry is due, however slow the machine is.
  board = await openBoard({ clock: createPassingClock() });
});
afterAll(async () => {
  for (const response of held) response.destroy();
  await board.close();
  await receiver.close();
  expect(board.complaints).toEqual([]);
});

async function endpoint(path: string, events: string[], description: string): Promise<string> {
  const { body } = await board.api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events, description });
  return body.id as string;
}

const order = async () => (await board.api("POST", "/v1/orders", { amount: 1999, currency: "EUR" })).body.id as string;
const deliveriesTo = async (id: string) => (await board.api("GET", `/v1/deliveries?endpoint=${id}`)).body.data;

it("an attempt in progress is neither due nor finished", async () => {
  const { page, api } = board;
  const id = await endpoint("/held", ["order.created"], "Slow");
  await order();
  await expect.poll(async () => (await deliveriesTo(id))[0]?.attempt_count).toBe(1);
  const [delivery] = await deliveriesTo(id);
  await board.show(`sandbox/deliveries/${delivery.id}`);
  await page
    .locator(".answer")
    .getByText(/; attempt 2 is due at /)
    .waitFor();
  await page.locator(".trail").getByText("20 more until").waitFor();
  await page.getByRole("button", { name: "Retry now" }).click();
  await page.getByText(/^Retrying now\. If attempt 2 fails, the next one is due about 1 min later\.$/).waitFor();
  await page.locator(".answer").getByText("; attempt 2 is in progress.").waitFor();
  await page
    .locator(".timeline .planned")
    .getByText(/^in progress/)
    .waitFor();
  expect(await page.locator("main").textContent()).not.toContain("due now");
  expect((await api("GET", `/v1/deliveries/${delivery.id}`)).body.attempting_since).not.toBeNull();
  await expect.poll(() => held.length).toBe(1);
  held.pop()!.writeHead(200).end();
  await page
    .locator(".answer")
    .getByText(/^Delivered to Slow/)
    .waitFor();
  expect((await api("GET", `/v1/deliveries/${delivery.id}`)).body.attempting_since).toBeNull();
  await api("DELETE", `/v1/webhook_endpoints/${id}`);
});

it("a changed status is shown as a changed field", async () => {
  const { page, api } = board;
  const id = await order();
  await api("POST", `/v1/orders/${id}/complete`);
  await board.show(`sandbox/orders/${id}`);
  const events = page.getByRole("region", { name: "Events of this object" });
  await events.getByText("status: pending → completed").waitFor();
});

it("of metadata, only the changed key is shown as a changed field", async () => {
  const { page, api } = board;
  const customer = { email: "changed@example.com", metadata: { plan: "pro", note: "x" } };
  const { id } = (await api("POST", "/v1/customers", customer)).body;
  await api("PATCH", `/v1/customers/${id}`, { metadata: { plan: "enterprise" } });
  await board.show(`sandbox/customers/${id}`);
  const events = page.getByRole("region", { name: "Events of this object" });
  await events.getByText("metadata.plan: pro → enterprise", { exact: true }).waitFor();
});

it("the page of a deleted object shows when it was deleted, and by which request", async () => {
  const { page, api } = board;
  const id = await endpoint("/works", ["*"], "Gone");
  const { headers } = await api("DELETE", `/v1/webhook_endpoints/${id}`);
  const request = headers.get("request-id")!;
  await expect.poll(async () => (await api("GET", `/v1/request_logs/${request}`)).status).toBe(200);
  await board.show(`sandbox/endpoints/${id}`);
  await page.getByText(/was deleted from the sandbox at /).waitFor();
  expect(await page.getByRole("link", { name: request }).getAttribute("href")).toContain(`/logs/${request}`);
  const customer = (await api("POST", "/v1/customers", { email: "deleted@example.com" })).body.id;
  await api("DELETE", `/v1/customers/${customer}`);
  await board.show(`sandbox/customers/${customer}`);
  await page.getByText(/^It was deleted at /).waitFor();
  await page.getByRole("link", { name: "customer.deleted" }).waitFor();
});

it("the overview shows one number of waiting deliveries, and why an endpoint fails after the counted period", async () => {
  const { page, api } = board;
  const failing = await endpoint("/fails", ["order.created"], "Failing");
  for (let count = 0; count < FAILING; count++) await order();
  const health = async () => (await api("GET", `/v1/webhook_endpoints/${failing}`)).body.health.failing_since;
  await expect.poll(health).not.toBeNull();
  // The next attempts of another endpoint wait, too, although it does not fail yet.
  await endpoint("/also", ["payment.created"], "Other");
  await api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
  const pending = async () => (await api("GET", "/v1/statistics")).body.queue.pending;
  await expect.poll(pending).toBe(FAILING + 1);
  await board.show("sandbox");
  await page.getByRole("link", { name: `${FAILING + 1} deliveries retrying now` }).waitFor();

  // The receiver answers no more: the failure is older than the hour that is counted.
  await api("PATCH", `/v1/webhook_endpoints/${failing}`, { status: "disabled" });
  await advanceClock(api, 7200);
  await api("PATCH", `/v1/webhook_endpoints/${failing}`, { url: `${receiver.url}/held` });
  await api("PATCH", `/v1/webhook_endpoints/${failing}`, { status: "enabled" });
  await board.restart();
  const row = page.getByRole("row").filter({ hasText: "Failing since" }).filter({ hasNotText: "Other" });
  await row.locator(".from-desktop .bad-text").getByText("500 Internal Server Error").waitFor();
});

it("the button of an explanation does the same as its command", async () => {
  const { page, api } = board;
  const id = await endpoint("/works", ["customer.*"], "Old staging");
  const { disabled_at: since } = (await api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" })).body;
  // An event of the same second may have been before.
  await expect.poll(async () => (await api("GET", "/v1/test_clock")).body.now > since).toBe(true);
  await api("POST", "/v1/customers", { email: "missed@example.com" });
  const [missed] = (await api("GET", "/v1/events?type=customer.created&limit=1")).body.data;
  await board.show(`sandbox/events/${missed.id}`);
  await page.locator(".answer, .also").getByRole("button", { name: "Enable and replay what it missed" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Enable and replay 1" }).click();
  await expect.poll(async () => (await deliveriesTo(id))[0]?.status).toBe("succeeded");
  await page
    .locator(".answer")
    .getByText(/was disabled/)
    .waitFor({ state: "detached" });
});

it("the explanation of an event, or of an endpoint, is its page", async () => {
  const { page, api } = board;
  const [event] = (await api("GET", "/v1/events?limit=1")).body.data;
  const [endpoint] = (await api("GET", "/v1/webhook_endpoints?limit=1")).body.data;
  for (const [list, { id }] of [["events", event] as const, ["endpoints", endpoint] as const]) {
    await board.show(`sandbox/why/${id}`);
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/dashboard/sandbox/${list}/${id}`);
    await page.locator(".answer:not(.unknown)").waitFor();
    expect(await page.locator(".answer, .page-head").getByRole("link", { name: "Explain" }).count()).toBe(0);
  }
});

it("the page of a request says that its client did not get the response", async () => {
  const { page, api } = board;
  const fault = (await api("POST", "/v1/faults", { match: { path: "/v1/payments" }, effect: "lose_response" })).body;
  await expect(api("POST", "/v1/payments", { amount: 1, currency: "EUR" })).rejects.toThrow();
  const read = async () => (await api("GET", "/v1/request_logs?method=POST&path=/v1/payments&limit=1")).body.data[0];
  await expect.poll(async () => (await read())?.fault?.id).toBe(fault.id);
  await board.show(`sandbox/logs/${(await read()).id}`);
  await page
    .locator(".answer")
    .getByText(/^The client got no response to POST \/v1\/payments: the fault flt_\w+ closed the connection after/)
    .waitFor();
  await page.getByRole("heading", { name: "Response (not sent)" }).waitFor();
  await api("DELETE", `/v1/faults/${fault.id}`);
});
