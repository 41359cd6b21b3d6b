import { afterAll, beforeAll, expect, vi } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { it } from "../support/chromium.ts";
import { PATIENCE } from "../support/patience.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;
let receiver: ScriptedReceiver;
/** IDs of the endpoints by their names. */
const ids = new Map<string, string>();

/** Of each endpoint the statuses that it returns, the last one from then on. */
const STATUSES: Record<string, number[]> = {
  broken: [500],
  moved: [302],
  partly: [500, 200],
  healthy: [200],
};

beforeAll(async () => {
  receiver = await startScriptedReceiver(({ path }, response) => {
    const statuses = STATUSES[path.slice(1)] ?? [500];
    response.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!).end();
  });
  board = await openBoard();
  const { api } = board;
  for (const name of Object.keys(STATUSES)) await createEndpoint(name, `${receiver.url}/${name}`);
  await createEndpoint("refused", "http://127.0.0.1:9/hook");
  await api("POST", "/v1/customers", { email: "first@example.com" });
  const attempted = async () => (await api("GET", "/v1/deliveries")).body.data.every(wasAttempted);
  await vi.waitUntil(attempted, { timeout: PATIENCE });
  await api("POST", "/v1/customers", { email: "second@example.com" });
  await vi.waitUntil(attempted, { timeout: PATIENCE });
});
afterAll(async () => {
  await board.close();
  await receiver.close();
  expect(board.complaints).toEqual([]);
});

async function createEndpoint(name: string, url: string): Promise<void> {
  const { api } = board;
  const { body } = await api("POST", "/v1/webhook_endpoints", { url, events: ["customer.*"], description: name });
  ids.set(name, body.id);
}

function wasAttempted({ attempt_count: attempts }: { attempt_count: number }): boolean {
  return attempts > 0;
}

const rowOf = (text: string) => board.page.getByRole("row").filter({ hasText: text });

it("the overview counts endpoints without a successful attempt, and explains why", async () => {
  const { page } = board;
  await board.show("sandbox");
  await page.getByText("3 endpoints are failing.").waitFor();
  await page.locator("nav .failing-count").getByText("3", { exact: true }).waitFor();
  await page.getByText(/ failed some of the time\./).waitFor();
  await rowOf("broken")
    .getByText(/^All \d+ attempts failed$/)
    .waitFor();
  await rowOf("broken").locator(".from-desktop .bad-text").getByText("500 Internal Server Error").waitFor();
  await rowOf("moved").locator(".from-desktop .bad-text").getByText("302 Found").waitFor();
  await rowOf("refused").locator(".from-desktop .bad-text").getByText("Connection refused").waitFor();
  expect(await page.getByText("Quick start").count()).toBe(0);
});

it("the list of endpoints begins with the worst", async () => {
  const { page } = board;
  await board.show("sandbox/endpoints");
  await rowOf("healthy").locator("td.from-tablet").getByText("Healthy").waitFor();
  const names = await page.locator("tbody tr .main-link").allTextContents();
  expect(names.slice(0, 3).toSorted()).toEqual(["broken", "moved", "refused"]);
  expect(names.slice(3)).toEqual(["partly", "healthy"]);
});

it("a retry is the primary button while deliveries do not arrive", async () => {
  const { page, api } = board;
  const isPrimary = (name: string | RegExp) =>
    expect.poll(async () => (await page.getByRole("button", { name }).first().getAttribute("class")) ?? "");
  const id = ids.get("broken")!;
  await board.show(`sandbox/endpoints/${id}`);
  await page.getByText("Fix the error in the receiver, then retry.").waitFor();
  await isPrimary(/^Retry \d+ deliver/).toContain("primary");
  await isPrimary("Send test event").not.toContain("primary");
  const [delivery] = (await api("GET", `/v1/deliveries?endpoint=${id}`)).body.data;
  for (const path of [`deliveries/${delivery.id}`, `why/${delivery.id}`, `why/${id}`]) {
    await board.show(`sandbox/${path}`);
    await page.locator(".answer").getByText("Fix the error in the receiver, then retry.").waitFor();
    await isPrimary(/^Retry/).toContain("primary");
  }
  await board.show(`sandbox/events/${delivery.event}`);
  await page.locator(".also section").first().waitFor();
  await isPrimary(/^Retry \d+ deliver/).toContain("primary");
});

it("a redirect is a failed response", async () => {
  await board.show(`sandbox/deliveries?endpoint=${ids.get("moved")}`);
  await rowOf("Retrying").first().getByTitle("302 Found").getByText("302", { exact: true }).waitFor();
});

