import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import {
  closed,
  Created,
  deleted,
  idOf,
  listOf,
  Livemode,
  nullable,
  NULL_IN_EXAMPLES,
  objectOf,
  secretShownOnce,
  timestamp,
} from "./fields.ts";
import { createSchemas, updateSchemas, valueSchemas } from "./field-schemas.ts";

const { status, ...values } = valueSchemas("webhook_endpoint");

/** Only the responses to creation and rotation have `secret`. */
export const WebhookEndpoint = Type.Object(
  {
    id: idOf("webhook_endpoint"),
    object: objectOf("webhook_endpoint"),
    ...values,
    header_names: Type.Array(Type.String({ examples: ["X-Api-Key"] }), {
      description: "Names of the headers that every attempt sends. Their values are not shown",
    }),
    status,
    disabled_reason: nullable(
      Type.Enum(["user", "gone"], {
        description: "Why it is disabled: `user` by a request, `gone` by a response with 410 Gone",
      }),
      NULL_IN_EXAMPLES,
    ),
    disabled_at: nullable(timestamp("When it was disabled; null while it is enabled"), NULL_IN_EXAMPLES),
    health: Type.Object(
      {
        failing_since: nullable(
          Type.String({
            format: "timestamp",
            description: "First of the attempts that failed in a row; null while the endpoint is healthy",
          }),
          NULL_IN_EXAMPLES,
        ),
      },
      {
        description: `An endpoint fails after ${LIMITS.failingAttempts} failed attempts in a row, or an hour of them`,
      },
    ),
    livemode: Livemode,
    created: Created,
    secret_created: timestamp("When the signing secret was created"),
    previous_secret_until: nullable(
      timestamp("End of the overlap while both secrets sign; null without one"),
      NULL_IN_EXAMPLES,
    ),
    secret: Type.Optional(
      secretShownOnce("Signing secret of deliveries; shown at creation and rotation only", "whsec_…"),
    ),
  },
  { $id: "WebhookEndpoint", description: "A URL that events are delivered to" },
);
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

const HeaderName = Type.String({ pattern: `^[\\s\\S]{1,${LIMITS.endpointHeaderNameLength}}$` });
const HeaderValue = Type.String({ format: "header-value", maxLength: LIMITS.endpointHeaderValueLength });
const HEADERS = {
  maxProperties: LIMITS.endpointHeaders,
  additionalProperties: false,
  examples: [{ "X-Api-Key": "3f1d0c" }],
  "x-secret": true,
};
const Headers = Type.Record(HeaderName, HeaderValue, {
  ...HEADERS,
  description:
    "Sent with every attempt, up to 10. Not: Service-*, Content-*, Host, User-Agent, and headers of the connection",
});
const HeaderChanges = Type.Record(HeaderName, nullable(HeaderValue), {
  ...HEADERS,
  description: "Merged into the existing headers; null or an empty string removes a header, null for all removes them",
});

export const WebhookEndpointCreate = closed(
  { ...createSchemas("webhook_endpoint"), headers: Type.Optional(nullable(Headers)) },
  { $id: "WebhookEndpointCreate", description: "Parameters of a new endpoint" },
);
export type WebhookEndpointCreate = Static<typeof WebhookEndpointCreate>;

export const WebhookEndpointUpdate = closed(
  {
    ...updateSchemas("webhook_endpoint"),
    headers: Type.Optional(nullable(HeaderChanges)),
    status: Type.Optional(status),
  },
  { $id: "WebhookEndpointUpdate", description: "Fields to update; omitted fields do not change" },
);
export type WebhookEndpointUpdate = Static<typeof WebhookEndpointUpdate>;

export const SecretRotate = closed(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.maxSecretOverlapSeconds,
        default: LIMITS.secretOverlapSecondsDefault,
        description: "How long the previous secret signs, too, in seconds",
      }),
    ),
  },
  { $id: "SecretRotate", description: "Parameters of a secret rotation" },
);
export type SecretRotate = Static<typeof SecretRotate>;

export const EndpointPing = closed(
  {
    type: Type.Optional(
      Type.String({
        format: "event-type",
        default: "webhook_endpoint.ping",
        description: "Type of the event; any type except webhook_endpoint.ping contains a sample object (sandbox only)",
      }),
    ),
  },
  { $id: "EndpointPing", description: "The event to send to the endpoint" },
);
export type EndpointPing = Static<typeof EndpointPing>;

export const WebhookEndpointList = listOf(WebhookEndpoint, "WebhookEndpointList");
export const DeletedWebhookEndpoint = deleted("webhook_endpoint", "DeletedWebhookEndpoint");
