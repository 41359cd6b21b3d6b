import { afterAll, beforeAll, expect, it } from "vitest";
import { LIMITS } from "../../src/contract/limits.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";

const AT_ONCE = 12;
const ROUNDS = 5;

let server: PostgresServer & { remove(): Promise<void> };
let database: string;
let nodes: RunningPlatform[];
let apis: Api[];

beforeAll(async () => {
  server = await usePostgres();
  database = await server.createDatabase();
  const first = await startNode(database);
  nodes = [first, await startNode(database)];
  apis = nodes.map((node) => apiOf(node.baseUrl, first.sandboxKey));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await server.remove();
});

const create = (index: number) =>
  apis[index % apis.length]!("POST", "/v1/webhook_endpoints", { url: "https://example.com/", events: ["*"] });

it("of many requests for an environment's last endpoint one gets it, whichever process is asked", async () => {
  expect((await create(0)).status).toBe(201);
  await server.query(
    `INSERT INTO webhook_endpoints (environment, id, url, events, status, secret, secret_created, created)
     SELECT environment, 'we_' || lpad(n::text, 22, '0'), url, events, status, secret, secret_created, created
     FROM webhook_endpoints, generate_series(1, $1::int) AS n`,
    [LIMITS.endpointsPerEnvironment - 2],
    database,
  );
  for (let round = 0; round < ROUNDS; round++) {
    const replies = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => create(index)));
    const made = replies.filter(({ status }) => status === 201);
    expect(made, `round ${round}`).toHaveLength(1);
    for (const { status, body } of replies) if (status !== 201) expect(body.code).toBe("endpoint_limit");
    const removed = await apis[round % 2]!("DELETE", `/v1/webhook_endpoints/${made[0]!.body.id}`);
    expect(removed.status).toBe(200);
  }
});
