import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

const FAILED = 60;

let board: Board;
let receiver: ScriptedReceiver;
let status = 500;

beforeAll(async () => {
  receiver = await startScriptedReceiver((_request, response) => {
    // After a 503, no delivery is retried during a test.
    response.writeHead(status, { "retry-after": "3600" }).end();
  });
  board = await openBoard();
});
afterAll(async () => {
  await board.close();
  await receiver.close();
  expect(board.complaints).toEqual([]);
});

it("a dialog retries the failed deliveries of an endpoint after showing their number", async () => {
  status = 500;
  const { page, api } = board;
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/hook`, events: ["order.*"] }))
    .body;
  for (let created = 0; created < FAILED; created++) await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const count = async (name: string) => {
    const { total } = (await api("POST", "/v1/deliveries/retry", { endpoint: id, status: name, dry_run: true })).body;
    return total as number;
  };
  await expect.poll(() => count("pending")).toBe(FAILED);
  expect((await advanceClock(api, 4 * 86_400)).status).toBeLessThan(300);
  await expect.poll(() => count("failed")).toBe(FAILED);
  status = 200;

  await board.show(`sandbox/endpoints/${id}`);
  // The dialog counts from the sandbox's time.
  await page.locator(".bar").getByText("4 d ahead").waitFor();
  await page.getByRole("button", { name: `Retry ${FAILED} failed deliveries` }).click();
  const dialog = page.getByRole("dialog", { name: /^Retry (failed )?deliveries/ });
  // All since the endpoint began to fail.
  await dialog.getByText(`${FAILED} deliveries found: ${FAILED} failed.`).waitFor();
  await dialog.getByLabel("Created").selectOption("In the last 24 hours");
  await dialog.getByText("No deliveries to retry.").waitFor();
  await expect.poll(() => dialog.getByRole("button", { name: /^Retry/ }).isDisabled()).toBe(true);
  await dialog.getByLabel("Created").selectOption("Any time");
  await dialog.getByText(`${FAILED} deliveries found`).waitFor();
  await dialog.getByRole("button", { name: `Retry ${FAILED}` }).click();
  await expect.poll(() => dialog.count()).toBe(0);
  const outcome = page.getByRole("status", { name: "Retry", exact: true });
  await outcome.getByText(`Sent again: ${FAILED} deliveries. All were delivered.`).waitFor();
  expect(await outcome.getByRole("link", { name: "Explain" }).getAttribute("href")).toContain("/why/blk_");
  await outcome.getByRole("button", { name: "Close" }).click();
  await expect.poll(() => outcome.count()).toBe(0);
  await expect.poll(() => count("failed")).toBe(0);
  const [operation] = (await api("GET", "/v1/bulk_operations")).body.data;
  expect(operation).toMatchObject({ type: "deliveries.retry", status: "succeeded", total: FAILED, done: FAILED });
  await board.show(`sandbox/deliveries?endpoint=${id}&status=failed`);
  await page.getByText("No matching deliveries").waitFor();
});

it("a dialog shows that the count failed until another range is chosen", async () => {
  const { page } = board;
  await board.menu("Deliveries");
  await page.route("**/v1/statistics?*", (route) => route.abort());
  await page.getByRole("button", { name: "Retry deliveries" }).click();
  const dialog = page.getByRole("dialog", { name: /^Retry (failed )?deliveries/ });
  await dialog.getByRole("alert").getByText("cannot be reached").waitFor();
  await dialog.getByText("Counting…").waitFor({ state: "detached" });
  expect(await dialog.getByRole("button", { name: "Retry", exact: true }).isDisabled()).toBe(true);
  await page.unroute("**/v1/statistics?*");
  await dialog.getByLabel("Created").selectOption("In the last 7 days");
  await dialog.getByText(/deliveries found|deliveries to retry/).waitFor();
  expect(await dialog.getByRole("alert").count()).toBe(0);
  await dialog.getByRole("button", { name: "Cancel" }).click();
});

it("a dialog resends everything that an endpoint missed since it began to fail, including pending retries", async () => {
  status = 503;
  const { page, api } = board;
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/since`, events: ["order.*"] }))
    .body;
  for (let created = 0; created < 20; created++) await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const found = async (state: string) =>
    (await api("GET", `/v1/deliveries?endpoint=${id}&status=${state}&limit=100`)).body.data.length as number;
  await expect.poll(() => found("retrying")).toBe(20);
  const endpoint = async () => (await api("GET", `/v1/webhook_endpoints/${id}`)).body;
  await expect.poll(async () => (await endpoint()).health.failing_since).not.toBeNull();
  status = 200;
  await board.show("sandbox");
  await page.getByRole("button", { name: "Retry deliveries" }).click();
  const toAll = page.getByRole("dialog");
  const failing = toAll.getByRole("checkbox", { name: /\/since.*last attempt failed/ });
  await failing.waitFor();
  expect(await failing.isChecked()).toBe(false);
  await toAll.getByText("The last attempt to both failed. Choose those that you have repaired.").waitFor();
  await failing.check();
  await toAll.getByText(/^20 deliveries found: 20 retrying/).waitFor();
  await toAll.getByRole("button", { name: "Cancel" }).click();
  const row = page.getByRole("row").filter({ hasText: `${receiver.url}/since`.replace("http://", "") });
  await row.getByRole("button", { name: /^More for/ }).click();
  await page.getByRole("menuitem", { name: "Retry deliveries" }).click();
  const dialog = page.getByRole("dialog", { name: /^Retry (failed )?deliveries/ });
  await dialog.getByText(/^20 deliveries found: 20 retrying/).waitFor();
  await dialog.getByText("Repair the receiver first").waitFor();
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await dialog.getByText(/^The last attempt to .* succeeded (now|\d+ s ago)\.$/).waitFor();
  await dialog.getByRole("button", { name: "Retry 20" }).click();
  await expect.poll(() => found("succeeded")).toBe(21);
  await expect.poll(async () => (await endpoint()).health.failing_since).toBeNull();
  // An endpoint that works again is not failing.
  await expect.poll(() => row.getByText("Failing since").count()).toBe(0);
});

