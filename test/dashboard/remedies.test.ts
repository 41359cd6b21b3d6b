import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { it } from "../support/chromium.ts";
import { createPassingClock } from "../support/passing-clock.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;
let receiver: ScriptedReceiver;
/** Paths that respond with 200; others with 500, and `/gone` with 410. */
let working: string[] = [];

beforeAll(async () => {
  receiver = await startScriptedReceiver(({ path }, response) => {
    response.writeHead(working.includes(path) ? 200 : path === "/gone" ? 410 : 500).end("out of stock");
  });
  // No retry is due during a test, however slow the machine is.
  board = await openBoard({ clock: createPassingClock() });
});
afterAll(async () => {
  await board.close();
  await receiver.close();
  expect(board.complaints).toEqual([]);
});

async function endpoint(path: string, description: string, events = ["order.created"]): Promise<string> {
  const { body } = await board.api("POST", "/v1/webhook_endpoints", { url: receiver.url + path, events, description });
  return body.id as string;
}

const remove = (id: string) => board.api("DELETE", `/v1/webhook_endpoints/${id}`);
const deliveriesTo = async (id: string) => (await board.api("GET", `/v1/deliveries?endpoint=${id}`)).body.data;
const attempted = async (id: string, count: number) =>
  await expect
    .poll(async () =>
      (await deliveriesTo(id)).map(({ attempt_count: attempts }: { attempt_count: number }) => attempts),
    )
    .toEqual(Array.from({ length: count }, () => 1));

async function order(customer?: string): Promise<string> {
  const { body } = await board.api("POST", "/v1/orders", {
    amount: 1999,
    currency: "EUR",
    ...(customer && { customer }),
  });
  return body.id as string;
}

it("an order says which of its webhooks have not arrived, first, and offers what helps at each endpoint", async () => {
  const { page, api } = board;
  working = [];
  const failing = await endpoint("/one", "Warehouse");
  const off = await endpoint("/off", "Old billing");
  await api("PATCH", `/v1/webhook_endpoints/${off}`, { status: "disabled" });
  const id = await order();
  await attempted(failing, 1);
  await board.show(`sandbox/orders/${id}`);
  const words = "2 of 2 webhooks about this order have not arrived: 1 is being retried, 1 was missed because";
  await page.getByRole("region", { name: "Webhooks" }).first().getByText(words).waitFor();
  expect(await page.locator("main h2").first().textContent()).toBe("Webhooks");
  // How the event was sent: the request, the event, and a lane for each receiver.
  const trail = page.getByRole("region", { name: "What happened" });
  await trail.getByRole("link", { name: "order.created" }).waitFor();
  await trail.getByRole("link", { name: "Old billing: missed: disabled" }).waitFor();
  await page.getByRole("button", { name: "Enable and replay Old billing" }).waitFor();
  working = ["/one"];
  await page.getByRole("button", { name: "Retry 1 to Warehouse" }).click();
  await expect.poll(async () => (await deliveriesTo(failing))[0].status).toBe("succeeded");
  await remove(failing);
  await remove(off);
});

