// Pages of long lists: each page over HTTP from a platform with a million customers and events, against the same page
// from one with a thousand. `node bench/run.js lists`.
import { join } from "node:path";
import { Agent, request } from "undici";
import { atMost } from "./goals.js";
import { BIN, bundle, median, startNode, stop, temporaryFolder } from "./measure.js";

const FEW = 1_000;
const MANY = Number(process.env.BENCH_LIST_ROWS ?? 1_000_000);
const ROUNDS = 15;
const REQUESTS = 40;

/** A word that no customer has: a request searches the newest 2,000 rows, or all of a thousand. */
const NOTHING = "nowhere";

const PAGES = {
  "customers, first page": () => "/v1/customers",
  "customers, page in the middle": ({ customers }) => `/v1/customers?cursor=${customers}`,
  "customers, by email": ({ email }) => `/v1/customers?email=${email}`,
  "customers, search for an email": ({ email }) => `/v1/customers?query=${email}`,
  "customers, search for a common word": () => "/v1/customers?query=example",
  "customers, search without a match": () => `/v1/customers?query=${NOTHING}`,
  "customers, created after the middle": ({ since }) => `/v1/customers?created_after=${since}`,
  "customers, created before the middle": ({ since }) => `/v1/customers?created_before=${since}`,
  "events, first page": () => "/v1/events",
  "events, page in the middle": ({ events }) => `/v1/events?cursor=${events}`,
  "events, type order.*": () => "/v1/events?type=order.*",
  "events, type order.*, before the middle": ({ since }) => `/v1/events?type=order.*&created_before=${since}`,
  "events, related to one object": ({ related }) => `/v1/events?related=${related}`,
  "events, created after the middle": ({ since }) => `/v1/events?created_after=${since}`,
};

/** Starts a platform whose lists have this many rows. */
async function startWith(rows, loader) {
  const file = join(temporaryFolder(), "platform.db");
  const flags = [BIN, "serve", "--json", "--port", "0", "--database", file, "--rate-limit", "0"];
  const empty = await startNode(flags);
  await stop(empty);
  const { ready: places } = await startNode([loader, file, String(rows)]);
  const service = await startNode(flags);
  service.lines.on("line", () => {});
  return { service, places, key: empty.ready.sandbox_key };
}

/** Returns the median time of a page, in milliseconds. */
async function pageTime({ service, places, key }, page, dispatcher) {
  const url = service.ready.base_url + page(places);
  const times = [];
  for (let count = 0; count < REQUESTS; count++) {
    const start = performance.now();
    const response = await request(url, { headers: { authorization: `Bearer ${key}` }, dispatcher });
    const body = await response.body.text();
    times.push(performance.now() - start);
    const isEmpty = JSON.parse(body).data?.length === 0;
    if (response.statusCode !== 200 || isEmpty !== url.endsWith(NOTHING)) throw new Error(`${url}: ${body}`);
  }
  return median(times);
}

export async function benchLists() {
  const loader = await bundle("lists-loader");
  const few = await startWith(FEW, loader);
  const many = await startWith(MANY, loader);
  const dispatcher = new Agent({ pipelining: 1 });
  const rows = [];
  for (const [name, page] of Object.entries(PAGES)) {
    await pageTime(few, page, dispatcher);
    await pageTime(many, page, dispatcher);
    const short = [];
    const long = [];
    for (let round = 0; round < ROUNDS; round++) {
      short.push(await pageTime(few, page, dispatcher));
      long.push(await pageTime(many, page, dispatcher));
    }
    rows.push({
      name: `Lists of ${MANY}: ${name}`,
      figure: `${median(long).toFixed(2)} ms`,
      baseline: `${median(short).toFixed(2)} ms in a list of ${FEW}`,
      ratio: median(long.map((time, round) => time / short[round])),
      goal: atMost(2),
    });
  }
  await dispatcher.close();
  await stop(few.service);
  await stop(many.service);
  return rows;
}
