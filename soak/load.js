// API load of a soak run: writes with idempotency keys and retries, and a list of everything that was acknowledged.

/** A killed platform is back in seconds. One that is not has failed. */
const PATIENCE_MILLISECONDS = 120_000;

/**
 * Creates customers and completed orders at a rate until stopped. Every write repeats its Idempotency-Key until there
 * is a response. `expected` holds the keys (`type id`) of all events that acknowledged writes must have caused. Once
 * `stop` has resolved, every write was acknowledged, and there must be no other event.
 */
export function startLoad({ baseUrl, key, perSecond, workers = 4 }) {
  const expected = new Set();
  let running = true;
  let made = 0;
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  async function write(path, body, idempotencyKey) {
    const began = performance.now();
    for (;;) {
      if (performance.now() - began > PATIENCE_MILLISECONDS) throw new Error(`${path}: no answer in two minutes`);
      const response = await fetch(baseUrl + path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "idempotency-key": idempotencyKey,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(20_000),
      }).catch(() => undefined);
      const json = await response?.json().catch(() => undefined);
      if (response?.ok && json !== undefined) return json;
      if (json !== undefined && response.status !== 503 && json.code !== "idempotency_in_flight") {
        throw new Error(`${path}: ${response.status} ${JSON.stringify(json)}`);
      }
      await pause(50);
    }
  }

  async function work() {
    while (running) {
      const round = made++;
      const began = performance.now();
      const customer = await write("/v1/customers", { email: `soak-${round}@example.com` }, `customer-${round}`);
      expected.add(`customer.created ${customer.id}`);
      const order = await write(
        "/v1/orders",
        { amount: round, currency: "EUR", customer: customer.id },
        `order-${round}`,
      );
      expected.add(`order.created ${order.id}`);
      await write(`/v1/orders/${order.id}/complete`, {}, `complete-${round}`);
      expected.add(`order.completed ${order.id}`);
      const wait = (3000 * workers) / perSecond - (performance.now() - began);
      if (wait > 0) await pause(wait);
    }
  }

  const all = Promise.all(Array.from({ length: workers }, work));
  return {
    expected,
    async stop() {
      running = false;
      await all;
    },
  };
}
