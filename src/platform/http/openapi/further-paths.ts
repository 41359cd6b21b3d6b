import { type Scope, oauthScopeName } from "../../../contract/scopes.ts";
import { EVENT_STREAM_PATH } from "../../../contract/listen.ts";
import { IDENTIFIER_HEADER, LEAK_REPORT_PATH, LeakFeedback, LeakReport } from "../../leaks/report-route.ts";
import { Event, EventStreamQuery, LAST_EVENT_ID } from "../../../contract/schemas/event.ts";
import { keywordsOfFormat } from "../formats.ts";
import { exampleResponse, exampleRequest } from "./examples.ts";
import { headersOf } from "./headers.ts";
import { JSON_MEDIA_TYPE, queryParameters } from "./paths.ts";
import { problemsOf, errorsOf } from "./responses.ts";
import type { Json, Schemas } from "./schemas.ts";
import { tagOf } from "./tags.ts";

/** Paths outside the table of operations, because they do not return a JSON object to a credential. */
export function furtherPathsOf(schemas: Schemas, baseUrl: string): Record<string, Json> {
  return {
    [EVENT_STREAM_PATH]: { get: eventStream(schemas, baseUrl) },
    [LEAK_REPORT_PATH]: { post: leakReport(schemas, baseUrl) },
  };
}

const STREAM_SCOPE: Scope = "events:read";
const STREAM_EXAMPLE = `retry: 1000
id: evt_06Fv3Tt0q1Yd8mWc5KxLrB
event: ready
data: {"cursor":"evt_06Fv3Tt0q1Yd8mWc5KxLrB"}

id: evt_06Fv3Tt0q1Yd8mWd2PnQsA
data: {"id":"evt_06Fv3Tt0q1Yd8mWd2PnQsA","object":"event","type":"order.completed",…}
`;

function eventStream(schemas: Schemas, baseUrl: string): Json {
  const rejecting = {
    method: "GET",
    path: EVENT_STREAM_PATH,
    scope: STREAM_SCOPE,
    errors: ["connection_limit"],
  } as const;
  return {
    operationId: "streamEvents",
    summary: "Follow events as they happen",
    description: [
      `Requires the scope \`${STREAM_SCOPE}\`. Server-sent events, in either environment, in the order of commits. Each event is a message of the default type; an event that is replayed is sent again under the ID of its replay.`,
      "`ready` comes first. `gap` says that events between two IDs are missing: they are older than 30 days, or a failover of the database lost them.",
      `A client that reconnects sends the last \`id\` as \`${LAST_EVENT_ID}\`, which an \`EventSource\` does by itself, and misses nothing. The stream ends when its credential is revoked or expires.`,
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
      ...errorsOf(rejecting, schemas, baseUrl),
    },
  };
}

function leakReport(schemas: Schemas, baseUrl: string): Json {
  return {
    operationId: "reportLeakedKeys",
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
        baseUrl,
      ),
    },
  };
}
