import { Client } from "pg";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { LIMITS } from "../../src/contract/limits.ts";
import { freePort } from "../support/free-port.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, serveNode, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const AT_ONCE = 12;
const ROUNDS = 5;
/** No statement times out while a test holds a lock. */
const PATIENT = ["--database-timeout", "60"];

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let nodes: ServedPlatform[];
let apis: Api[];

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  const first = await serveNode(database, PATIENT);
  nodes = [first, await startNode(database, PATIENT)];
  apis = nodes.map((node) => apiOf(node.baseUrl, first.sandboxKey));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await server.remove();
});

afterEach(() => server.query("DELETE FROM webhook_endpoints", [], database));

const create = (index: number) =>
  apis[index % apis.length]!("POST", "/v1/webhook_endpoints", { url: "https://example.com/", events: ["*"] });

it("an endpoint is created while deliveries of its environment are being claimed", async () => {
  const url = `http://127.0.0.1:${await freePort()}/`;
  const endpoint = await apis[0]!("POST", "/v1/webhook_endpoints", { url, events: ["*"] });
  expect(endpoint.status).toBe(201);
  expect((await apis[0]!("POST", "/v1/orders", { amount: 1, currency: "EUR" })).status).toBe(201);
  const attempted = async () => (await apis[0]!("GET", "/v1/deliveries")).body.data[0].attempt_count as number;
  await expect.poll(attempted).toBe(1);
  await server.query("UPDATE webhook_endpoints SET status = 'disabled'", [], database);
  await server.query("UPDATE deliveries SET next_attempt = 0", [], database);

  const other = new Client({ connectionString: database });
  await other.connect();
  // A claim can find due deliveries but cannot lease them.
  await other.query("BEGIN; LOCK TABLE deliveries IN SHARE MODE");
  await server.query("UPDATE webhook_endpoints SET status = 'enabled'", [], database);
  const claims = `SELECT pid FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE deliveries%' AND datname = current_database()`;
  await expect.poll(() => server.query(claims, [], database)).not.toHaveLength(0);
  const created = await create(0);
  await other.end();
  expect(created.status).toBe(201);
  expect(await server.query("SELECT id FROM webhook_endpoints", [], database)).toHaveLength(2);
});

it("one of many concurrent requests for an environment's last endpoint succeeds, in any process", async () => {
  expect((await create(0)).status).toBe(201);
  await server.query(
    `INSERT INTO webhook_endpoints (environment, id, url, events, status, secret, secret_created, created)
     SELECT environment, 'we_' || lpad(n::text, 22, '0'), url, events, status, secret, secret_created, created
     FROM webhook_endpoints, generate_series(1, $1::int) AS n`,
    [LIMITS.endpointsPerEnvironment - 2],
    database,
  );
  for (let round = 0; round < ROUNDS; round++) {
    const responses = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => create(index)));
    const created = responses.filter(({ status }) => status === 201);
    expect(created, `round ${round}`).toHaveLength(1);
    for (const { status, body } of responses) if (status !== 201) expect(body.code).toBe("endpoint_limit");
    const removed = await apis[round % 2]!("DELETE", `/v1/webhook_endpoints/${created[0]!.body.id}`);
    expect(removed.status).toBe(200);
  }
});
