import { type EventType, matchesSubscriptions } from "../../contract/event-types.ts";
import { type IdKind, idsOf, kindOfId } from "../../contract/ids.ts";
import { type Operation, OPERATIONS } from "../../contract/operations.ts";
import { type Field, OBJECT_KINDS, type ObjectKind, resourceOf } from "../../contract/resources.ts";
import type { Identity, OAuthGrant, Session } from "../../contract/schemas/account.ts";
import type { Delivery, DeliveryListQuery } from "../../contract/schemas/delivery.ts";
import type { ListenerConnection, ListenerResult } from "../../contract/schemas/statistics.ts";
import type { TestClock } from "../../contract/schemas/sandbox.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import * as keys from "../domain/api-keys.ts";
import { assertId, missing, type Reads } from "../domain/api-error.ts";
import * as bulk from "../domain/bulk-operations.ts";
import * as deliveries from "../domain/deliveries.ts";
import * as events from "../domain/events.ts";
import * as faults from "../domain/faults.ts";
import * as apps from "../domain/oauth-apps.ts";
import * as objects from "../domain/objects.ts";
import type { BulkFilters, BulkType } from "../../contract/schemas/bulk-operation.ts";
import type { RequestContext, Tenant } from "../domain/request-context.ts";
import { getRequestLog, pageOfRequestLogs } from "../domain/request-logs.ts";
import { RULES } from "../domain/rules/index.ts";
import * as sandbox from "../domain/sandbox.ts";
import { cancelAdvance, showClock } from "../domain/test-clock.ts";
import { type InviteTools, inviteUser, listUsers, removeUser } from "../domain/users.ts";
import * as endpoints from "../domain/webhook-endpoints.ts";
import { type Call, RawJson } from "../http/call.ts";
import { type Listed, type ListQuery, sendList } from "../http/pagination.ts";
import { candidateMatcherOf, narrowed } from "../http/search.ts";
import { readStatistics } from "../observability/statistics.ts";
import type { Vault } from "../security/vault.ts";
import type { Queries, Transaction } from "../storage/database.ts";
import type { OpenedEvent } from "../storage/events.ts";
import type { PageRequest } from "../storage/page.ts";
import { liveGrantsOfUser, revokeGrantOfUser } from "../storage/oauth-grants.ts";
import { deleteSessionOfUser, sessionsOfUser } from "../storage/sessions.ts";
import type { With } from "../tools.ts";
import { sampleObject } from "./openapi/examples.ts";
import type { AnyHandler, Handlers, Write } from "./run.ts";

export interface OperationTools extends InviteTools, endpoints.EndpointTools, With<"time" | "versions" | "requests"> {
  clockAdvancer: ClockAdvancer;
  requestSeconds: number;
  listeners: Listeners;
}

/** Advances test clocks, and attempts deliveries that become due. */
export interface ClockAdvancer {
  /** Starts an advance; `endsAt` is the environment's time. */
  begin(tx: Transaction, environment: number, seconds: number): Promise<{ number: number; endsAt: number }>;
  /** Returns the progress of an advance once it is over, or after this time. */
  follow(environment: number, number: number, milliseconds: number): Promise<TestClock>;
}

/** What is known of the connections of `service listen`. */
export interface Listeners {
  /** Returns the open ones in an environment. */
  sessionsIn: deliveries.Sessions;
  /** Returns the last ones that forwarded in an environment, at this process. */
  endedIn(tenant: Tenant): ListenerConnection[];
  /** Returns what listeners did with an event that they left without a delivery. `now` is the environment's time. */
  resultsOf(environment: number, eventId: string | undefined, now: number): ListenerResult[];
}

/** How long a request waits for its advance before the response reports the progress. */
const SHORT_SECONDS = 5;
const PING: EventType = "webhook_endpoint.ping";
/** Filters that an ID in a search stands for. */
const EVENT_REFERENCES = Object.fromEntries(events.RELATABLE.map((kind) => [kind, "related" as const]));
const DELIVERY_REFERENCES = { event: "event", webhook_endpoint: "endpoint" } as const;

