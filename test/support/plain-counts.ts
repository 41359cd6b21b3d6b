import { expect } from "vitest";
import { timeOfId } from "../../src/contract/ids.ts";
import { formatTimestamp } from "../../src/contract/timestamps.ts";
import type { Queries } from "../../src/platform/storage/database.ts";
import { Seeded } from "../platform/fuzz/seeded.ts";
import type { Api } from "./api.ts";

interface Minute {
  at: string;
  events: number;
  attempts: number;
  succeeded: number;
  failed: number;
}

interface Failure {
  endpoint: string | null;
  status_code: number | null;
  error: string | null;
  count: number;
  last_at: string;
}

/** Counts from the rows: minutes with activity, failures, and pending deliveries. */
interface Counted {
  minutes: Minute[];
  failures: Failure[];
  pending: number;
  failedDeliveries: number;
  /** When the newest delivery was created. */
  newest: string | null;
  lastSuccess: string | null;
}

const SANDBOX = "environment = (SELECT id FROM environments WHERE name = 'sandbox')";
const SUCCEEDED = "COALESCE(a.status_code BETWEEN 200 AND 299, FALSE)";

/** Counts the sandbox's rows since a time, or those of one endpoint. */
async function countRows(database: Queries, endpoint: string | undefined, since: number): Promise<Counted> {
  const ofEndpoint = endpoint === undefined ? "" : `AND d.endpoint_id = '${endpoint}'`;
  const attempts = `FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
    WHERE d.${SANDBOX} AND a.at >= ${since} AND COALESCE(a.error, '') NOT LIKE 'endpoint_deleted:%' ${ofEndpoint}`;
  const events = await database.all<{ minute: number; count: number }>(
    `SELECT created / 60000 AS minute, COUNT(*) AS count FROM events WHERE ${SANDBOX} AND created >= ${since}
     GROUP BY created / 60000`,
  );
  const attempted = await database.all<{ minute: number; count: number; succeeded: number }>(
    `SELECT a.at / 60000 AS minute, COUNT(*) AS count, SUM(CASE WHEN ${SUCCEEDED} THEN 1 ELSE 0 END) AS succeeded
     ${attempts} GROUP BY a.at / 60000`,
  );
  const failures = await database.all<Omit<Failure, "last_at"> & { last_at: number }>(
    `SELECT d.endpoint_id AS endpoint, a.status_code, a.error, COUNT(*) AS count, MAX(a.at) AS last_at
     ${attempts} AND NOT ${SUCCEEDED} GROUP BY d.endpoint_id, a.status_code, a.error`,
  );
  const pending = await database.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM deliveries d WHERE d.${SANDBOX} AND d.status = 'pending' ${ofEndpoint}`,
  );
  const failed = await database.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM deliveries d WHERE d.${SANDBOX} AND d.status = 'failed' ${ofEndpoint}`,
  );
  const newest = await database.get<{ id: string | null }>(
    `SELECT MAX(d.id) AS id FROM deliveries d WHERE d.${SANDBOX} ${ofEndpoint}`,
  );
  const success = await database.get<{ at: number | null }>(`SELECT MAX(a.at) AS at ${attempts} AND ${SUCCEEDED}`);
  const minutes = new Map<number, Minute>();
  const minuteOf = (minute: number) => {
    const at = formatTimestamp(minute * 60_000);
    const found = minutes.get(minute) ?? { at, events: 0, attempts: 0, succeeded: 0, failed: 0 };
    minutes.set(minute, found);
    return found;
  };
  for (const { minute, count } of events) minuteOf(minute).events = count;
  for (const { minute, count, succeeded } of attempted) {
    Object.assign(minuteOf(minute), { attempts: count, succeeded, failed: count - succeeded });
  }
  return {
    minutes: [...minutes.values()].toSorted((a, b) => a.at.localeCompare(b.at)),
    failures: failures.map((failure) => ({ ...failure, last_at: formatTimestamp(failure.last_at) })),
    pending: pending?.count ?? 0,
    failedDeliveries: failed?.count ?? 0,
    newest: typeof newest?.id === "string" ? formatTimestamp(timeOfId(newest.id)) : null,
    lastSuccess: typeof success?.at === "number" ? formatTimestamp(success.at) : null,
  };
}

const order = (failures: readonly Failure[]) => failures.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
const nameOf = ({ endpoint, status_code, error }: Failure) => `${endpoint} ${status_code} ${error}`;

/**
 * Expects that the statistics of the last 6 hours match the database's rows, for all endpoints together and for each of
 * those given. Counts again while rows change.
 */
