import { matchesSubscriptions } from "../contract/event-types.ts";
import { timeOfId } from "../contract/ids.ts";
import { pathOf } from "../contract/resources.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { ListedEvent } from "../contract/schemas/event.ts";
import type { RequestLog, RequestLogDetail } from "../contract/schemas/request-log.ts";
import type { Statistics } from "../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import type { TestClock } from "../contract/schemas/sandbox.ts";
import { attemptsOf } from "./attempts.ts";
import type { ChainApi } from "./chain.ts";
import { environmentTimeOf } from "./endpoint-change.ts";
import { isSameReceiver } from "./receivers.ts";

const PATH = pathOf("delivery");
const LOGS = pathOf("request_log");
/** Deliveries of each status whose last attempts are compared; rejected requests, and later advances of the clock. */
const MAX_CANDIDATES = 10;

/** Something that failed. */
interface Trouble {
  id: string;
  /** When it failed last, in Unix milliseconds of the environment's time. */
  time: number;
  /** What has a lower one comes first, however old it is (default: 0). */
  rank?: number;
  /** What it is called (default: the newest failure). */
  label?: string;
  /** How to see all of its kind. */
  more?: string | undefined;
}

/**
 * Returns the delivery, or the event that a listener has not delivered, with the newest failed attempt that no later
 * success has made up for. If there is none, `dead` is the newest failure to a deleted endpoint: it needs no action.
 */
export async function newestFailure(
  api: ChainApi,
): Promise<{ newest?: Trouble | undefined; dead?: string | undefined }> {
  const list = (query: Record<string, string>) => listOf<Delivery>(api, PATH, query);
  const listed = await Promise.all(
    ["failed", "retrying"].map(async (status) => {
      const data = await list({ status, limit: String(MAX_CANDIDATES) });
      return Promise.all(data.map(async ({ id }) => (await api.get(`${PATH}/${id}`)) as Delivery));
    }),
  );
  // The newest first: a listener reports a delivery only after its last attempt.
  const { listener_results: results } = (await api.get(pathOf("statistics"))) as Statistics;
  const [retried] = results.map(({ event, attempts }) => ({ id: event, time: timeOf(attempts.at(-1)?.at, event) }));
  const timeOfDelivery = (one: Delivery) => timeOf(attemptsOf(one).at(-1)?.at, one.id);
  const all = listed.flat().toSorted((a, b) => timeOfDelivery(b) - timeOfDelivery(a));
  let dead: string | undefined;
  for (const failed of all) {
    if (retried !== undefined && retried.time > timeOfDelivery(failed)) break;
    const succeeded = await list({ event: failed.event, status: "succeeded" });
    if (succeeded.some((one) => isSameReceiver(one, failed))) continue;
    if (await isToDeleted(failed, api)) {
      dead ??= failed.id;
      continue;
    }
    const status = failed.status === "pending" ? "retrying" : failed.status;
    const more = all.length > 1 ? `For all: service deliveries list --status ${status}` : undefined;
    return { newest: { id: failed.id, time: timeOfDelivery(failed), more } };
  }
  return { newest: retried, dead };
}

async function listOf<Item>(api: ChainApi, path: string, query: Record<string, string>): Promise<Item[]> {
  return ((await api.get(`${path}?${new URLSearchParams(query).toString()}`)) as { data: Item[] }).data;
}

/** Returns a time to the millisecond if the ID shows it: those of attempts are whole seconds. */
function timeOf(attempt: string | undefined, id: string): number {
  return Math.max(attempt === undefined ? 0 : Date.parse(attempt), timeOfId(id));
}

/**
 * Returns the newest of these: a failed delivery, an event that reached none of its receivers, and a rejected request of
 * an application. Without any of them, it is an event for which there is no receiver, or else the newest rejected request
 * of the CLI or the dashboard, which have reported it. `note` names it.
 */
