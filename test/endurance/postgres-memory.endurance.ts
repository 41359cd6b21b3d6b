import { afterAll, beforeAll, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const ORDERS = 6_000;
const WORKERS = 4;
/** About 25 KB. */
const METADATA = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key_${i}`, "x".repeat(500)]));

let server: PostgresServer & { remove(): Promise<void> };
let node: RunningPlatform;

beforeAll(async () => {
  server = await usePostgres();
  const env = { NODE_OPTIONS: "--max-old-space-size=96" };
  node = await startNode(await server.createDatabase(), ["--log-level", "warn"], undefined, env);
});
afterAll(async () => {
  await node.kill();
  await server.remove();
});

it("the platform accepts 150 MB of orders on PostgreSQL within a heap of 96 MB", async () => {
  const api = apiOf(node.baseUrl, node.sandboxKey);
  let created = 0;
  const create = async () => {
    while (created < ORDERS) {
      created += 1;
      expect((await api("POST", "/v1/orders", { amount: 1, currency: "EUR", metadata: METADATA })).status).toBe(201);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, create));
  expect(await node.stop()).toBe(0);
});
