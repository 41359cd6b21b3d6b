/** Returns a body as the provider sends it; `at` is Unix milliseconds. */
export type Payload = (at: number) => string;

/** Events of Stripe by type, as its public documentation describes them. The first one is the default. */
export const STRIPE_PAYLOADS: Readonly<Record<string, Payload>> = {
  "payment_intent.succeeded": (at) =>
    stripeEvent("payment_intent.succeeded", at, {
      ...stripePayment(at),
      amount_received: 1999,
      latest_charge: "ch_3Q8mKd2eZvKYlo2C1hTq5uWs",
      status: "succeeded",
    }),
  "payment_intent.payment_failed": (at) =>
    stripeEvent("payment_intent.payment_failed", at, {
      ...stripePayment(at),
      amount_received: 0,
      last_payment_error: {
        code: "card_declined",
        decline_code: "insufficient_funds",
        message: "Your card has insufficient funds.",
        type: "card_error",
      },
      latest_charge: "ch_3Q8mKd2eZvKYlo2C1hTq5uWs",
      status: "requires_payment_method",
    }),
  "checkout.session.completed": (at) =>
    stripeEvent("checkout.session.completed", at, {
      id: "cs_test_a1Xc8VbN2mQw4ErT6yUi0OpAs",
      object: "checkout.session",
      amount_subtotal: 1999,
      amount_total: 1999,
      client_reference_id: "1042",
      created: unixTime(at),
      currency: "eur",
      customer: STRIPE_CUSTOMER,
      customer_details: { email: "ada@example.com", name: "Zoë Ada" },
      livemode: false,
      metadata: { order: "1042" },
      mode: "payment",
      payment_intent: "pi_3Q8mKd2eZvKYlo2C1xWb7nRt",
      payment_status: "paid",
      status: "complete",
      subscription: null,
    }),
  "invoice.paid": (at) => stripeEvent("invoice.paid", at, stripeInvoice(at, true)),
  "invoice.payment_failed": (at) => stripeEvent("invoice.payment_failed", at, stripeInvoice(at, false)),
  "customer.subscription.created": (at) =>
    stripeEvent("customer.subscription.created", at, stripeSubscription(at, "active")),
  "customer.subscription.updated": (at) =>
    stripeEvent("customer.subscription.updated", at, stripeSubscription(at, "past_due"), { status: "active" }),
  "customer.subscription.deleted": (at) =>
    stripeEvent("customer.subscription.deleted", at, stripeSubscription(at, "canceled")),
  "charge.refunded": (at) =>
    stripeEvent("charge.refunded", at, {
      id: "ch_3Q8mKd2eZvKYlo2C1hTq5uWs",
      object: "charge",
      amount: 1999,
      amount_captured: 1999,
      amount_refunded: 1999,
      created: unixTime(at),
      currency: "eur",
      customer: STRIPE_CUSTOMER,
      livemode: false,
      metadata: { order: "1042" },
      paid: true,
      payment_intent: "pi_3Q8mKd2eZvKYlo2C1xWb7nRt",
      refunded: true,
      status: "succeeded",
    }),
};

const STRIPE_CUSTOMER = "cus_R4tVh8sQmPzLxy";
const DAY_SECONDS = 86_400;

function stripeEvent(type: string, at: number, object: object, previous?: object): string {
  const event = {
    id: "evt_3Q8mKd2eZvKYlo2C1vBn4yHj",
    object: "event",
    api_version: "2025-09-30.clover",
    created: unixTime(at),
    data: { object, ...(previous && { previous_attributes: previous }) },
    livemode: false,
    pending_webhooks: 1,
    request: { id: "req_Xb6LrWm2PqTn8d", idempotency_key: "7d1f0c9a-52c3-4b0e-9a55-1f6f4e2f8f0b" },
    type,
  };
  return JSON.stringify(event, undefined, 2);
}

function stripePayment(at: number) {
  return {
    id: "pi_3Q8mKd2eZvKYlo2C1xWb7nRt",
    object: "payment_intent",
    amount: 1999,
    amount_capturable: 0,
    capture_method: "automatic",
    created: unixTime(at),
    currency: "eur",
    customer: STRIPE_CUSTOMER,
    description: "Order 1042 for Zoë Ada",
    livemode: false,
    metadata: { order: "1042" },
    payment_method_types: ["card"],
    receipt_email: "ada@example.com",
  };
}

function stripeInvoice(at: number, isPaid: boolean) {
  return {
    id: "in_1Q8mKd2eZvKYlo2CqWe5rTyU",
    object: "invoice",
    amount_due: 1999,
    amount_paid: isPaid ? 1999 : 0,
    amount_remaining: isPaid ? 0 : 1999,
    attempt_count: 1,
    attempted: true,
    billing_reason: "subscription_cycle",
    collection_method: "charge_automatically",
    created: unixTime(at),
    currency: "eur",
    customer: STRIPE_CUSTOMER,
    customer_email: "ada@example.com",
    livemode: false,
    metadata: {},
    next_payment_attempt: isPaid ? null : unixTime(at) + 3 * DAY_SECONDS,
    number: "8F2A1C4D-0007",
    parent: {
      type: "subscription_details",
      subscription_details: { subscription: STRIPE_SUBSCRIPTION, metadata: { plan: "team" } },
    },
    status: isPaid ? "paid" : "open",
    total: 1999,
  };
}

const STRIPE_SUBSCRIPTION = "sub_1Q8mKd2eZvKYlo2CzXcVbNmL";

function stripeSubscription(at: number, status: "active" | "past_due" | "canceled") {
  const start = unixTime(at);
  const isCanceled = status === "canceled";
  const price = {
    id: "price_1Q8mKd2eZvKYlo2CaSdFgHjK",
    object: "price",
    currency: "eur",
    product: "prod_R4tVh8sQmPzLxy",
    recurring: { interval: "month", interval_count: 1 },
    unit_amount: 1999,
  };
  const item = {
    id: "si_R4tVh8sQmPzLxy",
    object: "subscription_item",
    current_period_end: start + 30 * DAY_SECONDS,
    current_period_start: start,
    price,
    quantity: 1,
    subscription: STRIPE_SUBSCRIPTION,
  };
  return {
    id: STRIPE_SUBSCRIPTION,
    object: "subscription",
    cancel_at_period_end: false,
    canceled_at: isCanceled ? start : null,
    collection_method: "charge_automatically",
    created: start,
    currency: "eur",
    customer: STRIPE_CUSTOMER,
    ended_at: isCanceled ? start : null,
    items: { object: "list", data: [item], has_more: false },
    latest_invoice: "in_1Q8mKd2eZvKYlo2CqWe5rTyU",
    livemode: false,
    metadata: { plan: "team" },
    start_date: start,
    status,
  };
}

export const unixTime = (at: number): number => Math.floor(at / 1000);