export function handlersOf(tools: OperationTools): Readonly<Record<string, AnyHandler>> {
  const all = OBJECT_KINDS.map((kind) => objectHandlers(kind, tools.vault));
  return Object.assign({}, customHandlers(tools), ...all) as Record<string, AnyHandler>;
}

/** Returns the handlers of the operations that are described one by one. */
function customHandlers(tools: OperationTools): Handlers {
  const { vault, clock, versions, requests, listeners, clockAdvancer } = tools;
  const isListened = async ({ tx, tenant }: RequestContext) => (await listeners.sessionsIn(tx, tenant)).length > 0;
  const bulkHandler =
    (type: BulkType): Write<{ body: BulkFilters }> =>
    async ({ body }, context) =>
      bulk.createBulkOperation(context, type, body, await isListened(context));
  const listOf =
    (kind: IdKind, { page }: Reads<Listed>) =>
    (call: Call<unknown, ListQuery>, queries: Queries) =>
      sendList(vault, kind, call, (part) => page(queries, call.caller.tenant, part));
  const oneOf =
    ({ get }: Reads<object>) =>
    ({ caller, id }: Call, queries: Queries) =>
      get(queries, caller.tenant, id);
  const advanceMilliseconds = Math.min(SHORT_SECONDS, tools.requestSeconds / 2) * 1000;
  return {
    // Events are returned as the bytes that were delivered: nothing is parsed and serialized again.
    listEvents: async (call, queries) => {
      const query = narrowed(call.query, EVENT_REFERENCES);
      const named = await objects.findNamed(queries, call.caller.tenant, call.query.query);
      return sendList(vault, "event", call, (page) => events.pageOfEvents(queries, clock, page, query), {
        toJson: ({ body }: OpenedEvent) => body,
        open: (row) => events.openListed(queries, row),
        bytesOf: ({ body_bytes: bytes }) => bytes,
        positionOf: ({ seq }) => String(seq),
        topOf: () => String(Number.MAX_SAFE_INTEGER),
        textOf: ({ body }) => body,
        foundFirst: (page) => events.eventsAbout(queries, named.wholeIds, page, query),
        named: named.ids,
      });
    },
    getEvent: async ({ caller, id }, queries) => new RawJson((await events.getEvent(queries, caller.tenant, id)).body),
    createEvent: {
      isolation: "batched",
      write: async ({ body }, context) =>
        new RawJson((await events.emitByHand(context, body.type as EventType, body.data)).body),
    },
    replayEvent: async ({ id, body: { endpoint } }, context) => {
      const to = endpoint === undefined ? undefined : [endpoint];
      const { type, deliveries: created } = await deliveries.replayEvent(context, id, to);
      const sessions = await listeners.sessionsIn(context.tx, context.tenant);
      const { length } = sessions.filter(({ events: subscriptions }) => matchesSubscriptions(subscriptions, type));
      return { object: "replay", event: id, deliveries: created, listeners: length };
    },
    replayEvents: bulkHandler("events.replay"),

    createWebhookEndpoint: ({ body }, context) => endpoints.createEndpoint(context, body, tools),
    listWebhookEndpoints: listOf("webhook_endpoint", endpoints.webhookEndpoints),
    getWebhookEndpoint: oneOf(endpoints.webhookEndpoints),
    updateWebhookEndpoint: ({ id, body }, context) => endpoints.changeEndpoint(context, id, body, tools),
    deleteWebhookEndpoint: ({ id }, context) => endpoints.removeEndpoint(context, id),
    rotateWebhookEndpointSecret: ({ id, body }, context) => endpoints.rotateSecret(context, id, body, tools),
    pingWebhookEndpoint: async ({ id, body }, context) => {
      const type = (body.type ?? PING) as EventType;
      const sample = type === PING ? undefined : { type, object: sampleObject(type) };
      return new RawJson((await endpoints.pingEndpoint(context, id, sample)).body);
    },

    listDeliveries: async (call, queries) => {
      const { caller, query } = call;
      const receivers = query.query === undefined ? [] : await endpoints.allEndpoints(queries, caller.tenant);
      const byId = new Map(receivers.map((endpoint) => [endpoint.id, endpoint]));
      const filters = narrowed(query, DELIVERY_REFERENCES);
      const isSearch = query.query !== undefined && idsOf(query.query).length === 0;
      const named = await objects.findNamed(queries, caller.tenant, query.query);
      const isCandidate = candidateMatcherOf(query.query ?? "", named.ids);
      const pageOf = async (page: PageRequest): Promise<deliveries.SearchedDelivery[]> => {
        const found = await deliveries.pageOfDeliveries(queries, caller.tenant, page, filters);
        return isSearch ? deliveries.withObjects(queries, caller.tenant, found, isCandidate) : found;
      };
      return sendList(vault, "delivery", call, pageOf, {
        isMatch: matcherOf(query),
        valuesOf: (delivery) => {
          const { url, description } = byId.get(delivery.endpoint ?? "") ?? {};
          return { ...delivery, url, description };
        },
        foundFirst: (page) => deliveries.deliveriesOfNamed(queries, caller.tenant, page, filters, named),
        named: named.ids,
      });
    },
    getDelivery: ({ caller, id }, queries) => deliveries.getDelivery(queries, caller.tenant, id),
    retryDelivery: ({ id }, context) => deliveries.retryDelivery(context, id, listeners.sessionsIn),
    cancelDelivery: {
      isolation: "read committed",
      write: ({ id }, context) => deliveries.cancelPending(context, id),
    },
    retryDeliveries: bulkHandler("deliveries.retry"),

    listBulkOperations: listOf("bulk_operation", bulk.bulkOperations),
    getBulkOperation: oneOf(bulk.bulkOperations),
    cancelBulkOperation: ({ id }, context) => bulk.cancelBulkOperation(context, id),

    getTestClock: ({ caller }, queries) => showClock(queries, caller.tenant.environment, clock.now()),
    advanceTestClock: {
      begin: async ({ caller, body }, tx) => {
        const { number, endsAt } = await clockAdvancer.begin(tx, caller.tenant.environment, body.seconds);
        return { reference: number, createdAt: endsAt };
      },
      follow: async ({ caller }, number) => {
        const shown = await clockAdvancer.follow(caller.tenant.environment, number, advanceMilliseconds);
        return { isDone: shown.status !== "advancing", body: shown };
      },
    },
    cancelTestClock: {
      isolation: "read committed",
      write: ({ caller }, { tx }) => cancelAdvance(tx, caller.tenant.environment, clock.now),
    },

    resetSandbox: {
      isolation: "read committed",
      startsAgain: true,
      write: ({ caller, body }, { tx }) => sandbox.resetSandbox(tx, caller.tenant, body, clock.now()),
    },
    listSnapshots: async ({ caller }, queries) => ({
      object: "list",
      data: await sandbox.allSnapshots(queries, caller.tenant),
    }),
    saveSnapshot: {
      isolation: "serialized",
      prepare: async ({ caller, body: { name }, deadline }, database) => {
        const copy = { database, clock, assertTime: () => deadline.assertTime() };
        const copied = await sandbox.copySandbox(copy, caller.tenant, name);
        return (_call, { tx }) => sandbox.saveSnapshot(tx, caller.tenant, { name, ...copied, now: clock.now() });
      },
    },
    restoreSnapshot: {
      isolation: "read committed",
      startsAgain: true,
      prepare: async ({ caller, id: name, deadline }, database) => {
        const copy = { database, clock, assertTime: () => deadline.assertTime() };
        const copied = await sandbox.copySnapshot(copy, caller.tenant, name);
        return (_call, { tx }) => sandbox.restoreSnapshot(tx, caller.tenant, { name, ...copied, now: clock.now() });
      },
    },
    deleteSnapshot: ({ caller, id }, { tx }) => sandbox.deleteSnapshot(tx, caller.tenant, id, clock.now()),

    createFault: ({ body }, context) => faults.createFault(context, body),
    listFaults: ({ caller }, queries) => faults.allFaults(queries, caller.tenant),
    getFault: oneOf(faults.faults),
    deleteFault: ({ caller, id }, { tx }) => faults.removeFault(tx, caller.tenant, id),
    deleteFaults: ({ caller }, { tx }) => faults.removeFaults(tx, caller.tenant),

    createApiKey: ({ caller, body }, context) => keys.createApiKey(tools, context, caller, body),
    listApiKeys: listOf("api_key", keys.apiKeys),
    getApiKey: oneOf(keys.apiKeys),
    updateApiKey: ({ caller, id, body }, context) => keys.changeApiKey(context, caller, id, body),
    revokeApiKey: ({ id }, context) => keys.endApiKey(context, id),
    rollApiKey: ({ caller, id }, context) => keys.rollApiKey(tools, context, caller, id),

    // The CLI's own app belongs to no environment, so none of these operations finds it.
    createOAuthApp: ({ body }, context) => apps.createOAuthApp(tools, context, body),
    listOAuthApps: listOf("oauth_app", apps.oauthApps),
    getOAuthApp: oneOf(apps.oauthApps),
    updateOAuthApp: ({ id, body }, context) => apps.changeOAuthApp(context, id, body),
    deleteOAuthApp: ({ id }, context) => apps.removeOAuthApp(context, id),
    rotateOAuthAppSecret: ({ id }, context) => apps.rotateClientSecret(tools, context, id),

    listRequestLogs: async (call, queries) => {
      // A client that has received a response can find its request here.
      await requests.flush();
      const query = narrowed(call.query, { api_key: "key" });
      const { query: text = "" } = call.query;
      const digest = requests.digestOf(text.trim());
      return sendList(vault, "request", call, (page) => pageOfRequestLogs(queries, call.caller.tenant, page, query), {
        // Rows are small, and each read costs as much as many of them.
        batch: 500,
        // An Idempotency-Key is searched by its digest.
        valuesOf: (log) => (log.idempotency_key === digest ? [log, text] : log),
      });
    },
    getRequestLog: async ({ caller, id }, queries) => {
      await requests.flush();
      return getRequestLog(queries, caller.tenant, id, (request) => {
        const { scope = null, session } = operationOf(request) ?? {};
        if (session !== undefined && caller.credential.kind !== "session") return "session";
        return scope === null || caller.scopes.includes(scope) ? null : scope;
      });
    },

    getIdentity: async ({ caller: { tenant, user, credential, scopes } }): Promise<Identity> => {
      const { account, name: environment, livemode } = tenant;
      const { id, name } = account;
      return {
        object: "identity",
        account: { id, name },
        user,
        environment,
        livemode,
        credential,
        scopes: [...scopes],
      };
    },
    listVersions: async ({ caller }) => {
      const { dates, latest } = versions;
      return { object: "list", data: dates, latest, pinned: caller.tenant.account.version };
    },
    getStatistics: async ({ caller, query }, queries) => {
      const { environment } = caller.tenant;
      const { now } = await tools.time.read(queries, caller.tenant);
      const open = await listeners.sessionsIn(queries, caller.tenant);
      return {
        ...(await readStatistics(queries, environment, now, query)),
        listeners: open.length,
        listener_connections: [...open, ...listeners.endedIn(caller.tenant)],
        listener_results: listeners.resultsOf(environment, query.event, now),
      };
    },

    // Only users who are signed in may call the rest.
    listUsers: async ({ caller }, queries) =>
      wholeList(await listUsers(queries, caller.tenant, caller.user!.id, clock.now())),
    inviteUser: ({ caller, body }, { tx }) => inviteUser(tx, tools, caller.tenant.account.id, body.email),
    removeUser: ({ caller, id }, { tx }) => removeUser(tx, caller.tenant.account.id, id, clock.now()),
    listSessions: async ({ caller }, queries) => {
      const rows = await sessionsOfUser(queries, caller.user!.id, clock.now());
      const data = rows.map(({ id, user_agent, client_address, ...row }): Session => ({
        id,
        object: "session",
        user_agent,
        by_link: row.by_link === 1,
        is_current: id === caller.credential.id,
        client_address,
        last_used: row.last_used === null ? null : formatTimestamp(row.last_used),
        created: formatTimestamp(row.created),
        expires_at: formatTimestamp(row.expires_at),
      }));
      return wholeList(data);
    },
    endSession: async ({ caller, id }, { tx }) => {
      assertId("session", id);
      if (!(await deleteSessionOfUser(tx, caller.user!.id, id))) missing("session", id);
      return { id, object: "session", deleted: true };
    },
    listOAuthGrants: async ({ caller }, queries) => {
      const rows = await liveGrantsOfUser(queries, caller.user!.id, clock.now());
      const data = rows.map((row): OAuthGrant => ({
        id: row.id,
        object: "oauth_grant",
        app_name: row.app_name,
        environment: row.environment_name,
        scopes: JSON.parse(row.scopes) as string[],
        last_token_at: formatTimestamp(row.last_token_at),
        created: formatTimestamp(row.created),
      }));
      return wholeList(data);
    },
    revokeOAuthGrant: async ({ caller, id }, { tx }) => {
      assertId("oauth_grant", id);
      if (!(await revokeGrantOfUser(tx, caller.user!.id, id, clock.now()))) missing("oauth_grant", id);
      return { id, object: "oauth_grant", revoked: true };
    },
  };
}

