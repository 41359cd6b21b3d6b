import type { Api } from "../support/api.ts";

/** The results of a run. */
export interface Run {
  /** Calls the API of the environment that was written to. */
  api: Api;
  /** Expected events of acknowledged writes, each as `<type> <object ID>`; there must be no others. */
  acknowledged: ReadonlySet<string>;
  /** True if the events were created through the API, for objects that do not exist. */
  createdByHand?: boolean;
  /** Endpoints that were enabled from before the first write until now, with their subscriptions. */
  endpoints?: readonly { id: string; events: readonly string[] }[];
  /**
   * Event IDs that each run of a listener reported, in order of arrival, and those that its receiver accepted: a killed
   * listener loses its last lines.
   */
  listeners?: readonly { name: string; lives: readonly (readonly string[])[]; accepted?: ReadonlySet<string> }[];
  /** Number of deliveries whose attempts are compared with their counts. */
  sampled?: number;
}

interface Listed {
  id: string;
}
interface ListedEvent extends Listed {
  type: string;
  data: { object: { id: string } };
  request: { id: string | null };
}
interface ListedDelivery extends Listed {
  event: string;
  endpoint: string | null;
  listener: string | null;
  status: string;
  attempt_count: number;
  attempts?: { at: string }[];
}

/** Maximum number of violations of one kind. More of them add nothing. */
const MAX_EXAMPLES = 5;
const LISTS: Record<string, string> = { customer: "/v1/customers", order: "/v1/orders", payment: "/v1/payments" };

/**
 * Checks what must hold after any faults: each acknowledged write happened once, with one event, and one delivery for
 * each subscribed endpoint; attempts match their counts; listeners received events in the order of the log, without
 * loss; lists are complete and free of duplicates. Returns a sentence for each violation, and an empty list if there
 * are none.
 */
export async function findViolations(run: Run): Promise<string[]> {
  const violations: string[] = [];
  const report = (what: string, found: readonly string[]) => {
    if (found.length === 0) return;
    const more = found.length > MAX_EXAMPLES ? `, and ${found.length - MAX_EXAMPLES} more` : "";
    violations.push(`${what}: ${found.slice(0, MAX_EXAMPLES).join(", ")}${more}`);
  };
  const listOnce = async <Item extends Listed>(path: string) => {
    const items = await listAll<Item>(run.api, path);
    report(`listed more than once at ${path}`, repeated(items.map(({ id }) => id)));
    return items;
  };

  const keys = [...run.acknowledged].map((key) => key.split(" ") as [type: string, id: string]);
  for (const [resource, path] of Object.entries(run.createdByHand === true ? {} : LISTS)) {
    const written = new Set(keys.flatMap(([type, id]) => (type.startsWith(`${resource}.`) ? [id] : [])));
    if (written.size === 0) continue;
    const deleted = new Set(keys.flatMap(([type, id]) => (type === `${resource}.deleted` ? [id] : [])));
    const listed = new Set((await listOnce(path)).map(({ id }) => id));
    report(
      `acknowledged, but not listed at ${path}`,
      missing(written, listed).filter((id) => !deleted.has(id)),
    );
    report(`listed at ${path}, but never acknowledged`, missing(listed, written));
  }

  // The platform itself causes events about the health of endpoints.
  const listed = await listOnce<ListedEvent>("/v1/events");
  const events = listed.filter(({ request }) => request.id !== null).toReversed();
  const caused = events.map(({ type, data }) => `${type} ${data.object.id}`);
  report("acknowledged without an event", missing(run.acknowledged, new Set(caused)));
  report("more than one event of a write", repeated(caused));
  report("events of no acknowledged write", missing(new Set(caused), run.acknowledged));

  const deliveries = await listOnce<ListedDelivery>("/v1/deliveries");
  const routes = deliveries.map(({ event, endpoint, listener }) => `${event} to ${endpoint ?? listener}`);
  report("more than one delivery of an event", repeated(routes));
  const delivered = new Set(routes);
  for (const { id, events: subscriptions } of run.endpoints ?? []) {
    const subscribed = events.filter(({ type }) => subscriptions.some((subscription) => matches(subscription, type)));
    const expected = new Set(subscribed.map((event) => `${event.id} to ${id}`));
    report(`events without a delivery to ${id}`, missing(expected, delivered));
  }
  report(
    "ended without an attempt",
    deliveries.flatMap(({ id, status, attempt_count }) =>
      (status === "succeeded" || status === "failed") && attempt_count === 0 ? [id] : [],
    ),
  );
  for (const { id } of spread(deliveries, run.sampled ?? 100)) {
    const { attempts = [], attempt_count } = await get<ListedDelivery>(run.api, `/v1/deliveries/${id}`);
    const inOrder = attempts.every(({ at }, index) => index === 0 || attempts[index - 1]!.at <= at);
    if (attempts.length !== attempt_count) report(`attempts differ from their count of ${attempt_count}`, [id]);
    if (!inOrder) report("attempts out of order", [`${id} (${attempts.map(({ at }) => at).join(", ")})`]);
  }

  const positions = new Map(events.map(({ id }, position) => [id, position]));
  for (const { name, lives, accepted = [] } of run.listeners ?? []) {
    for (const life of lives) {
      // A reconnect may repeat unacknowledged events; first arrivals keep the order of the log.
      const firsts = [...new Set(life)];
      report(
        `${name} received events that are not listed`,
        firsts.filter((id) => !positions.has(id)),
      );
      report(
        `${name} received events out of order`,
        firsts.filter((id, index) => index > 0 && positions.get(id)! < positions.get(firsts[index - 1]!)!),
      );
    }
    const received = new Set([...lives.flat(), ...accepted]);
    const first = Math.min(...[...received].map((id) => positions.get(id) ?? Infinity));
    const due = events.slice(first === Infinity ? 0 : first).map(({ id }) => id);
    report(`${name} missed events`, missing(new Set(due), received));
  }
  return violations;
}

/** Reads a whole list, newest first. */
async function listAll<Item extends Listed>(api: Api, path: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: { data: Item[]; next_cursor: string | null } = await get(
      api,
      `${path}?limit=100${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    items.push(...page.data);
    cursor = page.next_cursor;
  }
  return items;
}

async function get<Body>(api: Api, path: string): Promise<Body> {
  const { status, body } = await api("GET", path);
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
  return body as Body;
}

function missing(expected: ReadonlySet<string>, found: ReadonlySet<string>): string[] {
  return [...expected].filter((item) => !found.has(item));
}

function repeated(items: readonly string[]): string[] {
  const ids = new Set<string>();
  return items.filter((item) => ids.size === ids.add(item).size);
}

/** Returns this many items at equal distances, with the first and the last. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}

function matches(subscription: string, type: string): boolean {
  return subscription === "*" || subscription === type || type.startsWith(subscription.replace(/\*$/, ""));
}