export async function newestTrouble(api: ChainApi): Promise<{ id: string; note: string } | undefined> {
  const { newest: failed, dead } = await newestFailure(api);
  const found = [
    failed,
    await ifStatus(403, newestUnreceived(api), api),
    await ifStatus(403, newestRejected(api), api),
  ];
  const [newest, ...older] = found
    .filter((one) => one !== undefined)
    .toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || b.time - a.time);
  if (newest === undefined) {
    return dead === undefined ? undefined : { id: dead, note: `${NEWEST}: ${dead}, to an endpoint that was deleted` };
  }
  // A listener retries the newest event.
  const before = older.find(({ id, rank = 0 }) => id !== newest.id && rank === 0);
  const others = [newest.more, before && `Before it: service why ${before.id}`];
  const note = [`${newest.label ?? NEWEST}: ${newest.id}`, ...others.filter((one) => one !== undefined)].join(". ");
  return { id: newest.id, note };
}

const NEWEST = "Newest failure";

/** Returns the newest event if it reached no receiver. Nothing has to receive events about endpoints. */
async function newestUnreceived(api: ChainApi): Promise<Trouble | undefined> {
  const events = await listOf<ListedEvent>(api, pathOf("event"), { limit: String(MAX_CANDIDATES) });
  const event = events.find(({ type }) => !type.startsWith("webhook_endpoint."));
  if (event === undefined) return undefined;
  const { id } = event;
  const { listener_results: results, listener_connections: listeners } = (await api.get(
    `${pathOf("statistics")}?event=${id}`,
  )) as Statistics;
  const time = timeOfId(id);
  if (results.some(({ result }) => result === "forwarding")) return { id, time, label: "Not delivered yet" };
  const deliveries = await listOf<Delivery>(api, PATH, { event: id, limit: "1" });
  if (deliveries.length > 0) return undefined;
  const receivers = [
    ...((await ifStatus(403, listOf<WebhookEndpoint>(api, pathOf("webhook_endpoint"), {}), api)) ?? []),
    ...listeners.filter(({ disconnected_at: end }) => end === null),
  ];
  const isAwaited =
    receivers.length === 0 || receivers.some(({ events: own }) => matchesSubscriptions(own, event.type));
  return { id, time, rank: isAwaited ? 0 : 1 };
}

/**
 * Returns the newest rejected API request, that of an application before those of the CLI and the dashboard, whose reads
 * and mistyped IDs do not count. It is over once the same request has succeeded.
 */
async function newestRejected(api: ChainApi): Promise<Trouble | undefined> {
  const list = (query: Record<string, string>) =>
    listOf<RequestLog>(api, LOGS, { ...query, limit: String(MAX_CANDIDATES) });
  const lists = await Promise.all(["4xx", "5xx"].map((status) => list({ status })));
  const rejected = lists
    .flat()
    .filter(({ method, client, key, status }) =>
      client === null ? method !== "GET" || key !== null : method !== "GET" && status !== 404,
    )
    .toSorted((a, b) => Number(a.client !== null) - Number(b.client !== null) || (a.id < b.id ? 1 : -1));
  const isOver = async ({ id, method, path }: RequestLog) =>
    (await list({ method, path, status: "2xx" })).some((later) => later.id > id);
  let request = rejected.shift();
  while (request !== undefined && (await isOver(request))) request = rejected.shift();
  if (request === undefined) return undefined;
  const { id, client } = request;
  // Live mode has no test clock, and the credential may not read it.
  const clock = await ifStatus(undefined, api.get(pathOf("test_clock")) as Promise<TestClock>, api);
  const offset = clock?.offset_seconds ?? 0;
  const later =
    offset === 0
      ? []
      : (await list({ path: `${pathOf("test_clock")}/advance`, status: "2xx" })).filter((one) => one.id > id);
  const advances = await Promise.all(
    later.map(async (one) => (await api.get(`${LOGS}/${one.id}`)) as RequestLogDetail),
  );
  return { id, time: environmentTimeOf(request, { advances, offset }), rank: client === null ? 0 : 2 };
}

async function isToDeleted({ endpoint }: Delivery, api: ChainApi): Promise<boolean> {
  if (endpoint === null) return false;
  return (await ifStatus(404, api.get(`${pathOf("webhook_endpoint")}/${endpoint}`), api)) === undefined;
}

/** Returns undefined for an error response, or only for one with this status: 403 if the credential may not read it. */
async function ifStatus<Result>(
  expected: number | undefined,
  work: Promise<Result>,
  api: ChainApi,
): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    const status = api.problemOf(error)?.status;
    if (status === undefined || status !== (expected ?? status)) throw error;
    return undefined;
  }
}
