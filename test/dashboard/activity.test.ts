import { afterAll, beforeAll, describe, expect } from "vitest";
import type { Explanation } from "../../src/cli/explanation.ts";
import { inProject } from "../../src/contract/shell-command.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { it } from "../support/chromium.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;
let receiver: ScriptedReceiver;
/** The receiver's response at /orders. */
let respond = { status: 500, body: "the warehouse is closed" };

beforeAll(async () => {
  receiver = await startScriptedReceiver((request, response) => {
    const isOrders = request.path === "/orders";
    response.statusCode = isOrders ? respond.status : 200;
    response.end(isOrders ? respond.body : "thanks");
  });
  board = await openBoard();
  await board.api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/all`, events: ["*"] });
  await board.api("POST", "/v1/webhook_endpoints", { url: `${receiver.url}/orders`, events: ["order.*"] });
  await board.page.getByText("Quick start").waitFor();
});
afterAll(async () => {
  await board.close();
  await receiver.close();
  expect(board.complaints).toEqual([]);
});

// One session in one browser: each test continues where the previous one ended.
describe("the dashboard", { shuffle: false }, () => {
  describe("customers, orders and payments", () => {
    it("a customer is created with metadata, found by email, edited and deleted, and an invalid value is shown beside its field", async () => {
      const { page, api } = board;
      await board.menu("Customers");
      await page.getByRole("button", { name: "Create customer" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Email").fill("not an address");
      for (const [key, value] of [
        ["plan", "pro"],
        ["seats", "4"],
      ] as const) {
        await dialog.getByRole("button", { name: "Add metadata" }).click();
        await page.keyboard.type(key);
        await page.keyboard.press("Tab");
        await page.keyboard.type(value);
      }
      await dialog.getByRole("button", { name: "Create customer" }).click();
      const mistake = dialog.locator(".field-error").filter({ hasText: "must be an email address such as" });
      await mistake.waitFor();
      const firstLetter = `getComputedStyle(document.querySelector(".field-error"), "::first-letter").textTransform`;
      expect(await page.evaluate(firstLetter)).toBe("uppercase");
      await expect.poll(() => dialog.getByLabel("Email").getAttribute("aria-invalid")).toBe("true");
      await dialog.getByLabel("Email").fill("ada@example.com");
      await dialog.getByLabel("Name").fill("Ada Lovelace");
      await dialog.getByRole("button", { name: "Create customer" }).click();
      await page.getByRole("heading", { name: "ada@example.com" }).waitFor();
      const [customer] = (await api("GET", "/v1/customers")).body.data;
      expect(customer).toMatchObject({ name: "Ada Lovelace", metadata: { plan: "pro", seats: "4" } });
      await page.getByRole("region", { name: "Events of this object" }).getByText("customer.created").waitFor();

      await page.getByRole("button", { name: "Edit" }).click();
      await page.getByLabel("Name").fill("Ada King");
      await page.getByRole("button", { name: "Save" }).click();
      await page.locator(".answer.object").getByText("Ada King").waitFor();
      await page.getByRole("region", { name: "Events of this object" }).getByText("customer.updated").waitFor();

      await api("POST", "/v1/customers", { email: "grace@example.com" });
      await board.menu("Customers");
      await page.getByRole("searchbox").fill("grace@example.com");
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      await page.getByRole("link", { name: "grace@example.com" }).click();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("button", { name: "Delete customer" }).click();
      await page.getByText(/^Deleted cus_/).waitFor();
      expect((await api("GET", "/v1/customers?email=grace@example.com")).body.data).toEqual([]);
    });

    it("an order is created for a customer and completed; a payment for it fails, another succeeds", async () => {
      const { page, api } = board;
      const customer = (await api("POST", "/v1/customers", { email: "buyer@example.com" })).body;
      await board.menu("Orders");
      await page.getByRole("button", { name: "Create order" }).click();
      await page.getByLabel("Amount").fill("19.99");
      await page.getByText("EUR 19.99").waitFor();
      await page.getByLabel("Customer").fill(customer.id);
      await page.getByRole("dialog").getByRole("button", { name: "Create order" }).click();
      await page.getByRole("heading", { name: "Order of EUR 19.99" }).waitFor();
      await page.getByRole("button", { name: "Complete order" }).click();
      await page.locator(".answer.object").getByText("completed").waitFor();
      const [order] = (await api("GET", "/v1/orders")).body.data;
      expect(order).toMatchObject({ status: "completed", customer: customer.id });

      for (const [verb, status] of [
        ["Mark as failed", "failed"],
        ["Mark as succeeded", "succeeded"],
      ] as const) {
        await board.menu("Payments");
        await page.getByRole("button", { name: "Create payment" }).click();
        await page.getByLabel("Amount").fill("19.99");
        await page.getByLabel("Order").fill(order.id);
        await page.getByRole("dialog").getByRole("button", { name: "Create payment" }).click();
        await page.getByRole("heading", { name: "Payment of EUR 19.99" }).waitFor();
        await page.getByRole("button", { name: verb }).click();
        if (status === "failed") {
          await page.getByLabel("Failure code").fill("insufficient_funds");
          await page.getByRole("dialog").getByRole("button", { name: verb }).click();
        }
        await page.locator(".answer.object").getByText(status).waitFor();
      }
      await board.menu("Payments");
      await page.getByLabel("Status").selectOption("failed");
      await page.getByText("insufficient_funds").waitFor();
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      await page.getByRole("searchbox").fill(order.id);
      await expect.poll(() => new URL(page.url()).searchParams.get("query")).toBe(order.id);
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      await page.getByLabel("Status").selectOption("");
      await expect.poll(() => page.getByRole("row").count()).toBe(3);
    });
  });

  /** Creates and completes an order. Returns the order and the event of its completion. */
  async function completedOrder(): Promise<{ id: string; event: string }> {
    const { api } = board;
    const { id } = (await api("POST", "/v1/orders", { amount: 4200, currency: "EUR" })).body;
    await api("POST", `/v1/orders/${id}/complete`);
    const { data } = (await api("GET", `/v1/events?related=${id}&type=order.completed`)).body;
    return { id, event: data[0].id };
  }

  describe("events", () => {
    it("appear as they happen, are filtered by type, and searched by their values as shown", async () => {
      const { page, api } = board;
      await board.menu("Events");
      const list = page.getByRole("table", { name: "Events, newest first" });
      const { event } = await completedOrder();
      const link = list.locator(`a[href$="${event}"]`);
      await link.waitFor();
      await api("POST", "/v1/customers", { email: "live@example.com", metadata: { colour: "ultramarine" } });
      await list.getByText("live@example.com").waitFor();
      await page.getByLabel("Type").selectOption("order.*");
      await link.waitFor();
      await expect.poll(() => list.getByText("live@example.com").count()).toBe(0);
      await page.getByLabel("Type").selectOption("");
      await page.getByRole("searchbox").fill("ULTRAmarine");
      await expect.poll(() => list.getByRole("row").count()).toBe(2);
      // Every customer event has a field of this name, and none has it as a value.
      await page.getByRole("searchbox").fill("metadata");
      await page.getByText("No matching events").waitFor();
      await page.getByRole("searchbox").fill("EUR 42.00");
      await link.waitFor();
    });

    it("show the status of their deliveries, and update it", async () => {
      const { page, api } = board;
      await board.menu("Events");
      const { event } = await completedOrder();
      const row = page.getByRole("row").filter({ has: page.locator(`a[href$="${event}"]`) });
      await row.getByText("1 of 2 · 1 retrying").waitFor();
      const failing = (await api("GET", `/v1/deliveries?event=${event}&status=pending`)).body.data;
      expect((await api("POST", `/v1/deliveries/${failing[0].id}/cancel`)).status).toBe(200);
      await row.getByText("1 of 2 · 1 canceled").waitFor();
      const { email } = (await api("POST", "/v1/customers", { email: "once@example.com" })).body;
      await page.getByRole("row").filter({ hasText: email }).getByText("delivered", { exact: true }).waitFor();
    });

    it("show their payload, raw bytes and deliveries, and are replayed to one endpoint", async () => {
      const { page } = board;
      const { event } = await completedOrder();
      const sent = () => receiver.at("/all").filter((request) => request.event === event);
      await board.show(`sandbox/events/${event}`);
      await page.getByRole("heading", { name: "order.completed" }).waitFor();
      await expect.poll(() => sent().length).toBe(1);
      await page.locator("details.json").getByText('"completed"').waitFor();
      await page.getByRole("group", { name: "View of the payload" }).getByRole("button", { name: "Raw" }).click();
      await expect.poll(() => page.locator("pre.raw").textContent()).toBe(sent()[0]!.body);
      const deliveries = page.getByRole("region", { name: "Deliveries of this event" });
      await expect.poll(() => deliveries.getByRole("row").count()).toBe(3);
      await deliveries.getByRole("link", { name: `${receiver.url}/orders` }).waitFor();

      await board.choose("Replay");
      await page
        .getByRole("dialog")
        .getByLabel("To")
        .selectOption({ label: `${receiver.url}/all`.replace("http://", "") });
      await page.getByRole("button", { name: "Replay now" }).click();
      await expect.poll(() => deliveries.getByRole("row").count()).toBe(4);
      await expect.poll(() => sent().length).toBe(2);
      expect(new Set(sent().map(({ body }) => body)).size).toBe(1);
    });
  });

  describe("deliveries", () => {
    beforeAll(async () => {
      const { length } = receiver.at("/orders");
      await completedOrder();
      await receiver.until(length + 2, "/orders");
    });

    it("show each attempt with its response, and the planned attempts, and can be retried immediately", async () => {
      const { page } = board;
      await board.menu("Deliveries");
      await page.getByLabel("Status").selectOption("pending");
      // The newest event.
      await page.getByRole("link", { name: "order.completed" }).first().press("Enter");
      const steps = page.locator(".timeline > li");
      await steps.getByText("the warehouse is closed").first().waitFor();
      await expect.poll(() => steps.first().textContent()).toMatch(/Attempt 1.*500/);
      await page.getByText(/^Attempt 2$/).waitFor();
      await expect.poll(() => steps.filter({ hasText: "(if needed)" }).count()).toBe(4);
      await steps.first().getByText(`POST ${receiver.url}/orders`).waitFor();
      await steps.first().getByText("Service-Signature: t=").waitFor();
      await steps.first().getByRole("button", { name: "as cURL" }).click();
      const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
      await expect.poll(clipboard).toContain(`curl -X POST ${receiver.url}/orders`);
      const copied = await clipboard();
      const bodies = receiver.at("/orders").map(({ body }) => `--data-raw '${body}'`);
      expect(bodies.filter((body) => copied.includes(body))).not.toEqual([]);

      respond = { status: 200, body: "welcome back" };
      await page.getByRole("button", { name: "Retry now" }).click();
      await page
        .locator(".answer")
        .getByText(/^Delivered to /)
        .waitFor();
      await steps.getByText("welcome back").waitFor();
      await expect.poll(() => page.getByRole("button", { name: "Retry now" }).count()).toBe(0);
    });

    it("are explained with the likely cause and the command that fixes it, and link there and back", async () => {
      const { page, api } = board;
      respond = { status: 503, body: "closed" };
      const { length } = receiver.at("/orders");
      await completedOrder();
      await receiver.until(length + 2, "/orders");
      const failing = async () => (await api("GET", "/v1/deliveries?status=pending")).body.data[0];
      await expect.poll(async () => (await failing()).attempt_count).toBe(1);
      const { id } = await failing();
      await board.show(`sandbox/why/${id}`);
      // The words of the command, whose times are in UTC.
      const env = {
        SERVICE_BASE_URL: board.platform.baseUrl,
        SERVICE_API_KEY: board.platform.sandboxKey,
        SERVICE_CONFIG_DIR: createConfigDir(),
      };
      const { stdout } = await runCli(["why", id, "--json"], { env });
      const { code, summary, evidence, action, fix } = (JSON.parse(stdout) as Explanation).findings[0]!;
      const withTimes = (text: string) =>
        new RegExp(
          text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, "[\\d:]+"),
        );
      expect(code).toBe("receiver_error");
      const cause = page.getByRole("region", { name: "Cause", exact: true });
      await cause.getByText(withTimes(summary)).waitFor();
      await cause.getByText(withTimes(evidence!)).waitFor();
      await cause.getByText(`${action}.`).waitFor();
      await cause.getByText(inProject(fix!)).waitFor();
      await page.getByRole("region", { name: "Deliveries" }).getByTitle("503 Service Unavailable").first().waitFor();
      await page
        .locator(".crumbs")
        .getByRole("link", { name: /^order.completed to / })
        .click();
      await page.getByRole("heading", { name: "order.completed" }).waitFor();
      // The page of the delivery says the same.
      await cause.getByText(withTimes(summary)).waitFor();
    });

    it("are counted for each endpoint in the list, with failures and the newest delivery", async () => {
      const { page, api } = board;
      await board.menu("Endpoints");
      const row = page.getByRole("row").filter({ hasText: `${receiver.url}/orders`.replace("http://", "") });
      await row.getByRole("img", { name: /^\d+ attempts, \d+ failed$/ }).waitFor();
      await row.getByRole("link", { name: /^\d+ retrying, / }).click();
      await expect.poll(() => page.getByLabel("Status").inputValue()).toBe("pending");
      const endpoint = (await api("GET", "/v1/webhook_endpoints?limit=100")).body.data.find(
        ({ url }: { url: string }) => url === `${receiver.url}/orders`,
      );
      await board.show(`sandbox/endpoints/${endpoint.id}`);
      await page
        .locator(".facts")
        .getByText(/^\d+ of \d+ failed$/)
        .waitFor();
    });

    it("are filtered by time, in the URL", async () => {
      const { page } = board;
      await board.menu("Deliveries");
      await page.getByLabel("Created").selectOption({ label: "Last hour" });
      await expect.poll(() => new URL(page.url()).searchParams.get("created_after")).toMatch(/Z$/);
      await expect.poll(() => page.getByRole("row").count()).toBeGreaterThan(1);
      await page.getByLabel("To", { exact: true }).fill("2020-01-01T00:00:00");
      await page.getByLabel("From", { exact: true }).fill("2019-01-01T00:00:00");
      await page.getByLabel("From", { exact: true }).press("Enter");
      await page.getByText("No matching deliveries").waitFor();
      await page.reload();
      await page.getByText("No matching deliveries").waitFor();
      expect(new URL(page.url()).searchParams.get("created_before")).toMatch(/^20(19|20)-/);
    });

    it("are counted on the overview, which starts with failing endpoints and their deliveries", async () => {
      const { page } = board;
      await board.menu("Overview");
      const name = `${receiver.url}/orders`.replace("http://", "");
      const failing = page.getByRole("row").filter({ hasText: name });
      await failing
        .locator(".bad-text")
        .getByText(/^(500 Internal Server Error|503 Service Unavailable)$/)
        .filter({ visible: true })
        .waitFor();
      await failing.getByRole("img", { name: /^\d+ attempts, \d+ failed$/ }).waitFor();
      await page.getByRole("img", { name: /^Attempts per minute: \d+ succeeded, \d+ failed$/ }).waitFor();
      await failing.getByRole("link", { name: /^\d+ retrying, / }).click();
      await page.getByRole("heading", { name: "Deliveries" }).waitFor();
      await expect.poll(() => page.getByLabel("Status").inputValue()).toBe("pending");
      await expect.poll(() => page.getByLabel("Endpoint").locator("option:checked").textContent()).toBe(name);
    });

    it("of the sandbox do not appear in live mode, which looks different", async () => {
      const { page, api } = board;
      await api("POST", "/v1/customers", { email: "pretended@example.com" });
      await board.menu("Overview");
      await page.getByRole("group", { name: "Environment" }).getByRole("link", { name: "Live" }).click();
      await page.getByText("Nothing was sent in the last hour.").waitFor();
      await expect.poll(() => page.title()).toContain("LIVE");
      await page.locator("[data-environment=live]").waitFor();
      const colour = () => page.evaluate<string>(`getComputedStyle(document.querySelector(".bar")).borderTopColor`);
      const live = await colour();
      await board.menu("Events");
      // Events can be triggered in the sandbox only.
      await expect
        .poll(() => page.locator(".copy-line code").textContent())
        .toBe("npx service-cli customers create --email ada@example.com --live");
      await board.menu("Customers");
      await page.getByText("No customers yet").waitFor();
      expect(new URL(page.url()).pathname).toBe("/dashboard/live/customers");
      await page.getByRole("group", { name: "Environment" }).getByRole("link", { name: "Sandbox" }).click();
      await page.getByRole("link", { name: "pretended@example.com" }).waitFor();
      expect(await colour()).not.toBe(live);
    });
  });
});
