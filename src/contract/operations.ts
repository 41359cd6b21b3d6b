import type { TObject } from "typebox";
import type { ErrorCode } from "./errors.ts";
import {
  type Field,
  kindOfPath,
  nounOf,
  nounsOf,
  OBJECT_KINDS,
  type ObjectKind,
  pathOf,
  resourceOf,
  takenCodeOf,
  withArticle,
} from "./resources.ts";
import {
  DeletedSession,
  DeletedUser,
  Identity,
  OAuthGrantList,
  RevokedOAuthGrant,
  SessionList,
  User,
  UserInvite,
  UserList,
  VersionList,
} from "./schemas/account.ts";
import { ApiKey, ApiKeyCreate, ApiKeyList, ApiKeyUpdate } from "./schemas/api-key.ts";
import { BulkOperation, BulkOperationList, DeliveryBulkRetry, EventBulkReplay } from "./schemas/bulk-operation.ts";
import { DeletedFault, Fault, FaultCreate, FaultList } from "./schemas/fault.ts";
import { Delivery, DeliveryList, DeliveryListQuery } from "./schemas/delivery.ts";
import { Event, EventCreate, EventList, EventListQuery, EventReplay, Replay } from "./schemas/event.ts";
import { DeletedOAuthApp, OAuthApp, OAuthAppCreate, OAuthAppList, OAuthAppUpdate } from "./schemas/oauth-app.ts";
import { ListQuery } from "./schemas/fields.ts";
import { OBJECT_SCHEMAS } from "./schemas/objects.ts";
import { RequestLogDetail, RequestLogList, RequestLogListQuery } from "./schemas/request-log.ts";
import {
  Sandbox,
  SandboxReset,
  Snapshot,
  SnapshotCreate,
  SnapshotList,
  TestClock,
  TestClockAdvance,
} from "./schemas/sandbox.ts";
import { Statistics, StatisticsQuery } from "./schemas/statistics.ts";
import {
  DeletedWebhookEndpoint,
  EndpointPing,
  SecretRotate,
  WebhookEndpoint,
  WebhookEndpointCreate,
  WebhookEndpointList,
  WebhookEndpointUpdate,
} from "./schemas/webhook-endpoint.ts";
import type { Scope } from "./scopes.ts";

