import { startScriptedReceiver } from "../../platform/delivery/support/scripted-receiver.ts";
import type { Board } from "./board.ts";

/** Text that would run a script if it became markup. The script sets `name` in the page's scope. */
export const MARKUP = `"><img src=x onerror="window.harmed=1"><script>window.harmed=1</script><b>bold</b>{{7*7}}`;
const LINK = "javascript:window.harmed=1";

/** The pages of the dashboard that such an account fills, by the name of their picture. */
export type Pages = Record<string, string>;

/** Fills an account with names, metadata and responses full of markup. Returns the pages that show them. */
export async function fillHostileAccount({
  api,
  platform,
}: Board): Promise<{ pages: Pages; close: () => Promise<void> }> {
  const receiver = await startScriptedReceiver((request, response) => {
    response.statusCode = request.path === "/refuses" ? 500 : 200;
    response.setHeader("content-type", "text/html");
    response.end(`<h1>${MARKUP}</h1>`);
  });
  const create = async (path: string, body: object) => {
    const response = await api("POST", path, body);
    if (response.status >= 300) throw new Error(`${path}: ${JSON.stringify(response.body)}`);
    return response.body as { id: string };
  };
  const good = { url: `${receiver.url}/takes?x=%3Cb%3E`, events: ["*"], description: MARKUP };
  const endpoint = await create("/v1/webhook_endpoints", good);
  const rejecting = { url: `${receiver.url}/refuses`, events: ["order.*"], description: LINK };
  await create("/v1/webhook_endpoints", rejecting);
  const metadata = { "<i>key</i>": MARKUP, link: LINK };
  const customer = await create("/v1/customers", {
    email: "o'b+<x@example.com".replace("<", ""),
    name: MARKUP,
    metadata,
  });
  for (let index = 0; index < 20; index++) {
    await create("/v1/customers", { email: `person-${index}@example.com`, name: `Person ${index}`, metadata });
  }
  const order = await create("/v1/orders", { amount: 1999, currency: "EUR", customer: customer.id, metadata });
  await create(`/v1/orders/${order.id}/complete`, {});
  const payment = await create("/v1/payments", { amount: 1999, currency: "EUR", order: order.id, metadata });
  await create(`/v1/payments/${payment.id}/fail`, { failure_code: "card_declined" });
  await create("/v1/api_keys", { name: MARKUP, scopes: ["customers:read"] });
  await create("/v1/oauth_apps", { name: MARKUP, redirect_uris: ["https://app.example.com/%3Cb%3E"] });
  await receiver.until(1, "/refuses");
  const [event] = (await api("GET", "/v1/events?type=order.completed")).body.data;
  const listed = await api("GET", `/v1/deliveries?event=${event.id}`);
  const delivery = listed.body.data.find((one: { endpoint: string }) => one.endpoint !== endpoint.id);
  return {
    pages: {
      overview: "",
      events: "events",
      event: `events/${event.id}`,
      deliveries: "deliveries",
      delivery: `deliveries/${delivery.id}`,
      why: `why/${delivery.id}`,
      customers: "customers",
      customer: `customers/${customer.id}`,
      orders: "orders",
      order: `orders/${order.id}`,
      payments: "payments",
      payment: `payments/${payment.id}`,
      endpoints: "endpoints",
      endpoint: `endpoints/${endpoint.id}`,
      keys: "keys",
      apps: "apps",
      people: "people",
      logs: "logs",
      clock: "clock",
      "not-found": `nowhere?account=${platform.account}`,
    },
    close: () => receiver.close(),
  };
}
