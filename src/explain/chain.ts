import { type IdKind, kindOfId } from "../contract/ids.ts";
import { OBJECT_KINDS, pathOf, type ResourceKind } from "../contract/resources.ts";
import type { ApiKey } from "../contract/schemas/api-key.ts";
import type { BulkOperation } from "../contract/schemas/bulk-operation.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { Event, ListedEvent } from "../contract/schemas/event.ts";
import type { RequestLogDetail } from "../contract/schemas/request-log.ts";
import type { TestClock } from "../contract/schemas/test-clock.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";

/** Deliveries that are shown with their attempts, besides the requested one. */
const MAX_DELIVERIES = 20;
const OTHER_EVENTS = 10;

/** An object of the API whose fields the explanation need not know. */
interface SomeObject {
  id: string;
  object: string;
  status?: string;
}

/** Everything about one ID, from the API request to the last attempt. */
export interface Chain {
  id: string;
  kind: IdKind;
  request: RequestLogDetail | undefined;
  /** The API key of a request that lacked a scope. */
  key: ApiKey | undefined;
  subject: SomeObject | undefined;
  event: Event | undefined;
  /** Other events about the same object, newest first. */
  otherEvents: readonly Event[];
  /** The requested one, then the newest first, with attempts. */
  deliveries: readonly Delivery[];
  /** True if there are older ones. */
  hasMoreDeliveries: boolean;
  /** By ID; undefined for an endpoint that was deleted. */
  endpoints: ReadonlyMap<string, WebhookEndpoint | undefined>;
  operation: BulkOperation | undefined;
  /** Set while the sandbox's clock is ahead of real time. */
  clock: TestClock | undefined;
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
];

/** Returns the kind of an ID that can be explained. */
export function explainedKind(id: string): IdKind | undefined {
  return EXPLAINED.find((kind) => kind === kindOfId(id));
}

/** Access to the API: of the command, or in the browser. */
export interface ChainApi {
  /** Returns the JSON of a resource. Throws an error that `problemOf` can describe. */
  get(path: string): Promise<unknown>;
  /** Returns the status of an error response, and the scope that its request lacked; undefined for other errors. */
  problemOf(error: unknown): { status: number; requiredScope: unknown } | undefined;
}

