import { EVENT_TYPES, type EventType } from "../../../contract/event-types.ts";
import { DELIVERY_USER_AGENT, HEADERS } from "../../../contract/headers.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { EVENT_STREAM_PATH } from "../../../contract/listen.ts";
import type { KindWith } from "../../../contract/resources.ts";
import { Event, EventStreamQuery, LAST_EVENT_ID } from "../../../contract/schemas/event.ts";
import { EVENT_OBJECT_SCHEMAS } from "../../../contract/schemas/objects.ts";
import { oauthScopeName, type Scope } from "../../../contract/scopes.ts";
import { capitalized } from "../../../contract/words.ts";
import {
  IDENTIFIER_HEADER,
  LEAK_REPORT_NAME,
  LEAK_REPORT_PATH,
  LeakFeedback,
  LeakReport,
  SIGNATURE_HEADER,
} from "../leak-reports.ts";
import { keywordsOfFormat } from "../../http/formats.ts";
import { exampleRequest, exampleResponse, sampleObject } from "./examples.ts";
import { errorsOf, headersOf, problemsOf } from "./responses.ts";
import { JSON_MEDIA_TYPE, queryParameters, tagOf, WEBHOOK_TAG } from "./paths.ts";
import type { Json, Schemas } from "./schemas.ts";

/** Paths outside the table of operations, because they do not return a JSON object to a credential. */
export function furtherPathsOf(schemas: Schemas): Record<string, Json> {
  return {
    [EVENT_STREAM_PATH]: { get: eventStream(schemas) },
    [LEAK_REPORT_PATH]: { post: leakReport(schemas) },
  };
}

const STREAM_SCOPE: Scope = "events:read";

/** What the operation has in common with those of the table. */
export const STREAM = {
  name: "streamEvents",
  summary: "Follow events as they happen",
  method: "GET",
  path: EVENT_STREAM_PATH,
  scope: STREAM_SCOPE,
  query: EventStreamQuery,
  errors: ["connection_limit"],
} as const;

const STREAM_EXAMPLE = `retry: 1000
id: evt_4Vf8aTqz0bKm2sNw9XyRcd
event: ready
data: {"cursor":"evt_4Vf8aTqz0bKm2sNw9XyRcd"}

id: evt_4Vf8aTqz0bKm2sNwAZyRce
data: {"id":"evt_4Vf8aTqz0bKm2sNwAZyRce","object":"event","type":"order.completed",…}
`;

function eventStream(schemas: Schemas): Json {
  return {
    operationId: STREAM.name,
    summary: STREAM.summary,
    description: [
      `Requires the scope \`${STREAM_SCOPE}\`. Server-sent events, in either environment, in the order of commits. Each event is a message of the default type; an event that is replayed is sent again under the ID of its replay.`,
      "`ready` comes first. `gap` says that events between two IDs are missing: they are older than 30 days, or a failover of the database lost them.",
      `A client that reconnects sends the last \`id\` as \`${LAST_EVENT_ID}\`, which an \`EventSource\` does automatically, and misses nothing. The stream ends when its credential is revoked or expires.`,
    ].join("\n\n"),
    tags: [tagOf(EVENT_STREAM_PATH).name],
    security: [{ apiKey: [STREAM_SCOPE] }, { oauth: [oauthScopeName(STREAM_SCOPE)] }],
    parameters: [
      ...queryParameters(EventStreamQuery, schemas),
      {
        name: LAST_EVENT_ID,
        in: "header",
        required: false,
        description: "ID of the last message received; takes precedence over `after`",
        schema: { type: "string", ...keywordsOfFormat("event-id") },
        example: exampleResponse(Event.properties.id),
      },
    ],
    responses: {
      "200": {
        description: "Events, until either side ends the stream",
        headers: headersOf(),
        content: { "text/event-stream": { schema: { type: "string" }, example: STREAM_EXAMPLE } },
      },
      ...errorsOf(STREAM, schemas),
    },
  };
}

