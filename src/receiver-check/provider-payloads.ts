import type { SchemeName } from "../webhooks/schemes.ts";

/** A payload as a provider sends it, and the type of its event. */
export interface ProviderPayload {
  type: string;
  body: string;
}

/**
 * Payloads as the public documentation of each provider describes them, in its spelling of JSON: Stripe indents, Slack
 * escapes slashes, Shopify `&`. `at` is Unix milliseconds.
 */
export const PROVIDER_PAYLOADS: Readonly<Record<Exclude<SchemeName, "service">, (at: number) => ProviderPayload>> = {
  standard: (at) => {
    const data = { id: "usr_2dVq7Lk", email: "ada@example.com", name: "Zoë Ada", plan: "team", seats: 5 };
    return typed({ type: "user.created", timestamp: isoTime(at), data });
  },
  svix: (at) => {
    const data = { id: "inv_9fT3mWx", customer: "cus_4kQp2Zs", amount: 1999, currency: "eur", note: "Zoë Ada" };
    return typed({ type: "invoice.paid", timestamp: isoTime(at), data });
  },
  stripe: (at) => {
    const created = unixTime(at);
    const object = {
      id: "pi_3Q8mKd2eZvKYlo2C1xWb7nRt",
      object: "payment_intent",
      amount: 1999,
      amount_capturable: 0,
      amount_received: 1999,
      capture_method: "automatic",
      created,
      currency: "eur",
      customer: "cus_R4tVh8sQmPzLxy",
      description: "Order 1042 for Zoë Ada",
      latest_charge: "ch_3Q8mKd2eZvKYlo2C1hTq5uWs",
      livemode: false,
      metadata: { order: "1042" },
      payment_method_types: ["card"],
      receipt_email: "ada@example.com",
      status: "succeeded",
    };
    const event = {
      id: "evt_3Q8mKd2eZvKYlo2C1vBn4yHj",
      object: "event",
      api_version: "2025-09-30.clover",
      created,
      data: { object },
      livemode: false,
      pending_webhooks: 1,
      request: { id: "req_Xb6LrWm2PqTn8d", idempotency_key: "7d1f0c9a-52c3-4b0e-9a55-1f6f4e2f8f0b" },
      type: "payment_intent.succeeded",
    };
    return { type: event.type, body: JSON.stringify(event, undefined, 2) };
  },
  github: (at) => {
    const author = { name: "Zoë Ada", email: "ada@example.com", username: "octocat" };
    const commit = {
      id: "0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c",
      tree_id: "f9d2a07e9488b91af2641b26b9407fe22a451433",
      distinct: true,
      message: "Update README.md",
      timestamp: isoTime(at),
      url: "https://github.com/octocat/hello-world/commit/0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c",
      author,
      committer: author,
      added: [],
      removed: [],
      modified: ["README.md"],
    };
    const push = {
      ref: "refs/heads/main",
      before: "6113728f27ae82c7b1a177c8d03f9e96e0adf246",
      after: commit.id,
      repository: {
        id: 186_853_002,
        name: "hello-world",
        full_name: "octocat/hello-world",
        private: false,
        html_url: "https://github.com/octocat/hello-world",
        default_branch: "main",
      },
      pusher: { name: "octocat", email: "ada@example.com" },
      sender: { login: "octocat", id: 583_231, type: "User" },
      created: false,
      deleted: false,
      forced: false,
      commits: [commit],
      head_commit: commit,
    };
    return { type: "push", body: JSON.stringify(push) };
  },
  shopify: (at) => {
    const order = {
      id: 5_820_982_911_946,
      admin_graphql_api_id: "gid://shopify/Order/5820982911946",
      created_at: isoTime(at),
      currency: "EUR",
      email: "ada@example.com",
      financial_status: "paid",
      name: "#1042",
      note: "Gift wrap & card",
      order_number: 1042,
      total_price: "19.99",
      customer: { id: 7_115_310_163_188, email: "ada@example.com", first_name: "Zoë", last_name: "Ada" },
      line_items: [{ id: 13_866_488_963_241, title: "Pot & saucer", quantity: 1, price: "19.99", sku: "POT-1" }],
    };
    return { type: "orders/create", body: JSON.stringify(order).replaceAll("&", String.raw`\u0026`) };
  },
  slack: (at) => {
    const seconds = unixTime(at);
    const callback = {
      token: "XXYYZZ",
      team_id: "T061EG9R6",
      api_app_id: "A0PNCHHK2",
      event: {
        type: "app_mention",
        user: "U061F7AUR",
        text: "<@U0LAN0Z89> is the release out? <https://example.com/releases|releases>",
        ts: `${seconds}.000100`,
        channel: "C0LAN2Q65",
        event_ts: `${seconds}.000100`,
      },
      type: "event_callback",
      event_id: "Ev0PV52K21",
      event_time: seconds,
      authorizations: [{ team_id: "T061EG9R6", user_id: "U0LAN0Z89", is_bot: true }],
    };
    return { type: callback.event.type, body: JSON.stringify(callback).replaceAll("/", String.raw`\/`) };
  },
};

function typed(event: { type: string; timestamp: string; data: object }): ProviderPayload {
  return { type: event.type, body: JSON.stringify(event) };
}

const unixTime = (at: number): number => Math.floor(at / 1000);
/** Without milliseconds. */
const isoTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
