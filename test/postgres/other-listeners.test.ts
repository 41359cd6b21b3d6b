import { afterAll, beforeAll, expect, it } from "vitest";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import { type ListenSocket, listenTo } from "../platform/delivery/support/listen-socket.ts";
import { type RunningPlatform, type ServedPlatform, serveNode, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let nodes: [ServedPlatform, RunningPlatform];
let key: string;

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  const first = await serveNode(database);
  nodes = [first, await startNode(database)];
  key = first.sandboxKey;
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await server.remove();
});

const listen = (place: 0 | 1) => listenTo(nodes[place].baseUrl, key);
const othersOf = ({ frames: [ready] }: ListenSocket) => (ready as { others: number }).others;
const sessions = async () =>
  (await server.query<{ sum: string }>("SELECT SUM(sessions) FROM listener_counts", [], database))[0]!.sum;

it("a retry reaches the session with its target at another process, and nobody else", async () => {
  const [local, remote] = ["http://127.0.0.1:1/local", "http://127.0.0.1:1/remote"];
  const sockets = [await listen(0), await listen(1)] as const;
  sockets[0].forwardTo(local);
  sockets[1].forwardTo(remote);
  const { api } = nodes[0];
  const forwarding = async () => {
    const { listeners, listener_connections: all } = (await api("GET", "/v1/statistics")).body;
    const urls = (all as { targets: { url: string }[] }[]).flatMap(({ targets }) => targets.map(({ url }) => url));
    return [listeners, ...urls.toSorted()];
  };
  await expect.poll(forwarding).toEqual([2, local, remote]);
  const order = (await api("POST", "/v1/orders", { amount: 1, currency: "EUR" })).body;
  const [event] = (await api("GET", `/v1/events?related=${order.id}`)).body.data;
  for (const socket of sockets) await socket.until(1);
  sockets[0].ack(1);
  sockets[1].ack(1, 500);
  const deliveries = async () =>
    ((await api("GET", `/v1/deliveries?event=${event.id}`)).body.data as Delivery[]).toSorted((a, b) =>
      a.target! < b.target! ? -1 : 1,
    );
  await expect.poll(async () => (await deliveries()).map(({ status }) => status)).toEqual(["succeeded", "failed"]);
  const [, failed] = await deliveries();
  expect((await api("POST", `/v1/deliveries/${failed!.id}/retry`)).status).toBe(200);
  await sockets[1].until(2);
  expect(sockets[1].events[1]).toMatchObject({ id: event.id });
  sockets[1].ack(2);
  await expect.poll(async () => (await deliveries())[1]).toMatchObject({ status: "succeeded", attempt_count: 2 });
  // Its own next event comes after what it would have received.
  await api("POST", "/v1/orders", { amount: 2, currency: "EUR" });
  await sockets[0].until(2);
  expect(sockets[0].events[1]!.id).not.toBe(event.id);
  for (const socket of sockets) await socket.close();
  await expect.poll(sessions).toBe("0");
});

it("a listener receives the number of other listeners at any process, without those that left or died", async () => {
  const first = await listen(0);
  expect(othersOf(first)).toBe(0);
  const second = await listen(1);
  expect(othersOf(second)).toBe(1);
  const third = await listen(1);
  expect(othersOf(third)).toBe(2);
  const fourth = await listen(0);
  expect(othersOf(fourth)).toBe(3);

  await Promise.all([third.close(), fourth.close()]);
  await expect.poll(sessions).toBe("2");
  const again = await listen(0);
  expect(othersOf(again)).toBe(2);
  await again.close();

  await nodes[1].kill();
  // Three report intervals have passed.
  await server.query("UPDATE listener_counts SET reported_at = reported_at - 46000 WHERE sessions = 1", [], database);
  await expect.poll(sessions).toBe("1");
  const alone = await listen(0);
  expect(othersOf(alone)).toBe(1);
  await alone.close();
  await first.close();
  nodes[1] = await startNode(database);
});