export interface Operation extends Entry {
  /** Unique, as in the OpenAPI document. */
  name: string;
  method: Method;
  /** The scope that the credential needs; null accepts any valid credential. */
  scope: Scope | null;
  /** `/v1/customers/{id}` */
  path: string;
  status: 200 | 201;
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** An operation as the table describes it. */
interface Entry {
  route: `${Method} /v1/${string}`;
  /** Its title, in a few words. */
  summary: string;
  /** What the title leaves out, in sentences. */
  details?: string;
  /** Optional members of the response that this operation's response has: secrets, for example. */
  shows?: readonly string[];
  /** Minimum role of the user, if only a signed-in user may call it, with neither key nor token. */
  session?: "member" | "owner";
  /** True if the operation exists in the sandbox only, although others of the resource do not. */
  sandboxOnly?: true;
  query?: TObject;
  body?: TObject;
  /** The body of the successful response, and its status (default: 201 if it adds to a list, else 200). */
  response: TObject;
  status?: 200 | 201;
  /** The meaning of a 202, if the response may come before the work is done. */
  accepted?: string;
  /** Error codes of this operation, in addition to those that all operations share. */
  errors?: readonly ErrorCode[];
  /** Whether the change can be undone (default: GET reads, DELETE removes, all others change). */
  effect?: "changes" | "removes";
  /** True if a repeated call has no further effect, as with any GET, PATCH and DELETE. */
  idempotent?: true;
  /** Present if it is a tool for MCP clients: its description, or true if the summary suffices. */
  tool?: true | string;
  /** Name of the tool, if it is not the operation's in snake_case. */
  toolName?: string;
  /** The example of the request's body, if the examples of its fields do not make one. */
  sends?: object;
  /** What the example of the response has after this operation, besides the values of the request. */
  returns?: object;
  /** The same for the response 202. */
  returnsAccepted?: object;
  /** The command for the samples of the API reference, if it cannot be derived; null if there is none. */
  command?: string | null;
}

/** Examples of a bulk operation's request, and of the clock after an advance. */
const BULK_FILTERS = { status: "failed", created_after: "2026-11-01T12:00:00Z" };
const STARTED = {
  status: "running",
  filters: { endpoint: null, type: null, missed: null, created_before: null, ...BULK_FILTERS },
  done: 0,
};
const ADVANCED = { now: "2026-11-01T13:00:00Z", offset_seconds: 3600, target: "2026-11-01T13:00:00Z" };

/**
 * Operations that differ from resource to resource. Routes, validation, the OpenAPI document, MCP tools and samples are
 * derived from them; the platform has a handler for each.
 */
const ENTRIES = {
  listEvents: {
    route: "GET /v1/events",
    summary: "List events",
    query: EventListQuery,
    response: EventList,
    tool: "List events, newest first. `type` takes wildcards such as order.*; `related` is the ID of an object.",
  },
  getEvent: {
    route: "GET /v1/events/{id}",
    summary: "Retrieve an event",
    response: Event,
    errors: ["event_damaged"],
    tool: "Retrieve an event: the exact JSON that was delivered.",
  },
  createEvent: {
    route: "POST /v1/events",
    summary: "Create a custom event",
    details:
      "Tests a receiver with data that no API call produces: nothing else is changed, so the object in `data` need not exist. The event has it as `data.object`.",
    sandboxOnly: true,
    body: EventCreate,
    response: Event,
    command: null,
  },
  replayEvent: {
    route: "POST /v1/events/{id}/replay",
    summary: "Replay an event",
    details:
      "Sends an event of the last 30 days again, with the same ID, to all subscribed endpoints and listeners, or to one endpoint. If there are none, `deliveries` is empty.",
    body: EventReplay,
    response: Replay,
    status: 201,
    errors: ["endpoint_disabled", "event_expired", "event_damaged"],
    tool: "Replay an event of the last 30 days to all subscribed endpoints, or to one of them.",
  },
  createWebhookEndpoint: {
    route: "POST /v1/webhook_endpoints",
    summary: "Create a webhook endpoint",
    details: "Only this response has the signing `secret`.",
    shows: ["secret"],
    body: WebhookEndpointCreate,
    response: WebhookEndpoint,
    errors: ["endpoint_limit"],
    tool: "Create a webhook endpoint: a URL that gets a signed POST for each event of its types. The result has the signing secret, which is not shown again.",
  },
  listWebhookEndpoints: {
    route: "GET /v1/webhook_endpoints",
    summary: "List webhook endpoints",
    query: ListQuery,
    response: WebhookEndpointList,
    tool: "List webhook endpoints, newest first, with their status.",
  },
  getWebhookEndpoint: {
    route: "GET /v1/webhook_endpoints/{id}",
    summary: "Retrieve a webhook endpoint",
    response: WebhookEndpoint,
    tool: true,
  },
  updateWebhookEndpoint: {
    route: "PATCH /v1/webhook_endpoints/{id}",
    summary: "Update a webhook endpoint",
    details: "`status` enables or disables it.",
    body: WebhookEndpointUpdate,
    sends: { url: "https://example.com/webhooks" },
    response: WebhookEndpoint,
    tool: "Update a webhook endpoint, or enable or disable it.",
  },
  deleteWebhookEndpoint: {
    route: "DELETE /v1/webhook_endpoints/{id}",
    summary: "Delete a webhook endpoint",
    details: "Its pending deliveries are canceled.",
    response: DeletedWebhookEndpoint,
    tool: "Delete a webhook endpoint and cancel its pending deliveries.",
  },
  rotateWebhookEndpointSecret: {
    route: "POST /v1/webhook_endpoints/{id}/rotate_secret",
    summary: "Rotate a signing secret",
    details: "Only this response has the new `secret`. Both secrets sign until the overlap ends.",
    shows: ["secret"],
    body: SecretRotate,
    response: WebhookEndpoint,
    returns: { previous_secret_until: "2026-11-02T12:00:00Z" },
    effect: "removes",
    tool: "Create a new signing secret for a webhook endpoint. Both secrets sign during the overlap.",
    toolName: "rotate_webhook_secret",
    command: "service endpoints rotate-secret {id} --overlap 1d",
  },
  pingWebhookEndpoint: {
    route: "POST /v1/webhook_endpoints/{id}/ping",
    summary: "Ping a webhook endpoint",
    details: "Sends a `webhook_endpoint.ping` event, or a sample of another type, to this endpoint only.",
    body: EndpointPing,
    response: Event,
    status: 201,
    errors: ["endpoint_disabled", "sandbox_only"],
    tool: "Send a test event to one webhook endpoint. Returns the event; its delivery shows the response.",
    command: "service endpoints ping {id}",
  },
  listDeliveries: {
    route: "GET /v1/deliveries",
    summary: "List deliveries",
    query: DeliveryListQuery,
    response: DeliveryList,
    tool: "List deliveries, newest first, by endpoint, event or status.",
  },
  getDelivery: {
    route: "GET /v1/deliveries/{id}",
    summary: "Retrieve a delivery",
    details: "Contains every attempt with its response.",
    shows: ["attempts"],
    response: Delivery,
    tool: "Retrieve a delivery with its attempts and their responses.",
  },
  retryDelivery: {
    route: "POST /v1/deliveries/{id}/retry",
    summary: "Retry a delivery",
    details:
      "Attempts a pending, failed or canceled delivery now. One to a listener is sent to the session that forwards to its target or, if there is none, to a newer session that has not had the event: then its `target` changes.",
    response: Delivery,
    returns: { status: "pending", last_status_code: 500, next_attempt: "2026-11-01T12:00:01Z" },
    errors: ["delivery_not_retryable", "endpoint_disabled", "endpoint_deleted", "event_expired", "event_damaged"],
    tool: "Retry a delivery now.",
  },
  cancelDelivery: {
    route: "POST /v1/deliveries/{id}/cancel",
    summary: "Cancel a delivery",
    details: "Only a pending delivery can be canceled.",
    response: Delivery,
    returns: { status: "canceled", last_status_code: 500 },
    errors: ["delivery_not_cancelable"],
    effect: "removes",
    idempotent: true,
    tool: "Cancel a pending delivery.",
  },
  retryDeliveries: {
    route: "POST /v1/deliveries/retry",
    summary: "Retry deliveries",
    details:
      "Retries all matching deliveries in the background: those to endpoints and, while a listener is connected, those to listeners. The response is the bulk operation, which shows the progress.",
    body: DeliveryBulkRetry,
    sends: BULK_FILTERS,
    response: BulkOperation,
    returns: STARTED,
    status: 201,
    command: "service deliveries retry --failed --since 2026-11-01T12:00:00Z",
  },
  replayEvents: {
    route: "POST /v1/events/replay",
    summary: "Replay events",
    details:
      "Replays all matching events in the background. The response is the bulk operation, which shows the progress.",
    body: EventBulkReplay,
    sends: BULK_FILTERS,
    response: BulkOperation,
    returns: { type: "events.replay", ...STARTED },
    status: 201,
    command: "service events replay --failed --since 2026-11-01T12:00:00Z",
  },
  listBulkOperations: {
    route: "GET /v1/bulk_operations",
    summary: "List bulk operations",
    query: ListQuery,
    response: BulkOperationList,
  },
  getBulkOperation: {
    route: "GET /v1/bulk_operations/{id}",
    summary: "Retrieve a bulk operation",
    details: "`done`, `failed` and `total` show its progress.",
    response: BulkOperation,
  },
  cancelBulkOperation: {
    route: "POST /v1/bulk_operations/{id}/cancel",
    summary: "Cancel a bulk operation",
    response: BulkOperation,
    returns: { status: "canceled", ended_at: "2026-11-01T12:00:00Z" },
  },
  getTestClock: {
    route: "GET /v1/test_clock",
    summary: "Retrieve the test clock",
    response: TestClock,
    tool: "Show the sandbox's time, its offset from real time, and the progress of an advance.",
    command: "service clock show",
  },
  advanceTestClock: {
    route: "POST /v1/test_clock/advance",
    summary: "Advance the test clock",
    details: "Attempts all deliveries that fall due, each at its own time.",
    body: TestClockAdvance,
    response: TestClock,
    returns: ADVANCED,
    returnsAccepted: {
      ...ADVANCED,
      now: "2026-11-01T12:30:00Z",
      offset_seconds: 1800,
      status: "advancing",
      remaining: 2,
    },
    accepted: "The advance is in progress: retrieve the clock until its `status` is no longer `advancing`.",
    errors: ["test_clock_advancing"],
    effect: "removes",
    tool: "Advance the sandbox's time and attempt the deliveries that fall due. While the status in the response is `advancing`, the advance is still in progress: call get_test_clock until it is not.",
    command: "service clock advance 1h",
  },
  cancelTestClock: {
    route: "POST /v1/test_clock/cancel",
    summary: "Cancel an advance",
    details: "Stops an advance before its target.",
    response: TestClock,
    returns: { ...ADVANCED, now: "2026-11-01T12:30:00Z", offset_seconds: 1800, status: "canceled" },
    idempotent: true,
    tool: "Stop an advance of the test clock before its target.",
    command: "service clock cancel",
  },
  resetSandbox: {
    route: "POST /v1/sandbox/reset",
    summary: "Reset the sandbox",
    details:
      "Starts it again, in real time: without objects, events, deliveries and logs. Keys, apps and, by default, endpoints with their secrets stay.",
    body: SandboxReset,
    response: Sandbox,
    effect: "removes",
    tool: "Start the sandbox again, in real time: without objects, events, deliveries and logs. Keys, apps and, by default, endpoints with their secrets stay.",
    command: "service sandbox reset",
  },
  listSnapshots: {
    route: "GET /v1/sandbox/snapshots",
    summary: "List snapshots",
    response: SnapshotList,
    tool: "List the snapshots of the sandbox, newest first.",
    command: "service sandbox list",
  },
  saveSnapshot: {
    route: "POST /v1/sandbox/snapshots",
    summary: "Save a snapshot",
    details:
      "Saves the objects, endpoints and time of the sandbox under a name. An earlier snapshot of the same name is replaced.",
    body: SnapshotCreate,
    response: Snapshot,
    errors: ["snapshot_limit"],
    idempotent: true,
    tool: "Save the objects, endpoints and time of the sandbox under a name. A snapshot of the same name is replaced.",
    command: "service sandbox save two-customers",
  },
  restoreSnapshot: {
    route: "POST /v1/sandbox/snapshots/{id}/restore",
    summary: "Restore a snapshot",
    details: "Objects and endpoints have the same IDs and secrets as when it was saved.",
    response: Sandbox,
    returns: { snapshot: "two-customers" },
    effect: "removes",
    idempotent: true,
    tool: "Restore a snapshot of the sandbox, with the same IDs and secrets.",
    command: "service sandbox restore two-customers",
  },
  deleteSnapshot: {
    route: "DELETE /v1/sandbox/snapshots/{id}",
    summary: "Delete a snapshot",
    details: "The response is the deleted snapshot.",
    response: Snapshot,
    tool: true,
    command: "service sandbox delete two-customers",
  },
  createFault: {
    route: "POST /v1/faults",
    summary: "Add a fault",
    details: "Makes matching requests to the sandbox fail.",
    body: FaultCreate,
    response: Fault,
    errors: ["fault_limit"],
    tool: "Make requests to the sandbox fail, to test how a client handles it: error responses, delays, connections that are closed before or after a request takes effect. Requests of the dashboard, to /v1/faults and to /v1/sandbox never fail.",
    command: "service faults add 'POST /v1/orders*' --status 503 --times 5",
  },
  listFaults: {
    route: "GET /v1/faults",
    summary: "List faults",
    details: "They are in the order in which they are tried.",
    response: FaultList,
    tool: "List the faults of the sandbox, in the order in which they are tried.",
    command: "service faults list",
  },
  getFault: {
    route: "GET /v1/faults/{id}",
    summary: "Retrieve a fault",
    details: "`injected` counts the requests that got it.",
    response: Fault,
    tool: "Retrieve a fault, and how many requests got it.",
    command: null,
  },
  deleteFault: {
    route: "DELETE /v1/faults/{id}",
    summary: "Remove a fault",
    response: DeletedFault,
    tool: true,
    command: "service faults remove {id}",
  },
  deleteFaults: {
    route: "DELETE /v1/faults",
    summary: "Remove all faults",
    details: "The response lists the removed faults.",
    response: FaultList,
    tool: "Remove all faults of the sandbox, and return them.",
    command: "service faults clear",
  },
  createApiKey: {
    route: "POST /v1/api_keys",
    summary: "Create an API key",
    details: "Only this response has the `key` itself.",
    shows: ["key"],
    body: ApiKeyCreate,
    sends: { name: "reporting", scopes: ["customers:read"] },
    response: ApiKey,
    errors: ["insufficient_scope", "exceeds_creator"],
  },
  listApiKeys: {
    route: "GET /v1/api_keys",
    summary: "List API keys",
    query: ListQuery,
    response: ApiKeyList,
  },
  getApiKey: {
    route: "GET /v1/api_keys/{id}",
    summary: "Retrieve an API key",
    response: ApiKey,
  },
  updateApiKey: {
    route: "PATCH /v1/api_keys/{id}",
    summary: "Update an API key",
    details: "Changes its name, scopes, address ranges or expiry.",
    body: ApiKeyUpdate,
    sends: { name: "reporting" },
    response: ApiKey,
    errors: ["insufficient_scope", "exceeds_creator", "key_not_usable"],
  },
  revokeApiKey: {
    route: "POST /v1/api_keys/{id}/revoke",
    summary: "Revoke an API key",
    response: ApiKey,
    returns: { revoked_at: "2026-11-01T12:00:00Z", revoked_reason: "revoked" },
    effect: "removes",
  },
  rollApiKey: {
    route: "POST /v1/api_keys/{id}/roll",
    summary: "Rotate an API key",
    details:
      "Creates a key with the same permissions, which only this response shows, and revokes the old one immediately.",
    shows: ["key"],
    response: ApiKey,
    status: 201,
    errors: ["insufficient_scope", "exceeds_creator", "key_not_usable"],
    effect: "removes",
    command: "service keys rotate {id}",
  },
  createOAuthApp: {
    route: "POST /v1/oauth_apps",
    summary: "Register an OAuth app",
    details: "Only this response has the `client_secret`.",
    shows: ["client_secret"],
    body: OAuthAppCreate,
    response: OAuthApp,
    command: "service apps create --name Reports --redirect-uri https://app.example.com/callback",
  },
  listOAuthApps: {
    route: "GET /v1/oauth_apps",
    summary: "List OAuth apps",
    query: ListQuery,
    response: OAuthAppList,
  },
  getOAuthApp: {
    route: "GET /v1/oauth_apps/{id}",
    summary: "Retrieve an OAuth app",
    response: OAuthApp,
  },
  updateOAuthApp: {
    route: "PATCH /v1/oauth_apps/{id}",
    summary: "Update an OAuth app",
    body: OAuthAppUpdate,
    response: OAuthApp,
  },
  deleteOAuthApp: {
    route: "DELETE /v1/oauth_apps/{id}",
    summary: "Delete an OAuth app",
    details: "The access of its users is revoked.",
    response: DeletedOAuthApp,
  },
  rotateOAuthAppSecret: {
    route: "POST /v1/oauth_apps/{id}/rotate_secret",
    summary: "Rotate a client secret",
    details: "Only this response has the new `client_secret`. The old one stops working immediately.",
    shows: ["client_secret"],
    response: OAuthApp,
    errors: ["app_is_public"],
    effect: "removes",
  },
  listRequestLogs: {
    route: "GET /v1/request_logs",
    summary: "List API requests",
    details: "They are retained for 7 days.",
    query: RequestLogListQuery,
    response: RequestLogList,
    tool: "List the API requests of the last 7 days, newest first, by method, path, status or key.",
    command: "service logs list",
  },
  getRequestLog: {
    route: "GET /v1/request_logs/{id}",
    summary: "Retrieve an API request",
    details: "Contains headers and bodies, without secrets, and the events that it caused.",
    returns: { events: [] },
    response: RequestLogDetail,
    tool: "Retrieve an API request with its headers, bodies and the events it caused.",
    command: "service logs get {id}",
  },
  getIdentity: {
    route: "GET /v1/me",
    summary: "Retrieve the owner of the credential",
    details: "`service whoami --json` also prints `cli`: the profile, the URL and the source of the credential.",
    response: Identity,
    command: "service whoami",
  },
  listVersions: {
    route: "GET /v1/versions",
    summary: "List the supported versions",
    response: VersionList,
  },
  getStatistics: {
    route: "GET /v1/statistics",
    summary: "Retrieve statistics",
    details: "Counts events, attempts, latencies and failures by minute.",
    query: StatisticsQuery,
    response: Statistics,
  },
  listUsers: {
    route: "GET /v1/users",
    summary: "List the users of the account",
    details: "All are on one page.",
    session: "member",
    response: UserList,
  },
  inviteUser: {
    route: "POST /v1/users",
    summary: "Invite a user",
    details: "Only this response has the `invitation_url`.",
    shows: ["invitation_url"],
    session: "owner",
    body: UserInvite,
    response: User,
    returns: { role: "member", has_password: false, is_you: false, invitation_expires_at: "2026-11-04T12:00:00Z" },
    errors: ["email_taken"],
  },
  removeUser: {
    route: "DELETE /v1/users/{id}",
    summary: "Remove a user",
    details:
      "Revokes the sessions and grants of a member. The response lists the API keys that they created, which stay valid.",
    session: "owner",
    response: DeletedUser,
  },
  listSessions: {
    route: "GET /v1/sessions",
    summary: "List your browser sessions",
    details: "All are on one page.",
    session: "member",
    response: SessionList,
  },
  endSession: {
    route: "DELETE /v1/sessions/{id}",
    summary: "Revoke one of your browser sessions",
    session: "member",
    response: DeletedSession,
  },
  listOAuthGrants: {
    route: "GET /v1/oauth_grants",
    summary: "List OAuth grants",
    details: "The apps that you authorized, in both environments. All are on one page.",
    session: "member",
    response: OAuthGrantList,
  },
  revokeOAuthGrant: {
    route: "POST /v1/oauth_grants/{id}/revoke",
    summary: "Revoke an OAuth grant",
    details: "The app's tokens stop working immediately.",
    session: "member",
    response: RevokedOAuthGrant,
    effect: "removes",
  },
} as const satisfies Record<string, Entry>;

/** The operations whose handlers are written one by one, by name. */
export type Entries = typeof ENTRIES;

/** Every operation, in the order of the OpenAPI document. */
export const OPERATIONS: readonly Operation[] = [
  ...OBJECT_KINDS.flatMap((kind) => Object.entries(objectEntries(kind))),
  ...Object.entries<Entry>(ENTRIES),
].map(([name, entry]) => {
  const [method, path] = entry.route.split(" ") as [Method, string];
  const kind = kindOfPath(path);
  const { plural, scoped, scopedBy = scoped && plural, sandboxOnly } = resourceOf(kind);
  const scope = scopedBy === undefined ? null : (`${scopedBy}:${method === "GET" ? "read" : "write"}` as Scope);
  const status = method === "POST" && path === pathOf(kind) ? 201 : 200;
  return { name, method, path, scope, status, ...(sandboxOnly && { sandboxOnly }), ...entry };
});

/** Returns the operations of a resource that is described by its fields in the table of resources. */
function objectEntries(kind: ObjectKind): Record<string, Entry> {
  const { label, labels, events = [], statuses = {}, actions = {}, fields = {} } = resourceOf(kind);
  const schemas = OBJECT_SCHEMAS[kind];
  const path = pathOf(kind) as `/v1/${string}`;
  const one = withArticle(nounOf(kind));
  const unique = Object.entries<Field>(fields).filter(([, field]) => field.unique);
  const errors = unique.length > 0 && { errors: [...new Set(unique.map(([, field]) => takenCodeOf(field)))] };
  const described = (summary: string, change: string) => ({
    summary,
    tool: events.includes(change) ? `${summary}. Emits ${kind}.${change}.` : (true as const),
  });
  return {
    [`create${label}`]: {
      route: `POST ${path}`,
      ...described(`Create ${one}`, "created"),
      ...(kind === "payment" && {
        details:
          "The `order` may have any status, also `canceled`, and another amount or currency. A payment never changes its order.",
      }),
      ...(unique.length > 0 && {
        details: `A second one with the same ${unique.map(([name]) => `\`${name}\``).join(" or ")} returns 409.`,
      }),
      body: schemas.create,
      response: schemas.object,
      ...errors,
    },
    [`list${labels}`]: {
      route: `GET ${path}`,
      summary: `List ${nounsOf(kind)}`,
      query: schemas.query,
      response: schemas.list,
      tool: `List ${nounsOf(kind)}, newest first.`,
    },
    [`get${label}`]: {
      route: `GET ${path}/{id}`,
      summary: `Retrieve ${one}`,
      response: schemas.object,
      tool: true,
    },
    ...(schemas.update && {
      [`update${label}`]: {
        route: `PATCH ${path}/{id}`,
        ...described(`Update ${one}`, "updated"),
        details: "Omitted fields keep their values. Metadata is merged.",
        body: schemas.update,
        response: schemas.object,
        ...errors,
      },
    }),
    ...(schemas.deleted && {
      [`delete${label}`]: {
        route: `DELETE ${path}/{id}`,
        ...described(`Delete ${one}`, "deleted"),
        ...(kind === "customer" && { details: "The customer's orders are retained, with the ID." }),
        response: schemas.deleted,
      },
    }),
    ...Object.fromEntries(
      Object.entries(actions).map(([verb, { about, to }]): [string, Entry] => [
        verb + label,
        {
          route: `POST ${path}/{id}/${verb}`,
          ...described(about, to),
          ...(schemas.actions[verb] && { body: schemas.actions[verb] }),
          response: schemas.object,
          errors: ["invalid_transition"],
          effect: statuses[to] === "good" ? "changes" : "removes",
          idempotent: true,
        },
      ]),
    ),
  };
}