export async function expectPlainCounts(database: Queries, api: Api, endpoints: readonly string[] = []): Promise<void> {
  for (const endpoint of [undefined, ...endpoints]) {
    const query = `?minutes=360${endpoint === undefined ? "" : `&endpoint=${endpoint}`}`;
    const read = async () => (await api("GET", `/v1/statistics${query}`)).body;
    const startOf = (statistics: { minutes: Minute[] }) => Date.parse(statistics.minutes[0]!.at);
    for (;;) {
      const since = startOf(await read());
      const before = await countRows(database, endpoint, since);
      const statistics = await read();
      const after = await countRows(database, endpoint, since);
      if (JSON.stringify(before) !== JSON.stringify(after) || startOf(statistics) !== since) continue;
      const minutes = (statistics.minutes as (Minute & { latency_p50_ms: unknown; latency_p95_ms: unknown })[])
        .map(({ latency_p50_ms: _p50, latency_p95_ms: _p95, ...minute }) => minute)
        .filter(({ events, attempts }) => events > 0 || attempts > 0);
      expect(minutes).toEqual(after.minutes);
      expect(order(statistics.failures)).toEqual(order(after.failures));
      expect(statistics.queue.pending).toBe(after.pending);
      if (endpoint !== undefined) expectEndpoint(statistics.endpoints, endpoint, after);
      break;
    }
  }
}

interface OfEndpoint {
  endpoint: string;
  intervals: { at: string; succeeded: number; failed: number }[];
}

/** Expects an endpoint's counts to match those of its minutes. A deleted endpoint is not listed. */
function expectEndpoint(
  found: readonly OfEndpoint[],
  id: string,
  { minutes, pending, failedDeliveries, newest, lastSuccess }: Counted,
): void {
  const [one, ...more] = found;
  expect(more).toEqual([]);
  if (one === undefined) return;
  const sum = (counted: readonly { succeeded: number; failed: number }[], of: "succeeded" | "failed") =>
    counted.reduce((total, count) => total + count[of], 0);
  const { intervals, ...counts } = one;
  expect(counts).toEqual({
    endpoint: id,
    attempts: sum(minutes, "failed") + sum(minutes, "succeeded"),
    failed: sum(minutes, "failed"),
    pending,
    failed_deliveries: failedDeliveries,
    last_delivery_at: newest,
    last_success_at: lastSuccess,
  });
  expect(intervals).toHaveLength(30);
  for (const [index, { at, ...interval }] of intervals.entries()) {
    const end = intervals[index + 1]?.at;
    const within = minutes.filter((minute) => minute.at >= at && (end === undefined || minute.at < end));
    expect(interval).toEqual({ succeeded: sum(within, "succeeded"), failed: sum(within, "failed") });
  }
}

/**
 * Performs random operations that change the counts: events, retries and replays, and endpoints that are created, fail,
 * pause and are deleted. Returns the IDs of the endpoints.
 */
export async function changeAtRandom(apis: readonly Api[], receiver: string, seed: number, steps: number) {
  const random = new Seeded(seed);
  const endpoints: string[] = [];
  const enabled = () => random.pick(endpoints);
  const call = (method: string, path: string, body?: unknown) => random.pick(apis)(method, path, body);
  const anyOf = async (path: string) => {
    const { data } = (await call("GET", `${path}?limit=100`)).body as { data: { id: string }[] };
    return data.length === 0 ? undefined : random.pick(data).id;
  };
  const addEndpoint = async () => {
    const url = `${receiver}/${random.pick(["takes", "refuses", "gone"])}`;
    endpoints.push((await call("POST", "/v1/webhook_endpoints", { url, events: ["*"] })).body.id as string);
  };
  const actions: (() => Promise<unknown>)[] = [
    () => Promise.all(Array.from({ length: 8 }, () => call("POST", "/v1/orders", { amount: 1, currency: "EUR" }))),
    () => call("POST", "/v1/events", { type: "order.completed", data: { id: "ord_1" } }),
    async () => endpoints.length < 6 && addEndpoint(),
    () => call("PATCH", `/v1/webhook_endpoints/${enabled()}`, { status: random.pick(["enabled", "disabled"]) }),
    async () => random.chance(0.3) && call("DELETE", `/v1/webhook_endpoints/${enabled()}`),
    async () => call("POST", `/v1/deliveries/${await anyOf("/v1/deliveries")}/retry`),
    async () => call("POST", `/v1/events/${await anyOf("/v1/events")}/replay`, {}),
    () => call("POST", `/v1/test_clock/advance`, { seconds: random.integer(1, 600) }),
  ];
  await addEndpoint();
  for (let step = 0; step < steps; step++) await random.pick(actions)();
  return endpoints;
}
