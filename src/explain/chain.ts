import { type EventType, matchesSubscriptions } from "../contract/event-types.ts";
import { type IdKind, kindOfId } from "../contract/ids.ts";
import { OBJECT_KINDS, pathOf, type ResourceKind } from "../contract/resources.ts";
import type { Identity, User } from "../contract/schemas/account.ts";
import type { ApiKey } from "../contract/schemas/api-key.ts";
import type { BulkOperation } from "../contract/schemas/bulk-operation.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { Event, ListedEvent } from "../contract/schemas/event.ts";
import type { RequestLog, RequestLogDetail } from "../contract/schemas/request-log.ts";
import type { Statistics } from "../contract/schemas/statistics.ts";
import type { TestClock } from "../contract/schemas/sandbox.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { exampleOf, lastAttempted } from "./attempts.ts";
import { type Missing, NOTHING } from "./missing.ts";
import { changesIn, type EndpointChange, isDisabling } from "./endpoint-change.ts";
import { faultOf, KEY_ERRORS, type RequestParts } from "./request.ts";
import { unsentTo } from "./unsent.ts";

/** Deliveries that are shown with their attempts. */
const MAX_DELIVERIES = 20;
/** Deliveries whose outcomes are read, and events of a subscription. */
const MAX_LISTED = 100;
/** The newest deliveries of an endpoint that are shown. */
const NEWEST = 5;
const OTHER_EVENTS = 10;
/** The newest changes of an endpoint, or advances of the clock, that are read. */
const MAX_CHANGES = 10;

/** An object of the API whose fields do not matter to the explanation. */
interface SomeObject {
  id: string;
  object: string;
  status?: string;
}

/** What happened around one ID, from the API request to the last attempt. */
export interface Chain extends RequestParts, Pick<Missing, "id" | "kind" | "isLive" | "now"> {
  subject: SomeObject | undefined;
  event: Event | undefined;
  /** Other events about the same object, newest first. */
  otherEvents: readonly Event[];
  /** The requested one, then the newest first, with attempts. Of an endpoint: its newest, and one of each result. */
  deliveries: readonly Delivery[];
  /** All deliveries of the event, newest first, without attempts. */
  listed: readonly Delivery[];
  /** By ID; undefined for one that was deleted. For an event: all that exist. */
  endpoints: ReadonlyMap<string, WebhookEndpoint | undefined>;
  /** The newest changes first, of the endpoints that did not receive something. */
  changes: ReadonlyMap<string, readonly EndpointChange[]>;
  /**
   * Counts of the last hour, of the endpoint that is explained or that a delivery waits for; and the listeners,
   * with what they did with the event.
   */
  statistics: Statistics | undefined;
  /** The last event that reported the recovery of the endpoint, and the last one that it fails. */
  recovery: Event | undefined;
  outage: Event | undefined;
  /** When the next attempt to the endpoint is due. */
  nextAttempt: string | undefined;
  /** Events that the endpoint was not sent since it was disabled: of each subscription, at most the newest `MAX_COUNTED`. */
  unsent: readonly ListedEvent[];
  operation: BulkOperation | undefined;
  /** Set if nothing remains of the ID. */
  missing: Missing | undefined;
  /** Set while the sandbox's clock is ahead of real time. */
  clock: TestClock | undefined;
  /** Where the user's application receives events, if that is known without a listener. */
  target?: string | undefined;
  /** Scopes that the credential lacks for the rest of the chain. */
  missingScopes: readonly string[];
}

/** Kinds of IDs that can be explained. */
export const EXPLAINED: readonly IdKind[] = [
  "event",
  "delivery",
  "request",
  ...OBJECT_KINDS,
  "webhook_endpoint",
  "bulk_operation",
  "listener",
];

export function explainedKind(id: string): IdKind | undefined {
  return EXPLAINED.find((kind) => kind === kindOfId(id));
}

/** Access to the API: of the command, or in the browser. */
export interface ChainApi {
  /** Returns the JSON of a resource. Throws an error that `problemOf` can describe. */
  get(path: string): Promise<unknown>;
  /** Returns the status and code of an error response, and the scope that its request lacked; undefined for other errors. */
  problemOf(error: unknown): { status: number; code: string; requiredScope: unknown } | undefined;
}

