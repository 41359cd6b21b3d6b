// POST /v1/customers: durable (every response after an fsync), against the same server without storage, and that one
// against a bare Fastify route.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import autocannon from "autocannon";
import { atLeast } from "./goals.js";
import { bundle, startNode, startService, stop, temporaryFolder } from "./measure.js";
import { alternate, measure, rowOf } from "./rounds.js";

const CONNECTIONS = 32;
const SECONDS = 4;
const ROUNDS = 5;

let serial = 0;

/** Customers created per second, over this many connections, for some seconds or until there are enough. */
export async function requestsPerSecond(baseUrl, key, connections = CONNECTIONS, amount) {
  const result = await autocannon({
    url: baseUrl,
    connections,
    ...(amount === undefined ? { duration: SECONDS } : { amount }),
    requests: [
      {
        method: "POST",
        path: "/v1/customers",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        setupRequest: (request) => ({
          ...request,
          body: JSON.stringify({
            email: `bench-${++serial}@example.com`,
            name: "Ada Lovelace",
            metadata: { plan: "pro" },
          }),
        }),
      },
    ],
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} error responses, ${result.errors} errors`);
  return result["2xx"] / result.duration;
}

export async function benchApi() {
  const service = await startService();
  const bare = await startNode([await bundle("bare-server")]);
  const document = join(temporaryFolder(), "openapi.json");
  writeFileSync(document, await (await fetch(`${service.ready.base_url}/openapi.json`)).text());
  const fastify = await startNode(["bench/fastify-server.js", document]);
  const key = service.ready.sandbox_key;
  const round = (name, { ready, child }) =>
    measure(
      (rate) => rate * SECONDS,
      { [name]: child.pid },
      () => requestsPerSecond(ready.base_url, key),
    );
  const durable = await alternate(ROUNDS, {
    baseline: () => round("server", bare),
    measured: () => round("server", service),
  });
  const framework = await alternate(ROUNDS, {
    baseline: () => round("server", fastify),
    measured: () => round("server", bare),
  });
  await Promise.all([service, bare, fastify].map(stop));
  return [
    rowOf(durable, {
      name: `API: POST /v1/customers, durable, ${CONNECTIONS} connections`,
      unit: "requests/s",
      baseline: "requests/s without storage",
      goal: atLeast(0.6),
    }),
    rowOf(framework, {
      name: "API: the same without storage",
      unit: "requests/s",
      baseline: "requests/s of a bare Fastify route with the same validation",
      goal: atLeast(0.6),
    }),
  ];
}