it("selected deliveries are retried together", async () => {
  const { page, api } = board;
  await board.show("sandbox/deliveries");
  await page.getByLabel("Endpoint").selectOption("broken");
  await page
    .getByLabel(/^Select delivery of /)
    .first()
    .waitFor();
  await expect.poll(() => page.getByLabel(/^Select delivery of /).count()).toBe(2);
  await page.getByLabel("Select all deliveries").check();
  const path = `/v1/deliveries?endpoint=${ids.get("broken")}`;
  const counts = async () =>
    (await api("GET", path)).body.data.map((one: { attempt_count: number }) => one.attempt_count);
  const before = await counts();
  await page.getByRole("button", { name: "Retry 2 selected" }).click();
  await page.getByText("Retrying 2 deliveries").waitFor();
  await expect
    .poll(async () => (await counts()).every((made: number, index: number) => made > before[index]))
    .toBe(true);
  await page.getByRole("button", { name: "Retry deliveries" }).waitFor();
});

it("a delivery to a deleted endpoint shows how often it was attempted", async () => {
  const { page, api } = board;
  await createEndpoint("deleted", `${receiver.url}/deleted`);
  await api("POST", "/v1/customers", { email: "third@example.com" });
  const path = `/v1/deliveries?endpoint=${ids.get("deleted")}`;
  const delivery = async () => (await api("GET", path)).body.data[0];
  await expect.poll(async () => (await delivery())?.attempt_count).toBe(1);
  await api("DELETE", `/v1/webhook_endpoints/${ids.get("deleted")}`);
  await expect.poll(async () => (await delivery()).status).toBe("canceled");
  await board.show("sandbox/deliveries?status=canceled");
  await rowOf("Deleted endpoint").getByText("after 1 attempt").waitFor();
  await rowOf("Deleted endpoint").getByRole("link").first().press("Enter");
  await page.locator(".timeline").getByText("No more attempts").waitFor();
});

it("the request log hides successful reads by default", async () => {
  const { page, api } = board;
  await api("GET", "/v1/customers");
  await api("GET", "/v1/customers/cus_0000000000000000000000");
  await board.menu("Request log");
  await rowOf("resource_not_found").or(rowOf("not_found")).first().waitFor();
  expect(await rowOf("GET").filter({ hasText: "200" }).count()).toBe(0);
  await page.getByLabel("GET requests").selectOption("all");
  await rowOf("GET").filter({ hasText: "200" }).first().waitFor();
});

it("a replay without a receiver is shown as an error", async () => {
  const { page, api } = board;
  await api("POST", "/v1/orders", { amount: 100, currency: "EUR" });
  const [event] = (await api("GET", "/v1/events?type=order.created")).body.data;
  await board.show(`sandbox/events/${event.id}`);
  await board.choose("Replay");
  await page.getByRole("button", { name: "Replay now" }).click();
  await page
    .locator(".toast.bad")
    .getByText(/^Not replayed: no enabled endpoint subscribes/)
    .waitFor();
});

it("the page of a customer counts what did not arrive about it, its orders and their payments", async () => {
  const { page, api } = board;
  const customer = (await api("POST", "/v1/customers", { email: "whole@example.com" })).body;
  const order = (await api("POST", "/v1/orders", { amount: 100, currency: "EUR", customer: customer.id })).body;
  await board.show(`sandbox/customers/${customer.id}`);
  const webhooks = page.locator("main").getByRole("region", { name: "Webhooks", exact: true });
  await webhooks.getByText("3 of 5 webhooks about this customer have not arrived: 3 are being retried.").waitFor();
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/healthy`, events: ["payment.*"] }))
    .body;
  await api("POST", "/v1/payments", { amount: 100, currency: "EUR", order: order.id });
  await webhooks.getByText("3 of 6 webhooks about this customer have not arrived: 3 are being retried.").waitFor();
  const explain = webhooks.getByRole("link", { name: "Explain the newest failure" });
  // Not the customer's own event, which may have arrived.
  expect(await explain.getAttribute("href")).toMatch(/\/why\/evt_/);
  // On request, each receiver that did not get everything, with the cause and its own deliveries.
  await page.getByText("3 receivers").click();
  const causes = page.getByRole("region", { name: "Not arrived, by receiver" });
  await causes.locator("td.from-tablet").getByText("500 Internal Server Error").waitFor();
  await expect.poll(() => causes.locator("tr[data-row]").count()).toBe(3);
  await causes.getByRole("link", { name: "moved" }).click();
  await page.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor();
  await rowOf("whole@example.com").locator(".code").getByText("302").waitFor();
  await expect.poll(() => page.locator("tr[data-row]").count()).toBe(1);
  await page.goBack();
  await webhooks.getByRole("link", { name: "show the deliveries" }).click();
  await page.getByText("Customer", { exact: true }).first().waitFor();
  await expect.poll(() => page.locator("tr[data-row]").count()).toBe(3);
  expect(await page.getByRole("searchbox").inputValue()).toBe("");
  await page.getByLabel("Status").selectOption("All");
  await expect.poll(() => page.locator("tr[data-row]").count()).toBe(6);
  await page.getByRole("button", { name: "Remove this filter" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("");
  await api("DELETE", `/v1/webhook_endpoints/${id}`);
});

it("the lists of orders and payments show how their webhooks went, also those of later events", async () => {
  const { api } = board;
  const { id } = (
    await api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/broken`, events: ["order.completed"] })
  ).body;
  const order = (await api("POST", "/v1/orders", { amount: 4242, currency: "EUR" })).body;
  await board.show("sandbox/orders");
  const webhooks = rowOf("42.42").locator("td.from-tablet");
  await webhooks.getByText("Not sent").first().waitFor();
  await api("POST", `/v1/orders/${order.id}/complete`);
  await webhooks.getByText("Retrying").waitFor();
  await api("DELETE", `/v1/webhook_endpoints/${id}`);
});

