import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

let server: PostgresServer & { remove(): Promise<void> };
let line: Awaited<ReturnType<typeof startLine>>;
let node: RunningPlatform;
let api: Api;

beforeAll(async () => {
  server = await usePostgres();
  const url = new URL(await server.createDatabase());
  line = await startLine(url);
  url.host = `127.0.0.1:${line.port}`;
  node = await startNode(url.href);
  api = apiOf(node.baseUrl, node.sandboxKey);
});
afterAll(async () => {
  await node.stop();
  line.close();
  await server.remove();
});

/** A way to the database that can be made to break when the answer to a commit comes along it. */
async function startLine({ hostname, port }: URL) {
  const state = { breaks: false };
  const between = createServer((client) => {
    const database = connect(Number(port), hostname);
    const end = () => {
      client.destroy();
      database.destroy();
    };
    for (const socket of [client, database]) socket.on("error", end).on("close", end);
    client.on("data", (data) => database.write(data));
    database.on("data", (data) => {
      if (state.breaks && data.includes("COMMIT\0")) end();
      else client.write(data);
    });
  }).listen(0, "127.0.0.1");
  await once(between, "listening");
  return { state, port: (between.address() as AddressInfo).port, close: () => between.close() };
}

it("a change whose commit was not answered may have been made: the reply says so, and its repetition finds it", async () => {
  const order = () => api("POST", "/v1/orders", { amount: 1, currency: "EUR" }, { "Idempotency-Key": "once" });
  line.state.breaks = true;
  const lost = await order();
  line.state.breaks = false;
  expect([lost.status, lost.body.code, lost.headers.get("retry-after")]).toEqual([503, "unavailable", "1"]);
  expect(lost.body.detail).toMatch(/may have been made or not.*Idempotency-Key/);
  const again = await order();
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  const orders = await api("GET", "/v1/orders");
  expect(orders.body.data.map(({ id }: { id: string }) => id)).toEqual([again.body.id]);
});
