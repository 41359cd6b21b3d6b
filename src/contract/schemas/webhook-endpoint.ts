import { type Static, Type } from "typebox";
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
  nullInExamples,
  objectOf,
  oneOf,
  parameters,
  secretShownOnce,
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

export const WebhookEndpointCreate = parameters("WebhookEndpointCreate", "Parameters of a new endpoint", {
  ...createSchemas("webhook_endpoint"),
});
export type WebhookEndpointCreate = Static<typeof WebhookEndpointCreate>;

export const WebhookEndpointUpdate = changes("WebhookEndpointUpdate", {
  ...updateSchemas("webhook_endpoint"),
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