it("the list of customers shows how the webhooks about each went, with one search for all", async () => {
  const { page } = board;
  await board.show("sandbox");
  const searches: string[] = [];
  page.on("request", (request) => request.url().includes("/v1/events?query=") && searches.push(request.url()));
  await board.show("sandbox/customers");
  await rowOf("second@example.com")
    .locator("td.from-tablet")
    .getByText(/^\d of 5$/)
    .waitFor();
  await rowOf("first@example.com")
    .locator("td.from-tablet")
    .getByText(/^\d of 5$/)
    .waitFor();
  const ids = searches.map((url) => new URL(url).searchParams.get("query")!.split(",").length);
  expect(ids).toEqual([await page.locator("tbody tr[data-row]").count()]);
});

it("a disabled endpoint leads to the events that it missed", async () => {
  const { page, api } = board;
  const { id } = (
    await api("POST", "/v1/webhook_endpoints", {
      url: `${receiver.url}/healthy`,
      events: ["payment.*"],
      description: "Off",
    })
  ).body;
  await api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
  const url = `${receiver.url}/healthy`;
  const other = (await api("POST", "/v1/webhook_endpoints", { url, events: ["payment.*"], description: "On" })).body;
  const customer = (await api("POST", "/v1/customers", { email: "not-missed@example.com" })).body;
  const order = (await api("POST", "/v1/orders", { amount: 100, currency: "EUR", customer: customer.id })).body;
  await api("POST", "/v1/payments", { amount: 100, currency: "EUR", order: order.id });
  await board.show("sandbox/endpoints");
  await page.getByRole("link", { name: "1 missed, Off" }).click();
  await page.getByText("1 found", { exact: true }).waitFor();
  const list = page.getByRole("table", { name: "Events, newest first" });
  // Delivered to every enabled endpoint is not delivered to all that subscribe.
  await list.getByText("1 of 2 · 1 missed").waitFor();
  expect(await list.locator("[data-row]").count()).toBe(1);
  await page.getByRole("button", { name: "Remove this filter" }).click();
  await page.getByLabel("State").selectOption("Missed: endpoint disabled");
  await page.getByText("1 found", { exact: true }).waitFor();
  await list.getByText("1 of 2 · 1 missed").waitFor();
  await page.getByLabel("State").selectOption("Not delivered or missed");
  await list.getByText("second@example.com").waitFor();
  expect(await list.getByText(/^delivered$/i).count()).toBe(0);
  await page.getByLabel("State").selectOption("All");
  await list.getByText("webhook_endpoint.").first().waitFor();
  await page.getByLabel("Type").selectOption("All but webhook_endpoint.*");
  await expect.poll(() => list.getByText("webhook_endpoint.").count()).toBe(0);
  await list.getByText("second@example.com").waitFor();
  await board.show(`sandbox/customers/${customer.id}`);
  const webhooks = page.locator("main").getByRole("region", { name: "Webhooks", exact: true });
  await webhooks.getByText(/: 3 are being retried, 1 was missed because the endpoint is disabled\.$/).waitFor();
  await page.getByText("4 receivers").click();
  const row = page
    .getByRole("region", { name: "Not arrived, by receiver" })
    .getByRole("row")
    .filter({ hasText: "Off" });
  await row
    .locator("td.from-tablet")
    .getByText(/^Disabled since /)
    .waitFor();
  await row.locator("td.from-tablet").getByText("1 missed").waitFor();
  await row.getByRole("button", { name: "Enable and replay Off" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Enable and replay 1" }).click();
  await webhooks.getByText(/have not arrived: 3 are being retried\.$/).waitFor();
  await row.waitFor({ state: "detached" });
  for (const one of [id, other.id]) await api("DELETE", `/v1/webhook_endpoints/${one}`);
});

it("lists, the event, its order and its customer count the same", async () => {
  const { page, api } = board;
  const endpoint = async (description: string, path: string) =>
    (await api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events: ["payment.*"], description })).body
      .id as string;
  const [on, failing, off] = [
    await endpoint("On", "/healthy"),
    await endpoint("Failing", "/broken"),
    await endpoint("Off", "/healthy"),
  ];
  await api("PATCH", `/v1/webhook_endpoints/${off}`, { status: "disabled" });
  const customer = (await api("POST", "/v1/customers", { email: "counted@example.com" })).body;
  const order = (await api("POST", "/v1/orders", { amount: 7777, currency: "EUR", customer: customer.id })).body;
  const payment = (await api("POST", "/v1/payments", { amount: 7777, currency: "EUR", order: order.id })).body;
  const [event] = (await api("GET", `/v1/events?related=${payment.id}`)).body.data;
  const attempted = async () => (await api("GET", "/v1/deliveries?limit=20")).body.data.every(wasAttempted);
  await vi.waitUntil(attempted, { timeout: PATIENCE });
  await board.show("sandbox/events?query=77.77");
  const rowTo = (id: string) => page.locator("[data-row]").filter({ has: page.locator(`a[href*="${id}"]`) });
  await rowTo(event.id).getByText("1 of 3 · 1 retrying, 1 missed").waitFor();
  await board.show(`sandbox/events/${event.id}`);
  await page
    .getByText(/\. payment\.created did not reach 2 of 3 endpoints: 1 is being retried, 1 is disabled\./)
    .waitFor();
  await board.show("sandbox/orders?webhooks=undelivered");
  await rowTo(order.id).locator("td.from-tablet").getByTitle("1 retrying, 1 missed").waitFor();
  await page.getByRole("search").getByLabel("Deliveries").selectOption("delivered");
  await rowTo(order.id).waitFor({ state: "detached" });
  // The customer's own event has two of five.
  await board.show("sandbox/customers");
  await rowOf("counted@example.com").locator("td.from-tablet").getByText("3 of 8 · 4 retrying, 1 missed").waitFor();
  await board.show(`sandbox/customers/${customer.id}`);
  await page
    .getByText(
      "5 of 8 webhooks about this customer have not arrived: 4 are being retried, 1 was missed because the endpoint is disabled.",
    )
    .waitFor();
  for (const one of [on, failing, off]) await api("DELETE", `/v1/webhook_endpoints/${one}`);
});

