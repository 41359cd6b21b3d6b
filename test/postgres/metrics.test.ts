import { afterAll, beforeAll, expect, it } from "vitest";
import { apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode } from "../support/platform.ts";
import { type OwnPostgresServer, startOwnPostgres } from "../support/postgres.ts";

const OF_DATABASE = [
  "service_deliveries_pending",
  "service_deliveries_oldest_due_seconds",
  "service_postgres_oldest_write_transaction_seconds",
];

let server: OwnPostgresServer;
let node: ServedPlatform;

beforeAll(async () => {
  server = await startOwnPostgres();
  node = await serveNode(await server.createDatabase());
});
afterAll(async () => {
  await node.stop();
  await server.remove();
});

/** Returns the scrape's status, its text, and the names of its database gauges. */
async function scrape() {
  const response = await fetch(`${node.baseUrl}/metrics`);
  const text = await response.text();
  return { status: response.status, text, ofDatabase: OF_DATABASE.filter((name) => text.includes(`\n${name} `)) };
}

it("metrics count failed requests while the database is unavailable, and omit gauges that come from it", async () => {
  expect(await scrape()).toMatchObject({ status: 200, ofDatabase: OF_DATABASE });
  await server.halt();
  try {
    const failed = await apiOf(node.baseUrl, node.sandboxKey)("POST", "/v1/customers", { email: "ada@example.com" });
    expect(failed.status).toBe(503);
    const { status, text, ofDatabase } = await scrape();
    expect({ status, ofDatabase }).toEqual({ status: 200, ofDatabase: [] });
    expect(text).toContain('service_http_requests_total{method="POST",route="/v1/customers",status="503"} 1');
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  } finally {
    await server.resume();
  }
  await expect.poll(scrape).toMatchObject({ status: 200, ofDatabase: OF_DATABASE });
});