it("the page of deliveries retries the deliveries in the list, and describes them", async () => {
  status = 500;
  const { page, api } = board;
  const { id } = (
    await api("POST", "/v1/webhook_endpoints", {
      url: `${receiver.url}/filtered`,
      events: ["payment.*"],
      description: "Ledger",
    })
  ).body;
  const pay = () => api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
  await pay();
  await pay();
  const found = async (query: string) => (await api("GET", `/v1/deliveries?endpoint=${id}&${query}`)).body.data;
  await expect.poll(async () => (await found("status=retrying")).length).toBe(2);
  const [newest] = await found("status=retrying");
  await api("POST", `/v1/deliveries/${newest.id}/cancel`);
  const dialog = page.getByRole("dialog");
  const open = async (query: string) => {
    await board.show(`sandbox/deliveries?endpoint=${id}&${query}`);
    await page.getByRole("button", { name: "Retry deliveries" }).click();
  };
  const close = () => dialog.getByRole("button", { name: "Cancel" }).click();
  await open("status=canceled");
  await dialog.getByRole("heading", { name: "Retry canceled deliveries to Ledger" }).waitFor();
  await dialog.getByText(/^1 delivery found: 1 canceled\./).waitFor();
  await close();
  await open("status=retrying");
  await dialog.getByText(/^1 delivery found: 1 retrying\./).waitFor();
  await close();
  await open("status=retrying&created_before=2020-01-01T00:00:00Z");
  await dialog.getByText(/^Created before .*2020/).waitFor();
  await dialog.getByText("No deliveries to retry.").waitFor();
  await close();
  await open("query=payment");
  await dialog.getByText("Clear the search to retry many.").waitFor();
  expect(await dialog.getByRole("button", { name: /^Retry/ }).isDisabled()).toBe(true);
  await close();
});