/** Returns whether a delivery matches what no index has: its receiver, that it is being retried, and its last response. */
function matcherOf({ receiver, status, code }: DeliveryListQuery): ((delivery: Delivery) => boolean) | undefined {
  const isOfAttempts = status === "retrying" || code !== undefined;
  if (receiver === undefined && !isOfAttempts) return undefined;
  return ({ endpoint, attempt_count: attempts, last_status_code: last }) => {
    if (receiver !== undefined && (receiver === "listener") !== (endpoint === null)) return false;
    if (isOfAttempts && attempts === 0) return false;
    if (code === undefined || code === "none") return code === undefined || last === null;
    return code.endsWith("xx") ? Math.trunc((last ?? 0) / 100) === Number(code[0]) : last === Number(code);
  };
}

/** Returns the operation that a request with a path, with an ID or `{id}` in it, called. */
function operationOf({ method, path }: { method: string; path: string }): Operation | undefined {
  const template = path
    .split("/")
    .map((part) => (kindOfId(part) === undefined ? part : "{id}"))
    .join("/");
  const route = `${method === "HEAD" ? "GET" : method} ${template}`;
  return OPERATIONS.find((operation) => operation.route === route);
}

/** Returns a list that is short enough for one page. */
function wholeList(data: readonly object[]) {
  return { object: "list", data, has_more: false, next_cursor: null };
}