/** Reads everything about an ID of this kind. */
export function readChain(api: ChainApi, id: string, kind: IdKind): Promise<Chain> {
  return new ChainReader(api, id, kind).read();
}

/** Reads what is known about an ID that does not exist. */
export function readMissing(api: ChainApi, id: string, kind: IdKind): Promise<Missing> {
  return new ChainReader(api, id, kind).readMissing();
}

class ChainReader {
  readonly #api: ChainApi;
  readonly #id: string;
  readonly #kind: IdKind;
  readonly #missing = new Set<string>();

  constructor(api: ChainApi, id: string, kind: IdKind) {
    this.#api = api;
    this.#id = id;
    this.#kind = kind;
  }

  async read(): Promise<Chain> {
    const id = this.#id;
    const kind = this.#kind;
    if (kind === "listener") {
      const statistics = await this.#statistics({});
      return { ...NOTHING, id, kind, isLive: false, now: Date.now(), statistics, missingScopes: [...this.#missing] };
    }
    // Anything may have been deleted. The rest may be outside the credential's scopes, too.
    const found = await this.#existing(kind, id);
    if (found === undefined && !OBJECT_KINDS.some((one) => one === kind)) return await this.#withoutTrace();
    const request = kind === "request" ? (found as RequestLogDetail) : undefined;
    const operation = kind === "bulk_operation" ? (found as BulkOperation) : undefined;
    const requested = kind === "delivery" ? (found as Delivery) : undefined;
    const named = kind === "event" ? (found as Event) : undefined;
    let events: Event[] = [];
    let subject: SomeObject | undefined;
    if (named !== undefined) events = [named];
    else if (requested !== undefined) events = await this.#several<Event>("event", [requested.event]);
    else if (request !== undefined) events = await this.#several<Event>("event", await this.#eventsOf(request));
    else if (operation === undefined) {
      subject = found as SomeObject | undefined;
      events = await this.#about(id);
    }
    // The events of an object remain after its deletion.
    if (found === undefined && events.length === 0) return await this.#withoutTrace();
    const isEndpoint = kind === "webhook_endpoint";
    const [event, ...otherEvents] = isEndpoint ? [] : events;
    const [causing, current, clock, listed] = await Promise.all([
      request ?? this.#optional<RequestLogDetail>("request", event?.request.id),
      subject ?? this.#optional<SomeObject>(kindOfId(objectId(event) ?? ""), objectId(event)),
      this.#clock(),
      event === undefined ? [] : this.#listDeliveries({ event: event.id }, MAX_LISTED),
    ]);
    const chain = {
      id,
      kind,
      isLive: ((found ?? event) as { livemode?: boolean }).livemode === true,
      request: causing,
      key: KEY_ERRORS.has(causing?.error_code ?? null)
        ? await this.#optional<ApiKey>("api_key", causing?.key)
        : undefined,
      fault: await faultOf(causing, this.#api, (id) => this.#first("fault", id)),
      earlier: causing?.error_code === "idempotency_key_reused" ? await this.#firstUseOfKey(causing) : undefined,
      subject: current,
      event,
      otherEvents,
      listed,
      operation,
      now: clock === undefined ? Date.now() : Date.parse(clock.now),
      clock: clock?.offset_seconds === 0 ? undefined : clock,
    };
    const rest = isEndpoint
      ? await this.#ofEndpoint(found as WebhookEndpoint, chain.clock)
      : await this.#ofEvent(chain, requested);
    return { ...NOTHING, ...chain, ...rest, missingScopes: [...this.#missing] };
  }

  async #existing(kind: IdKind, id: string): Promise<object | undefined> {
    try {
      return await this.#first<object>(kind, id);
    } catch (error) {
      if (this.#api.problemOf(error)?.status !== 404) throw error;
      return undefined;
    }
  }

  async #withoutTrace(): Promise<Chain> {
    const missing = await this.readMissing();
    return { ...NOTHING, ...missing, missing, missingScopes: [...this.#missing] };
  }

  async readMissing(): Promise<Missing> {
    const id = this.#id;
    const kind = this.#kind;
    const path = `${pathOfKind(kind)}/${id}`;
    const [identity, clock, newest, deletions] = await Promise.all([
      this.#allowed(() => this.#get<Identity>("/v1/me")),
      this.#clock(),
      this.#allowed(() => this.#list<ListedEvent>("/v1/events", {}, 1)),
      this.#allowed(() => this.#requests({ path, method: "DELETE" }, 1)),
    ]);
    return {
      id,
      kind,
      isLive: identity?.livemode === true,
      now: clock === undefined ? Date.now() : Date.parse(clock.now),
      deletion: deletions?.data[0],
      resetAt: clock?.reset_at ?? null,
      newest: newest?.data[0],
    };
  }

  /** Returns the successful request that used the Idempotency-Key of a later one first. */
  async #firstUseOfKey({ id, path, idempotency_key: key }: RequestLogDetail): Promise<RequestLogDetail | undefined> {
    const listed = await this.#allowed(() => this.#requests({ path, method: "POST" }, MAX_LISTED));
    const first = listed?.data.findLast((other) => other.idempotency_key === key && other.id < id);
    return this.#optional<RequestLogDetail>("request", first?.id);
  }

  #requests(filters: Record<string, string>, limit: number) {
    return this.#list<RequestLog>(pathOf("request_log"), { ...filters, status: "2xx" }, limit);
  }

  async #ofEvent({ event, listed, clock }: Pick<Chain, "event" | "listed" | "clock">, requested: Delivery | undefined) {
    const others = listed.filter(({ id }) => id !== requested?.id);
    // The most informative ones, so that the answer needs no delivery that is not shown.
    const most = others.toSorted((a, b) => Number(a.status === "succeeded") - Number(b.status === "succeeded"));
    const shown = new Set(most.slice(0, MAX_DELIVERIES - (requested === undefined ? 0 : 1)));
    const deliveries = await this.#whole(others.filter((delivery) => shown.has(delivery)));
    if (requested !== undefined) deliveries.unshift(requested);
    const unattempted = deliveries.find(({ status, attempt_count: count }) => status === "pending" && count === 0);
    // A listener may retry an event beside its deliveries, or have several sessions.
    const isOfEvent = event !== undefined && (requested === undefined || requested.endpoint === null);
    const all = event === undefined ? undefined : await this.#allEndpoints();
    const endpoints = new Map([
      ...(await this.#endpoints(deliveries.filter(({ endpoint }) => !all?.has(endpoint ?? "")))),
      ...(all ?? []),
    ]);
    const isReplayed = deliveries.some(
      ({ status, endpoint }) => status !== "succeeded" && endpoints.get(endpoint ?? "") === undefined,
    );
    const statistics =
      unattempted !== undefined || isReplayed || isOfEvent
        ? await this.#statistics({ endpoint: unattempted?.endpoint, event: event?.id })
        : undefined;
    const failed = deliveries.filter(({ status, attempt_count: count }) => status !== "succeeded" && count > 0);
    const missed = [...endpoints].filter(
      ([id, endpoint]) =>
        failed.some((delivery) => delivery.endpoint === id) ||
        (event !== undefined &&
          matchesSubscriptions(endpoint?.events ?? [], event.type) &&
          !listed.some((delivery) => delivery.endpoint === id)),
    );
    const changes = await this.#changes(
      missed.map(([id]) => id),
      clock,
    );
    return { deliveries, endpoints, statistics, changes };
  }

  async #ofEndpoint(endpoint: WebhookEndpoint, clock: TestClock | undefined) {
    const { id } = endpoint;
    const [statistics, recovery, outage, newest, failed, succeeded, unsent] = await Promise.all([
      this.#statistics({ endpoint: id }),
      this.#about(id, "webhook_endpoint.recovered", 1),
      this.#about(id, "webhook_endpoint.failing", 1),
      this.#listDeliveries({ endpoint: id }, NEWEST),
      this.#listDeliveries({ endpoint: id, status: "failed" }, MAX_LISTED),
      this.#listDeliveries({ endpoint: id, status: "succeeded" }, MAX_LISTED),
      unsentTo(endpoint, (path, query) => this.#allowed(() => this.#list(path, query, MAX_LISTED))),
    ]);
    const pending = statistics === undefined ? [] : await this.#attempted(id, statistics);
    const candidates = [...newest, ...pending, ...failed];
    const examples = (statistics?.failures ?? []).map((failure) => exampleOf(failure, candidates));
    const last = [succeeded, candidates, failed].map(lastAttempted);
    const shown = [...newest, ...last, ...examples].filter((delivery) => delivery !== undefined);
    const unique = [...new Map(shown.map((delivery) => [delivery.id, delivery])).values()];
    const { attempts = 0, failed: failures = 0 } = statistics?.totals ?? {};
    const isFine =
      endpoint.status === "enabled" &&
      attempts > 0 &&
      failures === 0 &&
      newest.every(({ status }) => status === "succeeded") &&
      newest.some(({ event_type: type }) => type !== "webhook_endpoint.ping");
    return {
      deliveries: await this.#whole(unique.slice(0, MAX_DELIVERIES)),
      endpoints: new Map([[id, endpoint]]),
      statistics,
      changes: await this.#changes(isFine ? [] : [id], clock),
      recovery: recovery[0],
      outage: outage[0],
      nextAttempt: candidates.flatMap(({ next_attempt: at }) => at ?? []).toSorted()[0],
      unsent,
    };
  }

  /**
   * Returns pending deliveries that were attempted. A first attempt is due when its delivery is created, so those that
   * were created before the oldest due one are.
   */
  #attempted(endpoint: string, { now, queue }: Statistics): Promise<Delivery[]> {
    const before = new Date(Date.parse(now) - queue.oldest_due_seconds * 1000).toISOString().replace(/\.\d+/, "");
    return this.#listDeliveries({ endpoint, status: "pending", created_before: before }, MAX_LISTED);
  }

  async #get<Item>(path: string): Promise<Item> {
    return (await this.#api.get(path)) as Item;
  }

  #first<Item>(kind: IdKind, id: string): Promise<Item> {
    return this.#get(`${pathOfKind(kind)}/${encodeURIComponent(id)}`);
  }

  async #optional<Item>(
    kind: IdKind | undefined,
    id: string | null | undefined,
    noting?: { isNoted: boolean },
  ): Promise<Item | undefined> {
    if (kind === undefined || id === undefined || id === null) return undefined;
    return this.#allowed(() => this.#first<Item>(kind, id), noting);
  }