it("the dashboard shows the deliveries that are being retried, wherever they are counted", async () => {
  status = 500;
  const { page, api } = board;
  const url = `${receiver.url}/crm`;
  await api("POST", "/v1/webhook_endpoints", { url, events: ["customer.*"], description: "CRM" });
  await api("POST", "/v1/customers", { email: "later@example.com" });
  await board.show("sandbox");
  // Until the overview knows of a waiting delivery, it shows all.
  await page.getByRole("link", { name: "1 retrying, CRM" }).waitFor();
  await page.getByRole("button", { name: "More for CRM" }).click();
  await page.getByRole("menuitem", { name: "Show deliveries" }).click();
  const row = page.getByRole("row").filter({ hasText: "customer.created" });
  await row.getByText("retrying").waitFor();
  await expect.poll(() => page.getByLabel("Status").inputValue()).toBe("pending");
  await expect.poll(() => page.getByLabel("Endpoint").locator("option:checked").textContent()).toBe("CRM");
  await row.getByRole("link").first().press("Enter");
  await page
    .getByRole("complementary")
    .getByText(/; attempt \d+ is due at /)
    .waitFor();
  await board.menu("Endpoints");
  await page
    .getByRole("row")
    .filter({ hasText: url.replace("http://", "") })
    .getByRole("link", { name: "1 retrying, CRM" })
    .click();
  await row.getByText("retrying").waitFor();
  await page.getByLabel("Status").selectOption("failed");
  await page.getByText("No matching deliveries").waitFor();
});

it("the dashboard says that nothing was sent to an endpoint that is disabled", async () => {
  status = 410;
  const { page, api } = board;
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/left`, events: ["order.*"] }))
    .body;
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await expect.poll(async () => (await api("GET", `/v1/webhook_endpoints/${id}`)).body.status).toBe("disabled");
  await board.show(`sandbox/deliveries?endpoint=${id}&status=failed`);
  await page.getByRole("button", { name: "Retry 1 delivery" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Retry 1" }).click();
  const outcome = page.getByRole("status", { name: "Retry", exact: true }).filter({ hasText: "Not sent" });
  await outcome.getByText(/^Not sent: 1 delivery\. .*disabled/).waitFor();
  expect(await outcome.textContent()).not.toContain("delivered");
  await outcome.getByRole("button", { name: "Close" }).click();
  status = 200;
});

it("the dashboard shows all deliveries of an endpoint of which none waits or failed", async () => {
  status = 200;
  const { page, api } = board;
  const url = `${receiver.url}/paid`;
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url, events: ["payment.*"], description: "Paid" })).body;
  await api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
  const delivered = async () => (await api("GET", `/v1/deliveries?endpoint=${id}&status=succeeded`)).body.data;
  await expect.poll(async () => (await delivered()).length).toBe(1);
  await board.show("sandbox");
  await page.getByRole("button", { name: "More for Paid" }).click();
  await page.getByRole("menuitem", { name: "Show deliveries" }).click();
  await page.getByRole("row").filter({ hasText: "payment.created" }).getByText("delivered").waitFor();
});

it("a dialog enables an endpoint, and replays the events that it missed while it was disabled", async () => {
  const { page, api } = board;
  const subscriptions = ["order.*", "order.created"];
  const url = `${receiver.url}/gone`;
  // No event of another test is as new as the endpoint.
  await advanceClock(api, 60);
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url, events: subscriptions })).body;
  status = 200;
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const delivered = async () => (await api("GET", `/v1/deliveries?endpoint=${id}&status=succeeded`)).body.data.length;
  await expect.poll(delivered).toBe(1);
  status = 410;
  await api("POST", `/v1/webhook_endpoints/${id}/ping`);
  const endpoint = async () => (await api("GET", `/v1/webhook_endpoints/${id}`)).body;
  await expect.poll(async () => (await endpoint()).status).toBe("disabled");
  // The ping failed before the replay, not in the same second.
  await advanceClock(api, 60);
  status = 200;
  for (let created = 0; created < 5; created++) await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await board.show(`sandbox/endpoints/${id}`);
  await page.getByRole("button", { name: "Enable and replay" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("It will receive the 6 events that it missed while disabled.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect((await endpoint()).status).toBe("disabled");
  await page.getByRole("button", { name: "Enable and replay" }).click();
  // The ping, whose response disabled the endpoint.
  await dialog.getByRole("checkbox", { name: "Also retry the delivery that failed before" }).waitFor();
  await dialog.getByRole("button", { name: "Enable and replay 6" }).click();
  await page.getByText("Enabled. Replaying 6 missed events and retrying 1 failed delivery").waitFor();
  const outcome = page.getByRole("status", { name: "Replay", exact: true });
  await outcome.getByText("Replayed: 6 missed events. All were delivered.").waitFor();
  await outcome.getByRole("button", { name: "Close" }).click();
  // The answer is about the endpoint as it is now.
  await expect.poll(() => page.locator(".answer").textContent()).not.toContain("was disabled");
  const succeeded = async () =>
    (await api("GET", `/v1/deliveries?endpoint=${id}&status=succeeded&limit=100`)).body.data;
  await expect.poll(async () => (await succeeded()).length).toBe(8);
});

it("a dialog shows the progress of a running operation, and stops it", async () => {
  // The workers are stopped, so that the operation stays in progress.
  const idle = await openBoard({ role: "api" });
  const { page, api } = idle;
  for (let created = 0; created < 3; created++) await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  const { id, status: created } = (await api("POST", "/v1/events/replay", { type: "order.*" })).body;
  expect(created).toBe("running");
  await idle.menu("Deliveries");
  const running = page.getByRole("status", { name: "Replay", exact: true });
  await running.getByText("Replaying 3 events: 0 done").waitFor();
  await expect.poll(() => running.getByRole("progressbar").getAttribute("max")).toBe("3");
  await running.getByRole("button", { name: "Stop" }).click();
  await expect.poll(() => running.count()).toBe(0);
  expect((await api("GET", `/v1/bulk_operations/${id}`)).body.status).toBe("canceled");
  await idle.close();
  expect(idle.complaints).toEqual([]);
});

it("a dialog counts again if the clock is advanced while the dialog is open", async () => {
  status = 503;
  const { page, api } = board;
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/clock`, events: ["payment.*"] }))
    .body;
  await api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
  await board.show(`sandbox/deliveries?endpoint=${id}`);
  await page.getByText("Retrying, 1 failed").waitFor();
  await page.getByRole("button", { name: "Retry deliveries" }).click();
  const dialog = page.getByRole("dialog", { name: /^Retry (failed )?deliveries/ });
  await dialog.getByLabel("Created").selectOption("In the last 24 hours");
  await dialog.getByText("1 delivery found: 1 retrying").waitFor();
  await advanceClock(api, 2 * 86_400);
  await dialog.getByText("No deliveries to retry.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
});

