import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect } from "vitest";
import { type Board, openBoard } from "../dashboard/support/board.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { it } from "../support/chromium.ts";

const PICTURES = fileURLToPath(new URL("../../test-results/dashboard-pictures/", import.meta.url));
const WIDTHS = [1440, 390];
const THEMES = ["light", "dark"] as const;
const LISTS = "events deliveries customers orders payments endpoints keys apps people logs clock why".split(" ");

let board: Board;
let receiver: ScriptedReceiver;

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true });
  receiver = await startScriptedReceiver((request, response) => {
    response.statusCode = request.path === "/stock" ? 503 : 200;
    response.end(request.path === "/stock" ? '{"error":"The database is being restarted"}' : '{"received":true}');
  });
  board = await openBoard();
});
afterAll(async () => {
  await board.close();
  await receiver.close();
  expect(board.complaints).toEqual([]);
});

/** Takes a picture of a page in each width and theme, once everything is loaded. */
async function picture(path: string, name: string): Promise<void> {
  const { page } = board;
  await board.show(path);
  const isLoaded = `document.querySelector("h1") !== null && document.querySelector(".loading, .skeleton") === null`;
  await expect.poll(() => page.evaluate(isLoaded)).toBe(true);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme });
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(overflow, `${name} at ${width} pixels`).toBeLessThanOrEqual(0);
      await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
}

it("the browser takes a screenshot of every empty page", async () => {
  await picture("live", "empty-overview");
  for (const list of LISTS) await picture(`live/${list}`, `empty-${list}`);
});

it("the browser takes a screenshot of every page with data", async () => {
  const { api, page } = board;
  const create = async (path: string, body: object = {}): Promise<{ id: string }> => {
    const response = await api("POST", `/v1/${path}`, body);
    expect(response.status, path).toBeLessThan(300);
    return response.body;
  };
  const shop = { url: `${receiver.url}/shop`, events: ["*"], description: "Shop backend" };
  const stock = { url: `${receiver.url}/stock`, events: ["order.*", "payment.*"], description: "Stock and shipping" };
  await create("webhook_endpoints", shop);
  const { id: failing } = await create("webhook_endpoints", stock);
  const { id: disabled } = await create("webhook_endpoints", {
    url: "https://example.com/old",
    events: ["customer.*"],
  });
  await api("PATCH", `/v1/webhook_endpoints/${disabled}`, { status: "disabled" });
  const ids: Record<string, string> = { endpoint: failing };
  const names = [
    "Ada Lovelace",
    "山田 太郎",
    "Grace Hopper",
    "مريم الزهراء",
    "Alan Turing",
    "José Núñez",
    "Zoë Quinn",
    "Li",
  ];
  for (const [index, name] of names.entries()) {
    const email =
      index === 2 ? `${"very.long.".repeat(5)}name@a.long.subdomain.of.example.com` : `person.${index}@example.com`;
    const customer = await create("customers", { email, name, metadata: { plan: index % 2 === 0 ? "pro" : "free" } });
    const amount = 1999 * (index + 1) ** 3;
    const order = await create("orders", { amount, currency: index === 3 ? "JPY" : "EUR", customer: customer.id });
    const payment = await create("payments", { amount, currency: index === 3 ? "JPY" : "EUR", order: order.id });
    if (index % 3 === 0) await create(`orders/${order.id}/complete`);
    if (index % 3 === 1) await create(`orders/${order.id}/cancel`);
    if (index % 3 === 0) await create(`payments/${payment.id}/succeed`);
    if (index % 3 === 1) await create(`payments/${payment.id}/fail`, { failure_code: "card_declined" });
    Object.assign(ids, { customer: customer.id, order: order.id, payment: payment.id });
  }
  const key = { name: "Nightly import", scopes: ["customers:read", "orders:read"], ip_allowlist: ["10.0.0.0/8"] };
  ids["key"] = (await create("api_keys", key)).id;
  const app = { name: "Ledger", redirect_uris: ["https://ledger.example.com/callback", "http://127.0.0.1/callback"] };
  ids["app"] = (await create("oauth_apps", app)).id;
  await page.evaluate(`fetch("/v1/users", { method: "POST", body: '{"email":"grace@example.com"}',
    headers: { "Content-Type": "application/json", "Service-Environment": "sandbox" } })`);
  await receiver.until(20, "/shop");
  await create("test_clock/advance", { seconds: 7200 });
  const idOf = async (path: string) => (await api("GET", `/v1/${path}`)).body.data[0].id as string;
  ids["delivery"] = await idOf(`deliveries?endpoint=${failing}`);
  ids["event"] = await idOf("events?type=order.completed");
  ids["log"] = await idOf("request_logs?method=POST");
  await picture("sandbox", "overview");
  for (const list of LISTS) await picture(`sandbox/${list}`, list);
  for (const [name, id] of Object.entries(ids))
    await picture(`sandbox/${name === "delivery" ? "deliveries" : `${name}s`}/${id}`, name);
  await picture(`sandbox/why/${ids["delivery"]}`, "why-delivery");
  await board.show(`sandbox/endpoints/${failing}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: join(PICTURES, `endpoint-menu-${width}-dark.png`) });
  }
});
