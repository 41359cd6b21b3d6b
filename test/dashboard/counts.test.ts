import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;
let receiver: ScriptedReceiver;

beforeAll(async () => {
  receiver = await startScriptedReceiver((_request, response) => response.end());
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
  await page.getByText("Counted over 30 events:").waitFor();
  await board.show(`sandbox/customers/${many}`);
  await page.getByText("All 100 webhooks about this customer have arrived.").waitFor();
  await page.getByText("Counted over the newest 100 events:").waitFor();
});
