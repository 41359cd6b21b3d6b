import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { it } from "../support/chromium.ts";
import { spawnListener } from "../support/listener.ts";
import { createConfigDir } from "../support/run-cli.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;
let receiver: ScriptedReceiver;
let isBroken = true;

beforeAll(async () => {
  receiver = await startScriptedReceiver(({ path }, response) => {
    // With this header, no delivery is retried during a test.
    if (isBroken && path === "/later") response.writeHead(503, { "retry-after": "3600" });
    else response.writeHead(!isBroken ? 200 : path === "/gone" ? 410 : 500);
    response.end("out of stock");
  });
  board = await openBoard();
});
afterAll(async () => {
  await board.close();
  await receiver.close();
  expect(board.complaints).toEqual([]);
});

const order = async () => (await board.api("POST", "/v1/orders", { amount: 1999, currency: "EUR" })).body.id as string;

it("the overview and the endpoint count what failed for good, and retry it", async () => {
  const { page, api } = board;
  const { body } = await api("POST", "/v1/webhook_endpoints", {
    url: `${receiver.url}/hooks`,
    events: ["order.created"],
    description: "Billing",
  });
  await order();
  await order();
  await advanceClock(api, 4 * 86_400);
  const failed = async () => (await api("GET", "/v1/statistics")).body.endpoints[0].failed_deliveries;
  await expect.poll(failed).toBe(2);
  await board.show("sandbox");
  const lost = "2 deliveries will not arrive unless you retry them.";
  await page.getByRole("link", { name: "2 failed deliveries" }).waitFor();
  await page.getByRole("link", { name: "2 failed, Billing" }).waitFor();
  // What is being loaded does not look like an empty result.
  await page.route("**/v1/statistics?*minutes=*", () => {});
  await board.show(`sandbox/endpoints/${body.id}`);
  await page.locator(".plot.unknown").waitFor();
  await page.locator(".facts .unknown").first().waitFor();
  expect(await page.getByText("none in this time").count()).toBe(0);
  await page.unroute("**/v1/statistics?*minutes=*");
  await board.show(`sandbox/endpoints/${body.id}`);
  await page.locator(".answer").getByText(lost).waitFor();
  isBroken = false;
  await board.show("sandbox");
  await page.getByRole("button", { name: "Retry deliveries" }).click();
  await page.getByRole("checkbox", { name: /^Billing/ }).check();
  await page.getByRole("dialog").getByRole("button", { name: "Retry 2" }).click();
  await expect.poll(failed).toBe(0);
  await page.getByRole("row").filter({ hasText: "Billing" }).getByText("Healthy").waitFor();
  await page.getByText(lost).waitFor({ state: "detached" });
});

