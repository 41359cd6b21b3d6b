import { timeOfId } from "../contract/ids.ts";
import { pathOf } from "../contract/resources.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { RequestLog, RequestLogDetail } from "../contract/schemas/request-log.ts";
import type { Statistics } from "../contract/schemas/statistics.ts";
import type { TestClock } from "../contract/schemas/sandbox.ts";
import { attemptsOf } from "./attempts.ts";
import type { ChainApi } from "./chain.ts";
import { environmentTimeOf } from "./endpoint-change.ts";
import { isSameReceiver } from "./receivers.ts";

const PATH = pathOf("delivery");
const LOGS = pathOf("request_log");
/** Deliveries of each status whose last attempts are compared; rejected requests, and later advances of the clock. */
const MAX_CANDIDATES = 10;

interface NewestFailure {
  /** The delivery, or the event that a listener has not delivered; undefined if nothing failed. */
  id: string | undefined;
  /** When it failed last, in Unix milliseconds of the environment's time. */
  time: number;
  /** The status of the delivery, if others have failed too. */
  status: string | undefined;
  /** The newest failure to a deleted endpoint, if nothing else failed: it needs no action. */
  dead: string | undefined;
}

/**
 * Returns the delivery, or the event that a listener has not delivered, with the newest failed attempt that no later
 * success has made up for.
 */
export async function newestFailure(api: ChainApi): Promise<NewestFailure> {
  const list = async (query: Record<string, string>) => {
    const parameters = new URLSearchParams(query).toString();
    return ((await api.get(`${PATH}?${parameters}`)) as { data: Delivery[] }).data;
  };
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
    return {
      id: failed.id,
      time: timeOfDelivery(failed),
      status: all.length > 1 ? status : undefined,
      dead: undefined,
    };
  }
  return { id: retried?.id, time: retried?.time ?? 0, status: undefined, dead };
}

/** Returns a time to the millisecond if the ID shows it: those of attempts are whole seconds. */
function timeOf(attempt: string | undefined, id: string): number {
  return Math.max(attempt === undefined ? 0 : Date.parse(attempt), timeOfId(id));
}

/**
 * Returns the newest rejected API request, unless the same one succeeded later, and except reads of the CLI and the
 * dashboard: they have reported the error. Nor is an ID that someone mistyped there a failure. Its time is the
 * environment's, which is that of deliveries.
 */
export async function newestRejected(api: ChainApi): Promise<{ request: RequestLog; time: number } | undefined> {
  const list = async (query: Record<string, string>) => {
    const parameters = new URLSearchParams({ ...query, limit: String(MAX_CANDIDATES) }).toString();
    return ((await api.get(`${LOGS}?${parameters}`)) as { data: RequestLog[] }).data;
  };
  const lists = await Promise.all(["4xx", "5xx"].map((status) => list({ status })));
  const rejected = lists
    .flat()
    .filter(({ method, client, key, status }) =>
      client === null ? method !== "GET" || key !== null : method !== "GET" && status !== 404,
    )
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const hasSucceeded = async ({ id, method, path }: RequestLog) =>
    (await list({ method, path, status: "2xx" })).some((later) => later.id > id);
  let request = rejected.shift();
  while (request !== undefined && (await hasSucceeded(request))) request = rejected.shift();
  if (request === undefined) return undefined;
  const { offset_seconds: offset } = await clockOf(api);
  const later =
    offset === 0
      ? []
      : (await list({ path: `${pathOf("test_clock")}/advance`, status: "2xx" })).filter(({ id }) => id > request.id);
  const advances = await Promise.all(later.map(async ({ id }) => (await api.get(`${LOGS}/${id}`)) as RequestLogDetail));
  return { request, time: environmentTimeOf(request, { advances, offset }) };
}

/** Live mode has no test clock, and the credential may not read it. */
async function clockOf(api: ChainApi): Promise<Pick<TestClock, "offset_seconds">> {
  try {
    return (await api.get(pathOf("test_clock"))) as TestClock;
  } catch (error) {
    if (api.problemOf(error) === undefined) throw error;
    return { offset_seconds: 0 };
  }
}

async function isToDeleted({ endpoint }: Delivery, api: ChainApi): Promise<boolean> {
  if (endpoint === null) return false;
  try {
    await api.get(`${pathOf("webhook_endpoint")}/${endpoint}`);
    return false;
  } catch (error) {
    const problem = api.problemOf(error);
    if (problem === undefined) throw error;
    return problem.status === 404;
  }
}