type Input = Record<string, unknown>;

/** Returns the handlers of a resource that the table of resources describes by its fields. */
function objectHandlers(kind: ObjectKind, vault: Vault): Record<string, AnyHandler> {
  const { label, labels, actions = {}, fields = {} } = resourceOf(kind);
  const referring = Object.entries<Field>(fields).filter(([, { of, filter }]) => filter && of !== undefined);
  const references = Object.fromEntries(referring.map(([field, { of }]) => [of!, field]));
  const act =
    (verb: string): Write<Call> =>
    ({ id, body }, context) =>
      objects.actOnObject(context, kind, { id, verb, input: body as Input });
  const create: Write<Call> = ({ body }, context) => objects.createObject(context, kind, body as Input);
  return {
    // A rule may depend on what concurrent requests add.
    [`create${label}`]: kind in RULES ? create : { isolation: "batched", write: create },
    [`list${labels}`]: async (call: Call, queries: Queries) => {
      const query = call.query as Input & { query?: string };
      const { tenant } = call.caller;
      const named = await objects.findNamed(queries, tenant, query.query);
      const filters = narrowed(query, references);
      const readPage = (page: PageRequest) => objects.pageOfObjects(queries, tenant, kind, { page, query: filters });
      return sendList(vault, kind, { ...call, query }, readPage, {
        foundFirst: async (page) => objects.namedObjects(named, tenant, kind, { page, query: filters }),
        named: named.ids,
      });
    },
    [`get${label}`]: ({ caller, id }: Call, queries: Queries) => objects.getObject(queries, caller.tenant, kind, id),
    [`update${label}`]: ({ id, body }: Call, context: RequestContext) =>
      objects.updateObjectFields(context, kind, id, body as Input),
    [`delete${label}`]: ({ id }: Call, context: RequestContext) => objects.removeObject(context, kind, id),
    ...Object.fromEntries(Object.keys(actions).map((verb) => [verb + label, act(verb)])),
  };
}