it("a customer's page retries all deliveries at once, and replays only the customer's events", async () => {
  const { page, api } = board;
  working = [];
  const [first, second] = [await endpoint("/a", "Fulfilment"), await endpoint("/b", "Ledger")];
  const off = await endpoint("/off", "Old billing");
  await api("PATCH", `/v1/webhook_endpoints/${off}`, { status: "disabled" });
  const { id } = (await api("POST", "/v1/customers", { email: "ada@example.com" })).body;
  await order(id);
  await order();
  await attempted(first, 2);
  await attempted(second, 2);
  working = ["/a", "/b", "/off"];
  await board.show(`sandbox/customers/${id}`);
  await page.getByRole("button", { name: "Retry 2 deliveries" }).click();
  const delivered = async (to: string) =>
    (await deliveriesTo(to)).filter(({ status }: { status: string }) => status === "succeeded").length;
  await expect.poll(async () => [await delivered(first), await delivered(second)]).toEqual([1, 1]);
  await page.getByRole("button", { name: "Enable and replay Old billing" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("It will receive the 1 event about this customer that it missed while disabled.").waitFor();
  await dialog
    .getByRole("checkbox", { name: "Also replay the 1 other event that it missed", checked: false })
    .waitFor();
  await dialog.getByRole("button", { name: "Enable and replay 1" }).click();
  await page.getByText("Enabled. Replaying 1 event about this customer").waitFor();
  await expect.poll(() => delivered(off)).toBe(1);
  expect(await deliveriesTo(off)).toHaveLength(1);
  for (const one of [first, second, off]) await remove(one);
});

it("the dialog that retries sends test events, and chooses the endpoints that work again", async () => {
  const { page } = board;
  working = [];
  const [first, second] = [await endpoint("/a", "Fulfilment"), await endpoint("/b", "Ledger")];
  await order();
  await attempted(first, 1);
  await attempted(second, 1);
  working = ["/b"];
  await board.show("sandbox/deliveries");
  await page.getByRole("button", { name: "Retry deliveries" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The last attempt to both failed. Choose those that you have repaired.").waitFor();
  await expect.poll(() => dialog.getByRole("checkbox").and(page.locator(":focus")).count()).toBe(1);
  await dialog.getByRole("button", { name: "Send test event to Fulfilment" }).click();
  await dialog.getByText("test event: 500 Internal Server Error").waitFor();
  await dialog.getByRole("button", { name: "Send test event to Ledger" }).click();
  await dialog.getByRole("checkbox", { name: /^Ledger.*test event: 200/, checked: true }).waitFor();
  await dialog.getByRole("checkbox", { name: /^Fulfilment/, checked: false }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  for (const one of [first, second]) await remove(one);
});

it("an endpoint that responded with 410 can be deleted where that is explained", async () => {
  const { page } = board;
  working = [];
  const id = await endpoint("/gone", "Old CRM");
  await order();
  await expect.poll(async () => (await board.api("GET", `/v1/webhook_endpoints/${id}`)).body.status).toBe("disabled");
  const [delivery] = await deliveriesTo(id);
  await board.show(`sandbox/deliveries/${delivery.id}`);
  await page.getByRole("button", { name: "Delete the endpoint" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete endpoint" }).click();
  await expect.poll(async () => (await board.api("GET", `/v1/webhook_endpoints/${id}`)).status).toBe(404);
});

it("the list of endpoints is searched, and its charts begin when the first one was created", async () => {
  const { page, api } = board;
  working = ["/a"];
  const works = await endpoint("/a", "Fulfilment");
  const failing = await endpoint("/b", "Ledger");
  for (let created = 0; created < 20; created++) await order();
  await expect
    .poll(async () => (await api("GET", `/v1/webhook_endpoints/${failing}`)).body.health.failing_since)
    .not.toBeNull();
  await board.show("sandbox/endpoints");
  await advanceClock(api, 5 * 3600);
  await page.getByRole("columnheader", { name: "Last 6 hours" }).waitFor();
  await page.getByRole("cell", { name: /^Failing since .*500 Internal Server Error$/ }).waitFor();
  const rows = page.getByRole("region", { name: "Endpoints, worst first" }).locator("tr[data-row]");
  expect(await rows.count()).toBe(2);
  await page.getByRole("searchbox", { name: "Search" }).fill("LEDG");
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByRole("searchbox", { name: "Search" }).fill("nothing");
  await page.getByText("No matching endpoints").waitFor();
  // The chart begins where the endpoint was created, even yesterday, not with its first attempt in the range.
  await board.show(`sandbox/endpoints/${failing}`);
  const chart = page.locator("figure.chart figcaption");
  await chart.getByText("per minute").waitFor();
  expect(await chart.textContent()).not.toContain("created at");
  await board.show(`sandbox/endpoints/${failing}?range=6h`);
  await chart.getByText(/; created at (\d+ \w+, )?\d\d:\d\d/).waitFor();
  await remove(works);
  await remove(failing);
});