it("an endpoint that works again is not healthy until what failed has arrived", async () => {
  const { page, api } = board;
  isBroken = true;
  const { id } = (
    await api("POST", "/v1/webhook_endpoints", {
      url: `${receiver.url}/gone`,
      events: ["customer.created"],
      description: "Old CRM",
    })
  ).body;
  const customer = (email: string) => api("POST", "/v1/customers", { email });
  const deliveries = async (status: string) =>
    (await api("GET", `/v1/deliveries?endpoint=${id}&status=${status}`)).body.data.length as number;
  await customer("lost@example.com");
  await expect.poll(() => deliveries("failed")).toBe(1);
  isBroken = false;
  await board.show(`sandbox/endpoints/${id}`);
  await page.locator(".answer").getByText("410 Gone; 1 delivery failed.").waitFor();
  await page.getByRole("button", { name: "Enable and replay" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: "Also retry the delivery that failed before" }).uncheck();
  await dialog.getByRole("button", { name: "Enable", exact: true }).click();
  await page.getByText(/^Enabled\. Replaying 0 missed events;/).waitFor();
  await customer("new@example.com");
  await expect.poll(() => deliveries("succeeded")).toBe(1);

  const headline = "Old CRM works again, but 1 older delivery has not arrived.";
  await page.locator(".answer").getByText(headline).waitFor();
  await board.show("sandbox/endpoints");
  const row = page.getByRole("row").filter({ hasText: "Old CRM" });
  await row.locator("td.from-tablet").getByText("Working, 1 not delivered").waitFor();
  await board.show(`sandbox/endpoints/${id}`);
  await page.getByRole("button", { name: "Retry 1 failed delivery" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Retry 1" }).click();
  await expect.poll(() => deliveries("succeeded")).toBe(2);
  await board.show("sandbox/endpoints");
  await row
    .locator("td.from-tablet")
    .getByText(/^(Healthy|Recovered, .*)$/)
    .waitFor();
  await api("DELETE", `/v1/webhook_endpoints/${id}`);
});

it("the retry of everything leaves out what is not chosen, and enables disabled endpoints that are", async () => {
  const { page, api } = board;
  isBroken = true;
  const url = `${receiver.url}/later`;
  const endpoint = async (description: string) =>
    (await api("POST", "/v1/webhook_endpoints", { url, events: ["payment.*"], description })).body.id as string;
  const [chosen, other, disabled] = [await endpoint("Ledger"), await endpoint("Reports"), await endpoint("Retired")];
  const shut = await endpoint("Shut, for now");
  await api("PATCH", `/v1/webhook_endpoints/${shut}`, { status: "disabled" });
  await api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
  const attempts = async (id: string) =>
    (await api("GET", `/v1/deliveries?endpoint=${id}`)).body.data[0].attempt_count as number;
  const all = () => Promise.all([chosen, other, disabled].map(attempts));
  await expect.poll(all).toEqual([1, 1, 1]);
  await api("PATCH", `/v1/webhook_endpoints/${disabled}`, { status: "disabled" });
  await board.show("sandbox");
  // What a disabled endpoint missed is not sent by a retry, and ranks below what fails.
  await page.getByLabel("Summary").getByText("1 endpoint is disabled.").waitFor();
  await page.getByRole("link", { name: "1 missed event" }).waitFor();
  const table = page.getByRole("region", { name: "Endpoints, worst first" });
  // Rows keep their order below the pointer.
  await page.mouse.move(0, 0);
  const names = async () =>
    (await table.locator("tr[data-row]").allInnerTexts()).map((text) => /^\w+/.exec(text)?.[0] ?? "");
  const ranked = async () => {
    const all = await names();
    return [all.slice(0, 2).toSorted(), all.slice(2, 4).toSorted()];
  };
  await expect.poll(ranked).toEqual([
    ["Ledger", "Reports"],
    ["Retired", "Shut"],
  ]);
  await page.getByRole("button", { name: "Retry deliveries" }).click();
  const dialog = page.getByRole("dialog");
  // Their only attempt failed, with 503: neither is known to have failed for long.
  await dialog.getByText("The last attempt to both failed. Choose those that you have repaired.").waitFor();
  expect(await dialog.getByText("last attempt failed").count()).toBe(2);
  expect(await dialog.getByRole("checkbox", { checked: true }).count()).toBe(0);
  await dialog.getByRole("checkbox", { name: "Select all" }).check();
  await dialog.getByText("2 deliveries found: 2 retrying.").waitFor();
  // A disabled endpoint gets something only if it is chosen by itself.
  for (const [name, words] of [
    ["Retired", "1 held"],
    ["Shut, for now", "1 missed"],
  ] as const) {
    await dialog.getByRole("checkbox", { name: new RegExp(`^${name}.*${words}`), checked: false }).waitFor();
  }
  await dialog.getByRole("checkbox", { name: /^Reports/ }).uncheck();
  isBroken = false;
  await dialog.getByRole("button", { name: "Retry 1" }).click();
  const outcome = page.getByRole("status", { name: "Retry", exact: true }).last();
  await outcome.getByText("1 delivery. It was delivered.").waitFor();
  expect(await all()).toEqual([2, 1, 1]);
  await page.getByRole("button", { name: "Retry deliveries" }).click();
  await dialog.getByRole("checkbox", { name: /^Reports/ }).uncheck();
  await dialog.getByRole("checkbox", { name: /^Shut, for now/ }).check();
  await dialog.getByRole("checkbox", { name: /^Retired/ }).check();
  await dialog.getByText("Retired is enabled and gets 1 held.").waitFor();
  await dialog.getByRole("button", { name: "Retry 2" }).click();
  await expect.poll(all).toEqual([2, 1, 2]);
  const missed = async () => (await api("GET", `/v1/deliveries?endpoint=${shut}`)).body.data.length as number;
  await expect.poll(missed).toBe(1);
  for (const id of [chosen, other, disabled, shut]) await api("DELETE", `/v1/webhook_endpoints/${id}`);
});

it("an event shows the listener that it was sent to, also after the listener's end", async () => {
  const { page, platform } = board;
  isBroken = true;
  const url = `${receiver.url}/local`;
  const env = {
    SERVICE_BASE_URL: platform.baseUrl,
    SERVICE_API_KEY: platform.sandboxKey,
    SERVICE_CONFIG_DIR: createConfigDir(),
  };
  // While the page's time stands still, it does not read the statistics only because they are old.
  await page.clock.setFixedTime(Date.now());
  await board.show("sandbox");
  await page.locator(".figures").waitFor();
  const listener = await spawnListener(env, ["--forward-to", url, "--retries", "20"]);
  await page.getByText(`1 listener connected, forwarding to ${url}`).waitFor();
  const endpoint = { url: `${receiver.url}/off`, events: ["order.created"], description: "Archive" };
  const { id: off } = (await board.api("POST", "/v1/webhook_endpoints", endpoint)).body;
  await board.api("PATCH", `/v1/webhook_endpoints/${off}`, { status: "disabled" });
  const id = await order();
  const [event] = (await board.api("GET", `/v1/events?related=${id}`)).body.data;
  await board.show(`sandbox/endpoints/${off}`);
  await page.getByRole("button", { name: "Enable and replay" }).click();
  await page.getByRole("dialog").getByText("The connected listener receives the replayed events too").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await board.show(`sandbox/events/${event.id}`);
  const row = page
    .getByLabel("Listeners that the event was sent to")
    .getByRole("row")
    .filter({ hasText: url.replace("http://", "") });
  await row.getByText(/^Retrying, \d+ failed$/).waitFor();
  await listener.kill();
  const failed = () => board.api("GET", `/v1/deliveries?event=${event.id}&status=failed`);
  await expect.poll(async () => (await failed()).body.data.length).toBe(1);
  await board.restart();
  await board.show(`sandbox/events/${event.id}`);
  await page
    .getByText(/(Your application|\/local) responded with 500/)
    .first()
    .waitFor();
});

it("the dashboard does not move what is shown when the rest of a page becomes known", async () => {
  const { page, api } = board;
  isBroken = true;
  for (const name of ["Ledger", "Mailer"]) {
    const url = `${receiver.url}/later?${name}`;
    await api("POST", "/v1/webhook_endpoints", { url, events: ["order.created"], description: name });
  }
  const id = await order();
  const [event] = (await api("GET", `/v1/events?related=${id}`)).body.data as { id: string }[];
  const [endpoint] = (await api("GET", "/v1/webhook_endpoints")).body.data as { id: string }[];
  const deliveries = async () =>
    (await api("GET", `/v1/deliveries?event=${event!.id}`)).body.data as { id: string; attempt_count: number }[];
  const areAttempted = async () => {
    return (await deliveries()).every(({ attempt_count: count }) => count > 0);
  };
  await expect.poll(areAttempted).toBe(true);
  const [delivery] = await deliveries();
  for (const [path, held] of [
    [`sandbox/events/${event!.id}`, "webhook_endpoints?*"],
    [`sandbox/orders/${id}`, "webhook_endpoints?*"],
    [`sandbox/deliveries/${delivery!.id}`, "events/*"],
    [`sandbox/endpoints/${endpoint!.id}`, "statistics?endpoint=*"],
    ["sandbox/clock", "sandbox/snapshots"],
    ["people", "users"],
  ] as const) {
    let respond = () => {};
    const pending = new Promise<void>((resolve) => (respond = resolve));
    await page.route(`**/v1/${held}`, async (route) => {
      await pending;
      await route.continue().catch(() => {});
    });
    await board.restart();
    if (path.startsWith("sandbox/endpoints")) await page.setViewportSize({ width: 390, height: 900 });
    await page.evaluate(`{
      window.moved = 0;
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) window.moved += value;
      }).observe({ type: "layout-shift" });
    }`);
    await board.show(path);
    await page.locator("main .waiting").waitFor({ state: "attached" });
    respond();
    await page.locator("main .waiting").waitFor({ state: "detached" });
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    // https://web.dev/articles/cls: up to 0.1 is good.
    expect(await page.evaluate("window.moved"), path).toBeLessThan(0.05);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.setViewportSize({ width: 1440, height: 900 });
  }
});

it("failed deliveries to listeners are counted and listed, with their URL", async () => {
  const { page, platform, api } = board;
  isBroken = true;
  const url = `${receiver.url}/never`;
  expect((await api("POST", "/v1/sandbox/reset", { endpoints: "keep" })).status).toBeLessThan(300);
  const env = {
    SERVICE_BASE_URL: platform.baseUrl,
    SERVICE_API_KEY: platform.sandboxKey,
    SERVICE_CONFIG_DIR: createConfigDir(),
  };
  const listener = await spawnListener(env, ["--forward-to", url, "--retries", "0"]);
  await order();
  const failed = async (query: string) => (await api("GET", `/v1/deliveries?status=failed${query}`)).body.data;
  await expect.poll(async () => (await failed("&receiver=listener")).length).toBe(1);
  const [{ id }] = await failed("&receiver=listener");
  await board.show(`sandbox/deliveries/${id}`);
  await page.locator(".answer").getByRole("button", { name: "Retry now" }).waitFor();
  await listener.kill();
  const all = (await failed("")).length;
  await board.restart();
  await board.show("sandbox");
  const words = all === 1 ? "1 failed delivery" : `${all} failed deliveries`;
  await page.getByRole("link", { name: words }).waitFor();
  await page.getByRole("link", { name: "1 failed, Listeners" }).click();
  await page.getByRole("row").filter({ hasText: "/never" }).waitFor();
  expect(await page.locator("tr[data-row]").count()).toBe(1);
  expect(await page.getByLabel("Endpoint").locator("option:checked").textContent()).toBe("Listeners");
  await board.show("sandbox/deliveries");
  await page.getByRole("button", { name: "Retry deliveries" }).click();
  await page.getByRole("dialog").getByRole("link", { name: "1 failed delivery to listeners" }).waitFor();
  await board.show(`sandbox/deliveries/${id}`);
  await page.locator(".facts").getByText(url).waitFor();
  await page.getByLabel("Request of attempt 1").getByText(`POST ${url}`).waitFor();
});
