import { expect, it } from "vitest";
import { volume } from "../support/volume.ts";
import { FakePlatform } from "./support/fake-platform.ts";
import { startRun } from "./support/start-run.ts";
import { startReceiver } from "./support/receivers.ts";

const CUTS = volume(1_000);
const EVENTS = 10 * CUTS;
const OBJECTS = 40;

it(`listen loses nothing, forwards nothing twice and keeps the order of each object over ${CUTS} cuts and ${EVENTS} events`, async () => {
  const platform = await FakePlatform.start();
  const handled = new Map<string, number>();
  const orders = new Map<string, number[]>();
  const receiver = await startReceiver((response, { headers, body }) => {
    const id = String(headers["service-event-id"]);
    handled.set(id, (handled.get(id) ?? 0) + 1);
    const { data, n } = JSON.parse(body.toString("utf8")) as { data: { object: { id: string } }; n: number };
    const order = orders.get(data.object.id) ?? [];
    orders.set(data.object.id, order);
    receiver.requests.length = 0;
    // Responses take different times: without an order per object, events would overtake each other.
    const end = (hops: number): unknown => {
      if (hops > 0) return setImmediate(end, hops - 1);
      order.push(n);
      return response.end();
    };
    end(n % 4);
  });
  const { reports, run } = startRun(platform, { target: receiver.url, ordered: true });
  await reports.wait("ready");
  let random = 7;
  let n = 0;
  for (let cut = 1; cut <= CUTS; cut += 1) {
    for (let i = 0; i < 10; i += 1) {
      random = (random * 16_807) % 2_147_483_647;
      n += 1;
      platform.append("order.completed", JSON.stringify({ data: { object: { id: `ord_${random % OBJECTS}` } }, n }));
    }
    // Cuts within the ten events, before the first, or after the last.
    const progress = platform.acknowledgements.length + (random % 12);
    const isEnough = () => platform.session.unacknowledged.size === 0 || platform.acknowledgements.length >= progress;
    await platform.until(isEnough);
    platform.session.socket.terminate();
    await platform.until(() => platform.sessions.length === cut + 1);
  }
  await platform.until(() => platform.acknowledgedIds.size === EVENTS && platform.session.unacknowledged.size === 0);
  expect(handled.size).toBe(EVENTS);
  expect([...handled.values()].filter((times) => times !== 1)).toEqual([]);
  for (const order of orders.values()) expect(order).toEqual(order.toSorted((a, b) => a - b));
  const { summary } = await run.stop();
  expect(summary).toMatchObject({ received: EVENTS, forwarded: EVENTS, failed: 0 });
  expect(summary.duplicates).toBe(reports.of("duplicate").length);
  expect(summary.duplicates).toBeGreaterThan(0);
  expect(platform.acknowledgements.every(({ ack }) => ack.status_code === 200)).toBe(true);
  expect(reports.of("lost")).toHaveLength(CUTS);
});
