import { type Static, Type } from "typebox";
import { FIELD_TYPES } from "../field-types.ts";
import { LIMITS } from "../limits.ts";
import {
  changes,
  Created,
  createSchemas,
  deleted,
  formatted,
  group,
  idOf,
  listOf,
  Livemode,
  named,
  nullable,
  nullInExamples,
  objectOf,
  oneOf,
  parameters,
  secretShownOnce,
  several,
  timestamp,
  updateSchemas,
  valueSchemas,
} from "./fields.ts";

const { status, ...values } = valueSchemas("webhook_endpoint");

/** Only the responses to creation and rotation have `secret`. */
export const WebhookEndpoint = named("WebhookEndpoint", "A URL that events are delivered to", {
  id: idOf("webhook_endpoint"),
  object: objectOf("webhook_endpoint"),
  ...values,
  header_names: several(
    Type.String({ examples: ["X-Api-Key"] }),
    "Names of the headers that every attempt sends. Their values are not shown",
  ),
  status,
  disabled_reason: nullInExamples(
    oneOf(["user", "gone"], "Why it is disabled: `user` by a request, `gone` by a response with 410 Gone"),
  ),
  disabled_at: nullInExamples(timestamp("When it was disabled; null while it is enabled")),
  health: group(`An endpoint fails after ${LIMITS.failingAttempts} failed attempts in a row, or an hour of them`, {
    failing_since: nullInExamples(
      timestamp("First of the attempts that failed in a row; null while the endpoint is healthy"),
    ),
  }),
  livemode: Livemode,
  created: Created,
  secret_created: timestamp("When the signing secret was created"),
  previous_secret_until: nullInExamples(timestamp("End of the overlap while both secrets sign; null without one")),
  secret: Type.Optional(
    secretShownOnce("Signing secret of deliveries; shown at creation and rotation only", "whsec_…"),
  ),
});
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

const HeaderName = Type.String({ pattern: `^[\\s\\S]{1,${LIMITS.endpointHeaderNameLength}}$` });
/** An empty value stands for none. */
const HeaderValue = Type.String({
  ...FIELD_TYPES.header.schema,
  maxLength: FIELD_TYPES.header.limits.maxLength,
});
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

export const WebhookEndpointCreate = parameters("WebhookEndpointCreate", "Parameters of a new endpoint", {
  ...createSchemas("webhook_endpoint"),
  headers: Type.Optional(nullable(Headers)),
});
export type WebhookEndpointCreate = Static<typeof WebhookEndpointCreate>;

export const WebhookEndpointUpdate = changes("WebhookEndpointUpdate", {
  ...updateSchemas("webhook_endpoint"),
  headers: Type.Optional(nullable(HeaderChanges)),
  status: Type.Optional(status),
});
export type WebhookEndpointUpdate = Static<typeof WebhookEndpointUpdate>;

export const SecretRotate = parameters("SecretRotate", "Parameters of a secret rotation", {
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LIMITS.maxSecretOverlapSeconds,
      default: LIMITS.secretOverlapSecondsDefault,
      description: "How long the previous secret signs, too, in seconds",
    }),
  ),
});
export type SecretRotate = Static<typeof SecretRotate>;

export const EndpointPing = parameters("EndpointPing", "The event to send to the endpoint", {
  type: Type.Optional(
    formatted(
      "event-type",
      "Type of the event; any type except webhook_endpoint.ping contains a sample object (sandbox only)",
      { default: "webhook_endpoint.ping" },
    ),
  ),
});
export type EndpointPing = Static<typeof EndpointPing>;

export const WebhookEndpointList = listOf(WebhookEndpoint, "WebhookEndpointList");
export const DeletedWebhookEndpoint = deleted("webhook_endpoint", "DeletedWebhookEndpoint");