/** Reads everything about an ID of this kind. Throws the error of `get` if it does not exist. */
export function readChain(api: ChainApi, id: string, kind: IdKind): Promise<Chain> {
  return new ChainReader(api, id, kind).read();
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
    // The requested object must exist. The rest may have been removed, or be outside the credential's scopes.
    const found = await this.#first<object>(kind, id);
    const request = kind === "request" ? (found as RequestLogDetail) : undefined;
    const operation = kind === "bulk_operation" ? (found as BulkOperation) : undefined;
    const requested = kind === "delivery" ? (found as Delivery) : undefined;
    const named = kind === "event" ? (found as Event) : undefined;
    let events: Event[] = [];
    let subject: SomeObject | undefined;
    if (named !== undefined) events = [named];
    else if (requested !== undefined) events = await this.#events([requested.event]);
    else if (request !== undefined) events = await this.#events(request.events);
    else if (operation === undefined) {
      subject = found as SomeObject;
      events = await this.#about(id);
    }
    const [event, ...otherEvents] = events;
    const [{ deliveries, hasMore }, causing, current, clock] = await Promise.all([
      this.#deliveries(kind === "webhook_endpoint" ? { endpoint: id } : event && { event: event.id }, requested),
      request ?? this.#optional<RequestLogDetail>("request", event?.request.id),
      subject ?? this.#optional<SomeObject>(objectKind(event), objectId(event)),
      this.#clock(),
    ]);
    const lacking = causing?.error_code === "insufficient_scope" ? causing.key : null;
    return {
      id,
      kind,
      request: causing,
      key: await this.#optional<ApiKey>("api_key", lacking),
      subject: current,
      event: kind === "webhook_endpoint" ? undefined : event,
      otherEvents: kind === "webhook_endpoint" ? [] : otherEvents,
      deliveries,
      hasMoreDeliveries: hasMore,
      endpoints: await this.#endpoints(
        deliveries,
        kind === "webhook_endpoint" ? (found as WebhookEndpoint) : undefined,
      ),
      operation,
      clock,
      missingScopes: [...this.#missing],
    };
  }

  async #first<Item>(kind: IdKind, id: string): Promise<Item> {
    return (await this.#api.get(`${pathOfKind(kind)}/${encodeURIComponent(id)}`)) as Item;
  }

  async #optional<Item>(kind: IdKind | undefined, id: string | null | undefined): Promise<Item | undefined> {
    if (kind === undefined || id === undefined || id === null) return undefined;
    return this.#allowed(() => this.#first<Item>(kind, id));
  }

  /** Returns undefined for objects that no longer exist, or that the credential may not read, which is noted. */
  async #allowed<Item>(read: () => Promise<Item>): Promise<Item | undefined> {
    try {
      return await read();
    } catch (error) {
      const problem = this.#api.problemOf(error);
      if (problem === undefined || ![403, 404].includes(problem.status)) throw error;
      const { status, requiredScope: scope } = problem;
      if (status === 403 && typeof scope === "string") this.#missing.add(scope);
      return undefined;
    }
  }

  async #events(ids: readonly string[]): Promise<Event[]> {
    const found = await Promise.all(ids.map((id) => this.#optional<Event>("event", id)));
    return found.filter((event) => event !== undefined);
  }

  async #about(id: string): Promise<Event[]> {
    const listed = await this.#allowed(() => this.#list<ListedEvent>("/v1/events", { related: id }, OTHER_EVENTS));
    return (listed?.data ?? []).filter((event) => event.data !== null);
  }

  /** Reads the newest deliveries, if there is something to list them by, after the requested one. */
  async #deliveries(query: Record<string, string> | undefined, requested: Delivery | undefined) {
    const listed = query && (await this.#allowed(() => this.#list<Delivery>("/v1/deliveries", query, MAX_DELIVERIES)));
    const others = (listed?.data ?? []).filter(({ id }) => id !== requested?.id);
    const whole = await Promise.all(others.map(({ id }) => this.#optional<Delivery>("delivery", id)));
    const deliveries = [requested, ...whole].filter((delivery) => delivery !== undefined);
    return { deliveries, hasMore: listed?.has_more ?? false };
  }

  async #endpoints(deliveries: readonly Delivery[], requested: WebhookEndpoint | undefined) {
    const ids = [...new Set(deliveries.map(({ endpoint }) => endpoint))].filter((id) => id !== null);
    const read = async (id: string) => {
      const endpoint = id === requested?.id ? requested : await this.#optional<WebhookEndpoint>("webhook_endpoint", id);
      return [id, endpoint] as const;
    };
    const entries = await Promise.all(ids.map(read));
    return new Map(requested === undefined ? entries : [[requested.id, requested], ...entries]);
  }

  async #clock(): Promise<TestClock | undefined> {
    const clock = await this.#allowed(async () => (await this.#api.get(pathOf("test_clock"))) as TestClock);
    return clock === undefined || clock.offset_seconds === 0 ? undefined : clock;
  }

  async #list<Item>(path: string, query: Record<string, string>, limit: number) {
    const parameters = new URLSearchParams({ ...query, limit: String(limit) });
    return (await this.#api.get(`${path}?${parameters.toString()}`)) as { data: Item[]; has_more: boolean };
  }
}

function pathOfKind(kind: IdKind): string {
  return kind === "request" ? pathOf("request_log") : pathOf(kind as ResourceKind);
}

function objectId(event: Event | undefined): string | undefined {
  const id = event?.data.object["id"];
  return typeof id === "string" ? id : undefined;
}

function objectKind(event: Event | undefined): IdKind | undefined {
  return kindOfId(objectId(event) ?? "");
}
