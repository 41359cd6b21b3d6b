import { afterAll, beforeAll, expect } from "vitest";
import { LIMITS } from "../../src/contract/limits.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;
let receiver: ScriptedReceiver;
let isBroken = true;

beforeAll(async () => {
  receiver = await startScriptedReceiver(({ path }, response) => {
    // With this header, no delivery is retried during a test.
    if (isBroken && path === "/later") response.writeHead(503, { "retry-after": "3600" });
    response.end();
  });
  board = await openBoard();
  await board.api("POST", "/v1/webhook_endpoints", {
    url: receiver.url,
    events: ["customer.*", "order.*"],
    description: "Shop",
  });
});
afterAll(async () => {
  await board.close();
  await receiver.close();
  expect(board.complaints).toEqual([]);
});

/** Creates a customer with orders, and so one event more than these. */
async function customerWithOrders(email: string, orders: number): Promise<string> {
  const { id } = (await board.api("POST", "/v1/customers", { email })).body;
  for (let count = 0; count < orders; count++)
    await board.api("POST", "/v1/orders", { amount: 100, currency: "EUR", customer: id });
  return id as string;
}

it("the list of customers and the page of each count the same events", async () => {
  const { page } = board;
  const few = await customerWithOrders("few@example.com", 29);
  const many = await customerWithOrders("many@example.com", 105);
  await board.show("sandbox/customers");
  const webhooks = (email: string) => page.getByRole("row").filter({ hasText: email }).locator("td.from-tablet");
  await webhooks("few@example.com").getByText("30 of 30").waitFor();
  await webhooks("many@example.com").getByText("100 of the newest 100").waitFor();
  await board.show(`sandbox/customers/${few}`);
  await page.getByText("All 30 webhooks about this customer have arrived.").waitFor();
  await page.getByText("Counted over 30 events of").waitFor();
  await board.show(`sandbox/customers/${many}`);
  await page.getByText("All 100 webhooks about this customer have arrived.").waitFor();
  await page.getByText("Counted over the newest 100 events of").waitFor();
});

it("the overview, the list and the page call an endpoint working again alike, after its first success", async () => {
  const { page, api } = board;
  const url = `${receiver.url}/later`;
  const { id } = (
    await api("POST", "/v1/webhook_endpoints", { url, events: ["payment.created"], description: "Warehouse (north)" })
  ).body;
  for (let count = 0; count <= LIMITS.failingAttempts; count++)
    await api("POST", "/v1/payments", { amount: 100, currency: "EUR" });
  await expect
    .poll(async () => (await api("GET", `/v1/webhook_endpoints/${id}`)).body.health.failing_since)
    .not.toBeNull();
  const waiting = async () => (await api("GET", `/v1/deliveries?endpoint=${id}&status=retrying&limit=100`)).body.data;
  await expect.poll(async () => (await waiting()).length).toBe(LIMITS.failingAttempts + 1);
  await board.show(`sandbox/endpoints/${id}`);
  // The parenthesis of the name does not end the headline.
  await page
    .locator(".answer .rest")
    .getByText(/^; every attempt since/)
    .waitFor();
  await page.getByRole("button", { name: /^Retry \d+ deliveries/ }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Retry \d+$/ })
    .click();
  await page
    .getByRole("status", { name: "Retry", exact: true })
    .getByText(/0 delivered, \d+ (not yet|failed again): 503 Service Unavailable\./)
    .waitFor();
  isBroken = false;
  await api("POST", `/v1/deliveries/${(await waiting())[0].id}/retry`);
  await expect.poll(async () => (await waiting()).length).toBe(LIMITS.failingAttempts);
  const state = `Works again, ${LIMITS.failingAttempts} retrying`;
  await board.show("sandbox");
  await page.getByRole("row").filter({ hasText: "Warehouse" }).getByText(state).waitFor();
  const summary = page.getByLabel("Summary");
  await summary.getByText("All endpoints work again.").waitFor();
  await page.getByRole("link", { name: `${LIMITS.failingAttempts} deliveries retrying now` }).waitFor();
  await board.show("sandbox/endpoints");
  await page.getByRole("row").filter({ hasText: "Warehouse" }).locator("td.from-tablet").getByText(state).waitFor();
  await board.show(`sandbox/endpoints/${id}`);
  await page.locator(".answer").getByText(`${LIMITS.failingAttempts} deliveries are being retried`).waitFor();
  await api("POST", "/v1/deliveries/retry", { status: "pending", endpoint: id });
  await board.show("sandbox");
  await summary.getByText("All deliveries have arrived.").waitFor();
  await summary.getByText(/^\d+ attempts failed before\.$/).waitFor();
});

it("a delivery of a disabled endpoint is held, and not retried", async () => {
  const { page, api } = board;
  isBroken = true;
  const url = `${receiver.url}/later`;
  const { id } = (
    await api("POST", "/v1/webhook_endpoints", { url, events: ["customer.created"], description: "Retired" })
  ).body;
  const customer = (await api("POST", "/v1/customers", { email: "held@example.com" })).body.id as string;
  const delivery = async () => (await api("GET", `/v1/deliveries?endpoint=${id}`)).body.data[0];
  await expect.poll(async () => (await delivery())?.attempt_count).toBe(1);
  await api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
  await board.show(`sandbox/deliveries?endpoint=${id}`);
  await page.getByText("Held: endpoint disabled, 1 failed").waitFor();
  await board.show("sandbox/customers");
  await page
    .getByRole("row")
    .filter({ hasText: "held@" })
    .locator("td.from-tablet")
    .getByText("1 of 2 · 1 held")
    .waitFor();
  await board.show(`sandbox/customers/${customer}`);
  await page
    .getByText("1 of 2 webhooks about this customer has not arrived: 1 is held for a disabled endpoint.")
    .waitFor();
  await board.show(`sandbox/endpoints/${id}`);
  await page.locator(".answer").getByText("then enable the endpoint").waitFor();
  await page.getByRole("button", { name: "Enable and replay" }).click();
  await page.getByRole("dialog").getByText("Its last attempt failed: 503 Service Unavailable.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await board.show("sandbox/clock");
  await page.getByText(/^No delivery is queued or retrying, 1 held for a disabled endpoint\./).waitFor();
  await api("DELETE", `/v1/webhook_endpoints/${id}`);
});

it("the state of an endpoint and its last attempts are the same in every range", async () => {
  const { page, api } = board;
  const url = `${receiver.url}/archive`;
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url, events: ["payment.*"], description: "Archive" }))
    .body;
  await api("POST", "/v1/payments", { amount: 100, currency: "EUR" });
  await expect
    .poll(async () => (await api("GET", `/v1/deliveries?endpoint=${id}`)).body.data[0]?.status)
    .toBe("succeeded");
  await api("POST", "/v1/test_clock/advance", { seconds: 2 * 86_400 });
  const fact = (name: string) => page.locator(`.facts dt:text-is("${name}") + dd`);
  for (const range of ["", "?range=7d"]) {
    await board.show(`sandbox/endpoints/${id}${range}`);
    for (const name of ["Last attempt", "Last success"]) await fact(name).locator("time").waitFor();
    for (const list of ["sandbox", "sandbox/endpoints"]) {
      await board.show(`${list}${range}`);
      await page.getByRole("row").filter({ hasText: "Archive" }).getByText("Idle").locator("visible=true").waitFor();
    }
  }
});
