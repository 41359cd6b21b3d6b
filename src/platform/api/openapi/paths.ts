import type { TSchema } from "typebox";
import type { EventType } from "../../../contract/event-types.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { type Operation, OPERATIONS } from "../../../contract/operations.ts";
import {
  kindOfPath,
  OBJECT_KINDS,
  pathOf,
  type ResourceKind,
  resourceOf,
  RESOURCES,
} from "../../../contract/resources.ts";
import { Event } from "../../../contract/schemas/event.ts";
import { oauthScopeName } from "../../../contract/scopes.ts";
import { exampleRequest, exampleResponse, sampleObject, statedExample } from "./examples.ts";
import { errorsOf, hasPages, headersOf } from "./responses.ts";
import type { Json, Schemas } from "./schemas.ts";

export const JSON_MEDIA_TYPE = "application/json";

/** Returns `paths` of the document: every operation of the table, in order. */
export function pathsOf(schemas: Schemas): Json {
  const paths: Record<string, Json> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] ??= {};
    paths[operation.path]![operation.method.toLowerCase()] = describe(operation, schemas);
  }
  return paths;
}

function describe(operation: Operation, schemas: Schemas): Json {
  const { name, summary, details, path, body, status, accepted } = operation;
  const example = responseExample(operation);
  return {
    operationId: name,
    summary,
    description: [...(details === undefined ? [] : [details]), needsOf(operation)].join("\n\n"),
    tags: [tagOf(path).name],
    security: securityOf(operation),
    parameters: parametersOf(operation, schemas),
    ...(body === undefined ? {} : { requestBody: requestBody(operation, body, schemas) }),
    responses: {
      [status]: response(operation, schemas, example),
      ...(accepted === undefined
        ? {}
        : {
            202: {
              ...response(operation, schemas, { ...example, ...operation.returnsAccepted }),
              description: accepted,
            },
          }),
      ...errorsOf(operation, schemas),
    },
  };
}

function needsOf({ scope, session, sandboxOnly }: Operation): string {
  if (session !== undefined) {
    const who = session === "owner" ? "an owner of the account" : "a person";
    return `Requires ${who} who is signed in to the dashboard, not a key or token, so there is no sample.`;
  }
  const needs = scope === null ? "Accepts any valid credential." : `Requires the scope \`${scope}\`.`;
  return sandboxOnly === true ? `${needs} Works in the sandbox only.` : needs;
}

function securityOf({ scope, session }: Operation): Json[] {
  if (session !== undefined) return [{ session: [] }];
  return [{ apiKey: scope === null ? [] : [scope] }, { oauth: scope === null ? [] : [oauthScopeName(scope)] }];
}