  /**
   * Returns undefined for objects that no longer exist or are damaged, or that the credential may not read, which is
   * noted.
   */
  async #allowed<Item>(read: () => Promise<Item>, { isNoted } = { isNoted: true }): Promise<Item | undefined> {
    try {
      return await read();
    } catch (error) {
      const problem = this.#api.problemOf(error);
      if (problem === undefined) throw error;
      const { status, code, requiredScope: scope } = problem;
      if (![403, 404].includes(status) && code !== "event_damaged") throw error;
      if (isNoted && status === 403 && typeof scope === "string") this.#missing.add(scope);
      return undefined;
    }
  }

  /** Returns those of some objects that can be read. */
  async #several<Item>(kind: IdKind, ids: readonly string[]): Promise<Item[]> {
    const found = await Promise.all(ids.map((id) => this.#optional<Item>(kind, id)));
    return found.filter((item) => item !== undefined);
  }

  /** Returns the IDs of the events that a request caused or sent again. */
  async #eventsOf({ path, status, events }: RequestLogDetail): Promise<readonly string[]> {
    const [, kind, id, verb] = /^\/v1\/(\w+)\/(\w+)\/(\w+)$/.exec(path) ?? [];
    if (status >= 400 || events.length > 0) return events;
    if (kind === "events" && verb === "replay") return [id!];
    if (kind !== "deliveries" || verb !== "retry") return [];
    const delivery = await this.#optional<Delivery>("delivery", id);
    return delivery === undefined ? [] : [delivery.event];
  }

  async #about(id: string, type?: EventType, limit = OTHER_EVENTS): Promise<Event[]> {
    const query = { related: id, ...(type && { type }) };
    const listed = await this.#allowed(() => this.#list<ListedEvent>("/v1/events", query, limit));
    return (listed?.data ?? []).filter((event) => event.data !== null);
  }

  async #listDeliveries(query: Record<string, string>, limit: number): Promise<Delivery[]> {
    return (await this.#allowed(() => this.#list<Delivery>("/v1/deliveries", query, limit)))?.data ?? [];
  }

  /** Returns deliveries with their attempts. */
  #whole(listed: readonly Delivery[]): Promise<Delivery[]> {
    return this.#several(
      "delivery",
      listed.map(({ id }) => id),
    );
  }

  async #endpoints(deliveries: readonly Delivery[]) {
    const ids = [...new Set(deliveries.map(({ endpoint }) => endpoint))].filter((id) => id !== null);
    const read = async (id: string) => [id, await this.#optional<WebhookEndpoint>("webhook_endpoint", id)] as const;
    return new Map(await Promise.all(ids.map(read)));
  }

  async #changes(ids: readonly string[], clock: TestClock | undefined) {
    const endpoints = `${pathOf("webhook_endpoint")}/`;
    const read = async (id: string) => [id, await this.#requestsTo(endpoints + id, "PATCH")] as const;
    const changes = await Promise.all(ids.slice(0, MAX_DELIVERIES).map(read));
    const isShifted = clock !== undefined && changes.some(([, requests]) => requests.length > 0);
    const advances = isShifted ? await this.#requestsTo(`${pathOf("test_clock")}/advance`, "POST") : [];
    const disabling = changes.flatMap(([, requests]) => requests.find(isDisabling) ?? []);
    const keyIds = new Set(disabling.flatMap(({ key }) => key ?? []));
    const keys = await Promise.all(
      [...keyIds].map((key) => this.#optional<ApiKey>("api_key", key, { isNoted: false })),
    );
    const users = disabling.some(({ user }) => user !== null)
      ? await this.#allowed(() => this.#get<{ data: User[] }>("/v1/users"), { isNoted: false })
      : undefined;
    const context = { keys, users: users?.data ?? [], advances, offset: clock?.offset_seconds ?? 0 };
    return new Map(changes.map(([id, requests]) => [id, changesIn(requests, context)]));
  }

  /** Returns the newest successful requests, newest first. */
  async #requestsTo(path: string, method: string): Promise<RequestLogDetail[]> {
    const listed = await this.#allowed(() => this.#requests({ path, method }, MAX_CHANGES));
    return this.#several(
      "request",
      (listed?.data ?? []).map(({ id }) => id),
    );
  }

  async #allEndpoints() {
    const listed = await this.#allowed(() => this.#list<WebhookEndpoint>("/v1/webhook_endpoints", {}, MAX_LISTED));
    return new Map(listed?.data.map((endpoint) => [endpoint.id, endpoint]));
  }

  #statistics(query: { endpoint?: string | null | undefined; event?: string | undefined }) {
    const given = Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    const parameters = new URLSearchParams(given).toString();
    return this.#allowed(() => this.#get<Statistics>(`${pathOf("statistics")}?${parameters}`));
  }

  #clock(): Promise<TestClock | undefined> {
    return this.#allowed(() => this.#get(pathOf("test_clock")));
  }

  #list<Item>(path: string, query: Record<string, string>, limit: number) {
    const parameters = new URLSearchParams({ ...query, limit: String(limit) });
    return this.#get<{ data: Item[]; next_cursor: string | null }>(`${path}?${parameters.toString()}`);
  }
}

function pathOfKind(kind: IdKind): string {
  return kind === "request" ? pathOf("request_log") : pathOf(kind as ResourceKind);
}

function objectId(event: Event | undefined): string | undefined {
  const id = event?.data.object["id"];
  return typeof id === "string" ? id : undefined;
}