it("a dialog names the cause of each endpoint after a retry to several, unless they share it", async () => {
  const { page, api } = board;
  // No other endpoint has something to retry.
  const { data: others } = (await api("GET", "/v1/webhook_endpoints?limit=100")).body;
  for (const { id } of others) await api("DELETE", `/v1/webhook_endpoints/${id}`);
  const subscribe = async (path: string, event: string) =>
    (await api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events: [event], description: path })).body;
  status = 503;
  const { id } = await subscribe("/Billing", "customer.created");
  await subscribe("/Search", "payment.created");
  await api("POST", "/v1/customers", { email: "several@example.com" });
  await api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
  const retrying = async () => (await api("GET", "/v1/deliveries?status=retrying")).body.data.length;
  await expect.poll(retrying).toBe(2);
  const outcome = page.getByRole("status", { name: "Retry", exact: true }).last();
  const retryAll = async () => {
    await board.show("sandbox/deliveries");
    await page.getByRole("button", { name: "Retry deliveries" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("checkbox", { name: "Select all" }).check();
    await dialog.getByRole("button", { name: "Retry 2" }).click();
  };
  await retryAll();
  await outcome.getByText(/0 delivered, 2 (not yet|failed again): 503 Service Unavailable\.$/).waitFor();
  await api("PATCH", `/v1/webhook_endpoints/${id}`, { url: "http://127.0.0.1:9/" });
  await retryAll();
  await outcome.getByText(/\/Search: 503 Service Unavailable/).waitFor();
  await outcome.getByText(/\/Billing: (?!503)/).waitFor();
});