function parametersOf({ method, path, query }: Operation, schemas: Schemas): Json[] {
  return [
    ...(path.includes("{id}") ? [idParameter(path, schemas)] : []),
    ...(query === undefined ? [] : queryParameters(query, schemas)),
    { $ref: "#/components/parameters/ServiceVersion" },
    ...(method === "POST" ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
}

interface ItemSchema {
  properties?: { id?: TSchema & { anyOf?: [TSchema, TSchema] }; name?: TSchema };
  anyOf?: ItemSchema[];
}

interface ListSchema {
  properties?: { data?: { items?: ItemSchema } };
}

/** The ID in a path is that of an item of the preceding list, or the name of one without an ID. */
function idParameter(path: string, schemas: Schemas): Json {
  const collection = path.slice(0, path.indexOf("/{id}"));
  const list = OPERATIONS.find(({ route }) => route === `GET ${collection}`);
  const listed: ListSchema | undefined = list?.response;
  const item = listed?.properties?.data?.items;
  const { id: itemId, name } = (item?.anyOf?.[0] ?? item)?.properties ?? {};
  // An item may have null instead of an ID; a path may not.
  const id = itemId?.anyOf?.[0] ?? itemId ?? name;
  const { description = "ID of the resource", ...schema } = id === undefined ? { type: "string" } : schemas.place(id);
  return {
    name: "id",
    in: "path",
    required: true,
    description,
    schema,
    ...(id === undefined ? {} : { example: exampleResponse(id) }),
  };
}

export function queryParameters(query: TSchema, schemas: Schemas): Json[] {
  const { properties, required = [] } = query as unknown as {
    properties: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = schemas.place(property);
    const example = statedExample(property);
    return {
      name,
      in: "query",
      ...(required.includes(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema,
      ...(example === undefined ? {} : { example }),
    };
  });
}

function requestBody(operation: Operation, body: TSchema, schemas: Schemas): Json {
  const { required = [] } = body as unknown as { required?: string[] };
  return {
    required: required.length > 0,
    content: { [JSON_MEDIA_TYPE]: { schema: schemas.place(body), example: bodyExample(operation, body) } },
  };
}

function bodyExample({ sends }: Operation, body: TSchema): unknown {
  return sends ?? exampleRequest(body);
}

function response(operation: Operation, schemas: Schemas, example: object): Json {
  const { method, query, response: schema, status } = operation;
  const { description = "Done" } = schema as { description?: string };
  return {
    description,
    headers: headersOf(
      ...(status === 201 ? (["Location"] as const) : []),
      ...(query !== undefined && hasPages(query) ? (["Link"] as const) : []),
      ...(method === "POST" ? (["IdempotentReplayed"] as const) : []),
    ),
    content: { [JSON_MEDIA_TYPE]: { schema: schemas.place(schema), example } },
  };
}

/** Returns an example of the response to the example of the request. */
function responseExample(operation: Operation): object {
  const { method, path, body, response: schema, shows, returns } = operation;
  const example = exampleResponse(schema, shows) as Record<string, unknown>;
  const action = resourceOf(kindOfPath(path)).actions?.[path.split("/").at(-1)!];
  const { properties = {} } = (body ?? {}) as { properties?: Record<string, TSchema> };
  const given = body === undefined ? {} : (bodyExample(operation, body) as Record<string, unknown>);
  const isCreated = method === "POST" && path === pathOf(kindOfPath(path));
  const sent = Object.keys(properties).flatMap((field) => {
    if (!Object.hasOwn(example, field)) return [];
    if (Object.hasOwn(given, field)) return [[field, given[field]]];
    return isCreated ? [[field, Array.isArray(example[field]) ? [] : null]] : [];
  });
  const merged = { ...example, ...Object.fromEntries(sent), ...(action && { status: action.to }), ...returns };
  if (schema !== Event || body === undefined) return merged;
  return { ...merged, data: { object: given["data"] ?? sampleObject(given["type"] as EventType) } };
}

interface Tag {
  name: string;
  description: string;
}

export const WEBHOOK_TAG: Tag = {
  name: "Webhooks",
  description: `Requests from the platform to webhook endpoints: one signed POST per event.\n\nVerify the signature of each, store the event's ID, and respond with 2xx within ${LIMITS.deliverySeconds} seconds: [Receiving webhooks](/docs/guides/receiving-webhooks.html).`,
};

/** Returns the group of a path in the document: its resource. */
export function tagOf(path: string): Tag {
  const kind = kindOfPath(path);
  const { labels, about } = RESOURCES[kind];
  const guide = RESOURCE_GUIDES[kind];
  return { name: labels, description: guide === undefined ? about : `${about}\n\n${guide}` };
}

/** Groups of the resources that have no objects, the last of which has all others. */
const TAG_GROUPS: Readonly<Record<string, readonly ResourceKind[]>> = {
  "Events and webhooks": ["event", "webhook_endpoint", "delivery", "bulk_operation", "statistics"],
  "Webhook events": [],
  Testing: ["test_clock", "sandbox", "fault"],
  "Account and access": [],
};

interface TagGroup {
  name: string;
  tags: string[];
}

/** Returns the groups of the tags, as documentation tools know them (`x-tagGroups`). */
export function tagGroupsOf(paths: readonly string[]): TagGroup[] {
  const kinds = [...new Set(paths.map(kindOfPath))];
  const grouped = new Set<ResourceKind>([...OBJECT_KINDS, ...Object.values(TAG_GROUPS).flat()]);
  const groups = Object.entries({ Objects: OBJECT_KINDS, ...TAG_GROUPS }).map(([name, members]) => ({
    name,
    tags: kinds.filter((kind) => members.includes(kind as never)).map((kind) => RESOURCES[kind].labels as string),
  }));
  groups.find(({ name }) => name === "Webhook events")!.tags.push(WEBHOOK_TAG.name);
  const others = kinds.filter((kind) => !grouped.has(kind)).map((kind) => RESOURCES[kind].labels);
  groups.at(-1)!.tags.push(...others);
  return groups;
}

/** Returns the tags of all paths, in the order of their groups. */
export function tagsOf(paths: readonly string[]): Json[] {
  const tags = new Map([...paths.map(tagOf), WEBHOOK_TAG].map((tag) => [tag.name, tag]));
  return tagGroupsOf(paths).flatMap((group) => group.tags.map((name) => ({ ...tags.get(name)! })));
}

/** When to use a resource, for the API reference; not needed for a new one. Apart from the table of resources, which every command loads. */
const RESOURCE_GUIDES: Readonly<Partial<Record<ResourceKind, string>>> = {
  customer:
    "Create a customer once for each person or company, and keep its ID with your own user. Orders may refer to it. The email address is unique, so a repeated sign-up gets `email_taken` with the ID of the existing customer.",
  order:
    "Create an order when a customer checks out. Complete it once it is paid or shipped, or cancel it: both are final, and your application learns of either through `order.completed` or `order.canceled`. An order need not have a customer.",
  payment:
    "Create a payment when you collect money for an order. No money moves: your test decides the outcome with `succeed` or `fail`, and receives the event that a real provider would send.",
  event:
    "Each change of an object creates one event, with the object as it was then. Endpoints and `service listen` get events as they happen. List them to find out what happened or what you missed, follow them without webhooks as a stream, and replay one after a bug is fixed.",
  webhook_endpoint:
    "Create an endpoint for a receiver with a public https URL. During development, `service listen` forwards events to localhost without one. Store the `secret` in the receiver, which verifies each delivery with it.",
  delivery:
    "Look here if your receiver did not get an event, or got it twice: a delivery shows each attempt with the response. Failed attempts are retried for 3 days; `retry` does not wait.",
  bulk_operation:
    "The result of `POST /v1/deliveries/retry` or `POST /v1/events/replay`: retrieve it to see the progress, or cancel the rest. Both accept `dry_run`, which only counts.",
  api_key:
    "Create one restricted key for each service, with the scopes that it needs and an expiry. To replace a key without a change of permissions, rotate it.",
  oauth_app:
    "Register an app if users of this platform sign in to it, or let it act for them. For your own server, use an API key.",
  test_clock:
    "Advance the clock to see in seconds what takes days: retries, expired keys, a disabled endpoint that recovers.",
  sandbox: "Reset the sandbox before a test, or restore a snapshot, so that each test starts from the same state.",
  fault:
    "Add a fault to see how your client handles error responses, slow responses and lost connections, and whether its retries are safe.",
  request_log: "Look here to see what your application sent, what it got back, and which events the request caused.",
  leak_report: "Only code-hosting partners use it. Credentials that they find in public places are revoked.",
  statistics:
    "The numbers of the dashboard's overview: traffic, latencies, failures by reason, and the state of the queue.",
  user: "Invite those who work in the dashboard. Programs use API keys instead.",
  session: "See where you are signed in to the dashboard, and sign out elsewhere.",
  oauth_grant: "See which apps may act for you, and revoke their access.",
  identity: "Check at startup that a credential is valid, and which environment and scopes it has.",
  version: "See which dates the header `Service-Version` accepts, and which one your account is pinned to.",
};
