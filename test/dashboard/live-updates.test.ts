import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;

beforeAll(async () => {
  board = await openBoard();
});
afterAll(async () => {
  await board.close();
  expect(board.complaints).toEqual([]);
});
beforeEach(() => board.page.unrouteAll({ behavior: "ignoreErrors" }));

describe("an open page", () => {
  it("shows that the CLI completed an order", async () => {
    const { page, api } = board;
    const order = (await api("POST", "/v1/orders", { amount: 1999, currency: "EUR" })).body;
    await board.show(`sandbox/orders/${order.id}`);
    await page.getByRole("button", { name: "Complete order" }).waitFor();
    await api("POST", `/v1/orders/${order.id}/complete`);
    await page.locator(".answer.object").getByText("completed").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Complete order" }).count()).toBe(0);
    await api("POST", "/v1/payments", { amount: 777, currency: "EUR", order: order.id });
    await page.getByRole("region", { name: "Payments of this order" }).getByText("EUR 7.77").waitFor();
  });

  it("shows that a payment failed", async () => {
    const { page, api } = board;
    const payment = (await api("POST", "/v1/payments", { amount: 1999, currency: "EUR" })).body;
    await board.show(`sandbox/payments/${payment.id}`);
    await page.getByRole("button", { name: "Mark as failed" }).waitFor();
    await api("POST", `/v1/payments/${payment.id}/fail`, { failure_code: "card_declined" });
    await page.locator(".answer").getByText("card_declined").waitFor();
  });

  it("shows a customer's new name and order", async () => {
    const { page, api } = board;
    const customer = (await api("POST", "/v1/customers", { email: "ada@example.com", name: "Ada" })).body;
    await board.show(`sandbox/customers/${customer.id}`);
    await page.getByText("No orders yet").waitFor();
    await api("PATCH", `/v1/customers/${customer.id}`, { name: "Ada King" });
    await api("POST", "/v1/orders", { amount: 4200, currency: "EUR", customer: customer.id });
    await page.getByRole("region", { name: "Summary" }).getByText("Ada King").waitFor();
    await page.getByRole("region", { name: "Orders of this customer" }).getByText("EUR 42.00").waitFor();
  });

  it("shows the sandbox's new time in its bar and on its page, but not in live mode", async () => {
    const { page, api } = board;
    await board.menu("Sandbox tools");
    await page.getByText("Same as real time").waitFor();
    await api("POST", "/v1/test_clock/advance", { seconds: 86_400 });
    await page.locator(".bar").getByText("1 d ahead").waitFor();
    await page.getByText("1 d ahead of real time").waitFor();

    let respond = () => {};
    const pending = new Promise<void>((resolve) => (respond = resolve));
    await page.route("**/v1/test_clock", async (route) => {
      await pending;
      await route.continue().catch(() => {});
    });
    const asked = page.waitForRequest("**/v1/test_clock");
    await api("POST", "/v1/test_clock/advance", { seconds: 3600 });
    await asked;
    const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/v1/test_clock"));
    await page.getByRole("group", { name: "Environment" }).getByRole("link", { name: "Live" }).click();
    await page.getByText("Live mode is never reset").waitFor();
    await ended;
    respond();
    await expect.poll(() => page.locator(".bar").innerText()).not.toContain("ahead");
  });
});

it("leaving a list through the menu clears its search", async () => {
  const { page, api } = board;
  const customer = (await api("POST", "/v1/customers", { email: "grace@example.com" })).body;
  for (const of of [{}, { customer: customer.id }])
    await api("POST", "/v1/orders", { amount: 1000, currency: "EUR", ...of });
  await board.show("sandbox/orders");
  await page.getByRole("searchbox").fill(customer.id);
  const rows = page.locator("tr[data-row]");
  await expect.poll(() => rows.count()).toBe(1);
  await board.menu("Orders");
  await expect.poll(() => rows.count()).toBeGreaterThan(1);
  await expect.poll(() => page.getByRole("searchbox").inputValue()).toBe("");
});

it("a failure to copy a secret is reported next to it, even in a dialog", async () => {
  const { page } = board;
  await board.show("sandbox/keys");
  await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByLabel("Name").fill("Copied");
  await page.getByLabel("Permissions").selectOption("full");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const once = page.getByRole("dialog", { name: "The new API key" });
  await once.getByRole("button", { name: "Copy the API key" }).click();
  await once.getByText("Select it manually").waitFor();
  await once.getByRole("button", { name: "Done" }).click();
});
