import { expect } from "vitest";
import { FakePlatform } from "./fake-platform.ts";
import { openSession } from "./open-session.ts";
import { startReceiver } from "./receivers.ts";

const OBJECTS = 40;

/**
 * Relays ten events for each cut of the connection, and expects that none is lost or forwarded twice and that the
 * events of each object keep their order.
 */
export async function relayThroughCuts(cuts: number): Promise<void> {
  const events = 10 * cuts;
  const platform = await FakePlatform.start();
  const handled = new Map<string, number>();
  const orders = new Map<string, number[]>();
  const receiver = await startReceiver((reply, { headers, body }) => {
    const id = String(headers["service-event-id"]);
    handled.set(id, (handled.get(id) ?? 0) + 1);
    const { data, n } = JSON.parse(body.toString("utf8")) as { data: { object: { id: string } }; n: number };
    const order = orders.get(data.object.id) ?? [];
    orders.set(data.object.id, order);
    receiver.requests.length = 0;
    // Unequal work: without an order per object events would overtake each other here.
    const end = (hops: number): unknown => {
      if (hops > 0) return setImmediate(end, hops - 1);
      order.push(n);
      return reply.end();
    };
    end(n % 4);
  });
  const { reports, session } = openSession(platform, { target: receiver.url, ordered: true });
  await reports.wait("ready");
  let random = 7;
  let n = 0;
  for (let cut = 1; cut <= cuts; cut += 1) {
    for (let i = 0; i < 10; i += 1) {
      random = (random * 16_807) % 2_147_483_647;
      n += 1;
      platform.append("order.completed", JSON.stringify({ data: { object: { id: `ord_${random % OBJECTS}` } }, n }));
    }
    // Somewhere in the ten, or before the first or after the last.
    const progress = platform.acknowledgements.length + (random % 12);
    const most = () => platform.session.unacknowledged.size === 0 || platform.acknowledgements.length >= progress;
    await platform.until(most);
    platform.session.socket.terminate();
    await platform.until(() => platform.sessions.length === cut + 1);
  }
  await platform.until(() => platform.acknowledgedIds.size === events && platform.session.unacknowledged.size === 0);
  expect(handled.size).toBe(events);
  expect([...handled.values()].filter((times) => times !== 1)).toEqual([]);
  for (const order of orders.values()) expect(order).toEqual(order.toSorted((a, b) => a - b));
  const { summary } = await session.stop();
  expect(summary).toMatchObject({ received: events, forwarded: events, failed: 0 });
  expect(summary.duplicates).toBe(reports.of("duplicate").length);
  expect(summary.duplicates).toBeGreaterThan(0);
  expect(platform.acknowledgements.every(({ ack }) => ack.status_code === 200)).toBe(true);
  expect(reports.of("lost")).toHaveLength(cuts);
}
