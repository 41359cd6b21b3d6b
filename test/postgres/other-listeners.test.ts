import { afterAll, beforeAll, expect, it } from "vitest";
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