it("a replay goes first to the endpoints that an event did not reach, and says whether it arrived", async () => {
  const { page, api } = board;
  STATUSES["late"] = [500];
  await createEndpoint("late", `${receiver.url}/late`);
  await api("POST", "/v1/customers", { email: "replayed@example.com" });
  const [event] = (await api("GET", "/v1/events?type=customer.created")).body.data;
  const deliveries = async (query = "") => (await api("GET", `/v1/deliveries?event=${event.id}${query}`)).body.data;
  const toLate = async () => (await deliveries(`&endpoint=${ids.get("late")}`)).length;
  const toHealthy = async () => (await deliveries(`&endpoint=${ids.get("healthy")}`)).length;
  // An endpoint that was not attempted yet counts as missed, too.
  const isAttempted = ({ attempt_count: attempts }: { attempt_count: number }) => attempts > 0;
  await expect.poll(async () => (await deliveries()).every(isAttempted)).toBe(true);
  await board.show(`sandbox/events/${event.id}`);
  await page.locator(".also").getByText("retrying").first().waitFor();
  STATUSES["late"] = [200];
  await board.choose("Replay");
  const to = page.getByRole("dialog").getByLabel("To");
  await expect.poll(() => to.inputValue()).toBe("missed");
  await page.getByRole("button", { name: "Replay now" }).click();
  await page.getByText("Replayed to 4 receivers: 1 delivered, 3 not delivered.").waitFor();
  expect([await toLate(), await toHealthy()]).toEqual([2, 1]);
});

