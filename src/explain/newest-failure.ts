import { pathOf } from "../contract/resources.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { RequestLog } from "../contract/schemas/request-log.ts";
import type { Statistics } from "../contract/schemas/statistics.ts";
import { attemptsOf } from "./attempts.ts";
import type { ChainApi } from "./chain.ts";
import { isSameReceiver } from "./receivers.ts";

const PATH = pathOf("delivery");
/** Deliveries of each status whose last attempts are compared, and rejected requests that are considered. */
const MAX_CANDIDATES = 10;

interface NewestFailure {
  /** The delivery, or the event that a listener has not delivered; undefined if nothing failed. */
  id: string | undefined;
  /** When it failed last. */
  at: string;
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
  const [retried] = results.map(({ event, attempts }) => ({ id: event, at: attempts.at(-1)?.at ?? "" }));
  const lastAt = (one: Delivery) => attemptsOf(one).at(-1)?.at ?? one.created;
  const keyOfDelivery = (one: Delivery) => keyOf({ at: lastAt(one), id: one.id });
  const all = listed.flat().toSorted((a, b) => (keyOfDelivery(a) < keyOfDelivery(b) ? 1 : -1));
  let dead: string | undefined;
  for (const failed of all) {
    if (retried !== undefined && keyOf(retried) > keyOfDelivery(failed)) break;
    const succeeded = await list({ event: failed.event, status: "succeeded" });
    if (succeeded.some((one) => isSameReceiver(one, failed))) continue;
    if (await isToDeleted(failed, api)) {
      dead ??= failed.id;
      continue;
    }
    const status = failed.status === "pending" ? "retrying" : failed.status;
    return { id: failed.id, at: lastAt(failed), status: all.length > 1 ? status : undefined, dead: undefined };
  }
  return { id: retried?.id, at: retried?.at ?? "", status: undefined, dead };
}

/** Returns the newest rejected API request, except reads of the CLI and the dashboard: they have reported the error. */
export async function newestRejected(api: ChainApi): Promise<RequestLog | undefined> {
  const lists = await Promise.all(
    ["4xx", "5xx"].map(async (status) => {
      const { data } = (await api.get(`${pathOf("request_log")}?status=${status}&limit=${MAX_CANDIDATES}`)) as {
        data: RequestLog[];
      };
      return data.find(({ method, client, key }) => method !== "GET" || (client === null && key !== null));
    }),
  );
  return lists.filter((one) => one !== undefined).toSorted((a, b) => (a.id < b.id ? 1 : -1))[0];
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

/** Returns what sorts by time. Attempts have whole seconds; IDs sort by time after their prefix of four characters. */
export function keyOf({ at, id }: { at: string; id: string }): string {
  return `${at} ${id.slice(4)}`;
}
