// POST /v1/customers: durable (every response after an fsync), against the same server without storage.
import autocannon from "autocannon";
import { atLeast } from "./goals.js";
import { bundle, median, startNode, startService, stop } from "./measure.js";

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
  const key = service.ready.sandbox_key;
  const durable = [];
  const without = [];
  await requestsPerSecond(bare.ready.base_url, key);
  await requestsPerSecond(service.ready.base_url, key);
  for (let round = 0; round < ROUNDS; round++) {
    without.push(await requestsPerSecond(bare.ready.base_url, key));
    durable.push(await requestsPerSecond(service.ready.base_url, key));
  }
  await stop(service);
  await stop(bare);
  return [
    {
      name: "API: POST /v1/customers, durable, 32 connections",
      figure: `${Math.round(median(durable))} requests/s`,
      baseline: `${Math.round(median(without))} requests/s without storage`,
      ratio: median(durable.map((value, i) => value / without[i])),
      goal: atLeast(0.5),
    },
  ];
}