it("the explanation without an ID is that of the newest failure", async () => {
  const { page } = board;
  await board.show("sandbox/why");
  await page.locator("main:has(.answer.bad)").getByText("Explanation of the newest failure").waitFor();
  expect(page.url()).toMatch(/\/why\/dlv_\w+\?newest=1$/);
});

it("the page of an event shows each receiver that did not get it: its state, the cause, and what to do", async () => {
  const { page, api } = board;
  await board.show("sandbox");
  const [event] = (await api("GET", "/v1/events?type=customer.created")).body.data;
  await createEndpoint("latecomer", `${receiver.url}/healthy`);
  await board.show(`sandbox/events/${event.id}`);
  await page.getByText("Created after the event: latecomer.").waitFor();
  const block = page.locator(".also section").filter({ has: page.getByRole("link", { name: "broken" }) });
  await block.getByRole("heading", { name: /^broken retrying/ }).waitFor();
  await block.getByText("broken responded with 500").waitFor();
  // With more than two causes, each is two lines: the payload is not far below.
  expect(await page.locator(".also .copy-line").count()).toBe(0);
  const heights = await page.locator(".also > section").evaluateAll((all) => all.map((one) => one.clientHeight));
  expect(heights.length).toBeGreaterThan(2);
  expect(Math.max(...heights)).toBeLessThan(64);
  await block.getByRole("button", { name: "Details", expanded: false }).click();
  await block.getByText("Fix the error in the receiver, then retry.").waitFor();
  await block.locator(".copy-line").waitFor();
  await block.getByRole("button", { name: "Retry now" }).click();
  await page.getByText(/^Attempt \d+: 500 Internal Server Error\. Next attempt /).waitFor();
});

it("a search for deliveries names an unknown filter, and leads to the events, which may not have been sent", async () => {
  const { page } = board;
  await board.menu("Deliveries");
  await page.getByRole("searchbox").fill("status:broken ");
  await page.getByText("There is no status “broken”.").waitFor();
  await page.getByRole("searchbox").fill("since:25:99 ");
  await page.getByText("There is no since “25:99”. Try since:14:00 or since:2h.").waitFor();
  await page.getByRole("searchbox").fill("foo:bar ");
  await page.getByText(/^There is no filter “foo”\. Try since, /).waitFor();
  await page.getByRole("searchbox").fill("nobody@example.com");
  await page.getByRole("link", { name: "Search the events for “nobody@example.com”" }).click();
  await page.getByText("No matching events").waitFor();
});

it("every list finds the rows about a customer by what they show: address, amount and ID", async () => {
  const { page, api } = board;
  const endpoint = { url: `${receiver.url}/healthy`, events: ["order.*", "payment.*"], description: "Found" };
  const { id } = (await api("POST", "/v1/webhook_endpoints", endpoint)).body;
  const email = "nora.nordwind@example.com";
  const customer = (await api("POST", "/v1/customers", { email })).body;
  const order = (await api("POST", "/v1/orders", { amount: 8181, currency: "EUR", customer: customer.id })).body;
  const payment = (await api("POST", "/v1/payments", { amount: 8181, currency: "EUR", order: order.id })).body;
  const rows = page.locator("[data-row]");
  for (const [list, found] of [
    ["orders", [order]],
    ["payments", [payment]],
    ["events", [payment, order]],
    ["deliveries", [payment, order]],
  ] as const) {
    for (const query of [email, "nora.nord", "81.81"]) {
      await board.show(`sandbox/${list}`);
      await page.getByRole("searchbox").fill(query);
      for (const one of found) {
        const row = rows.filter({ hasText: one.id.slice(-6) }).first();
        await row.getByText("EUR 81.81").filter({ visible: true }).first().waitFor();
        // A row shows whom it is about.
        await row.getByText(email).filter({ visible: true }).first().waitFor();
      }
      await expect.poll(() => rows.filter({ hasText: "second@example.com" }).count()).toBe(0);
    }
  }
  await api("DELETE", `/v1/webhook_endpoints/${id}`);
});

it("counts before a decision are not in the request log", async () => {
  const { page, api } = board;
  await board.menu("Deliveries");
  await page.getByRole("button", { name: "Retry deliveries" }).click();
  await page
    .getByRole("dialog")
    .getByText(/ found: |\bChoose /)
    .waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await api("POST", "/v1/customers", { email: "after@example.com" });
  const newest = async () => (await api("GET", "/v1/request_logs?method=POST&limit=1")).body.data[0].path;
  await expect.poll(newest).toBe("/v1/customers");
  const { data } = (await api("GET", "/v1/request_logs?method=POST")).body;
  expect(data.filter(({ path }: { path: string }) => path === "/v1/deliveries/retry")).toEqual([]);
});