function leakReport(schemas: Schemas): Json {
  return {
    operationId: LEAK_REPORT_NAME,
    summary: "Report credentials that were found in public",
    description: "Real credentials are revoked before the response. Requires a signed report instead of a credential.",
    tags: [tagOf(LEAK_REPORT_PATH).name],
    security: [{ leakReport: [] }],
    parameters: [
      {
        name: IDENTIFIER_HEADER,
        in: "header",
        required: true,
        description: "The published key that the report is signed with",
        schema: { type: "string" },
        example: "90a421169f0a406205f1563a953312f0be898d3c7b6c06b681aa86a874555f4a",
      },
      {
        name: SIGNATURE_HEADER,
        in: "header",
        required: true,
        description: "ECDSA (P-256, SHA-256) over the raw body, in Base64",
        schema: { type: "string" },
        example: "MEUCIQDKZok…",
      },
    ],
    requestBody: {
      required: true,
      content: {
        [JSON_MEDIA_TYPE]: { schema: schemas.place(LeakReport), example: [exampleRequest(LeakReport.items)] },
      },
    },
    responses: {
      "200": {
        description: "The result for each token, in the report's order",
        headers: headersOf(),
        content: {
          [JSON_MEDIA_TYPE]: { schema: schemas.place(LeakFeedback), example: exampleResponse(LeakFeedback) },
        },
      },
      ...problemsOf(
        [
          "invalid_request",
          "invalid_json",
          "invalid_header",
          "invalid_signature",
          "request_timeout",
          "body_too_large",
          "uri_too_long",
          "unsupported_media_type",
          "headers_too_large",
          "internal_error",
          "unavailable",
        ],
        schemas,
      ),
    },
  };
}

/** Returns the `webhooks` of the document: the request to an endpoint for each event type. */
export function webhooksOf(schemas: Schemas): Json {
  return Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: delivery(type, schemas) }]));
}

export const DELIVERY_HEADERS: Json = {
  ServiceSignature: {
    name: HEADERS.signature,
    in: "header",
    required: true,
    description: `\`t\`, a Unix time, and \`v1\`, HMAC-SHA256 in hex over \`t\`, a dot and the raw body; two \`v1\` while a secret is being rotated. Reject a \`t\` more than ${LIMITS.signatureToleranceSeconds} seconds off.`,
    schema: { type: "string", pattern: "^t=\\d+(,v1=[0-9a-f]{64})+$" },
    example: `t=1793534400,v1=${"5f0c6a9e".repeat(8)}`,
  },
  ServiceEventId: {
    name: HEADERS.eventId,
    in: "header",
    required: true,
    description: "The event's ID: process it once",
    schema: { type: "string", pattern: "^evt_[0-9A-Za-z]{22}$" },
    example: "evt_4Vf8aTqz0bKm2sNw9XyRcd",
  },
  ServiceDeliveryAttempt: {
    name: HEADERS.deliveryAttempt,
    in: "header",
    required: true,
    description: "1 for the first attempt",
    schema: { type: "integer", minimum: 1 },
    example: 1,
  },
  Traceparent: {
    name: "traceparent",
    in: "header",
    description:
      "The trace of the request that caused the event, with an ID of its own for each attempt (W3C Trace Context); absent if that request had none",
    schema: { type: "string", pattern: "^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$" },
    example: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  },
};

function delivery(type: EventType, schemas: Schemas): Json {
  const [resource, change] = type.split(".") as [string, string];
  const object = schemas.place(EVENT_OBJECT_SCHEMAS[resource as KindWith<"events">]);
  const words = resource.replaceAll("_", " ");
  return {
    operationId: `on${pascalCase(resource)}${pascalCase(change)}`,
    summary: change === "ping" ? `A ${words} is pinged` : `${capitalized(words)} ${change}`,
    description: `Sent with the headers of the endpoint, and \`User-Agent: ${DELIVERY_USER_AGENT}\` unless it has another. Anything but 2xx within ${LIMITS.deliverySeconds} seconds is retried, for up to ${LIMITS.retryTotalSeconds / 86_400} days.`,
    tags: [WEBHOOK_TAG.name],
    security: [],
    parameters: Object.keys(DELIVERY_HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: {
        [JSON_MEDIA_TYPE]: {
          schema: {
            allOf: [
              schemas.place(Event),
              {
                type: "object",
                properties: { type: { const: type }, data: { type: "object", properties: { object } } },
              },
            ],
          },
          example: { ...(exampleResponse(Event) as Json), type, data: { object: sampleObject(type) } },
        },
      },
    },
    responses: {
      "2XX": { description: "Received: the event is durably stored and not sent again" },
      "410": { description: "Gone: the endpoint is disabled and gets nothing more" },
      default: { description: "Any other response, redirects included, is a failure: the delivery is retried" },
    },
  };
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
