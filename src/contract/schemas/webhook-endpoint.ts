import { type Static, Type } from "typebox";
import { LIMITS } from "../limits.ts";
import { closed, deleted, listOf, listQuery, nullable, Timestamp } from "./fields.ts";

export const ENDPOINT_STATUSES = ["enabled", "disabled"] as const;

/** Platform specification 2, Webhook endpoint; decisions 3. `secret` stands in the reply to creation and rotation only. */
export const WebhookEndpoint = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("webhook_endpoint"),
    url: Type.String(),
    events: Type.Array(Type.String()),
    description: nullable(Type.String()),
    status: Type.Enum([...ENDPOINT_STATUSES]),
    livemode: Type.Boolean(),
    created: Timestamp,
    secret_created: Timestamp,
    secret: Type.Optional(Type.String()),
  },
  { $id: "WebhookEndpoint" },
);
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

const Url = Type.String({
  maxLength: LIMITS.endpointUrlLength,
  description: "https, without credentials and fragment, to a public address",
});
const Subscriptions = Type.Array(Type.String({ format: "subscription" }), {
  minItems: 1,
  maxItems: LIMITS.endpointSubscriptions,
  uniqueItems: true,
});
const Description = Type.String({ maxLength: LIMITS.descriptionLength });

export const WebhookEndpointCreate = closed(
  { url: Url, events: Subscriptions, description: Type.Optional(nullable(Description)) },
  { $id: "WebhookEndpointCreate" },
);
export type WebhookEndpointCreate = Static<typeof WebhookEndpointCreate>;

export const WebhookEndpointUpdate = closed(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Subscriptions),
    description: Type.Optional(nullable(Description)),
    status: Type.Optional(Type.Enum([...ENDPOINT_STATUSES])),
  },
  { $id: "WebhookEndpointUpdate" },
);
export type WebhookEndpointUpdate = Static<typeof WebhookEndpointUpdate>;

export const SecretRotate = closed(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.secretOverlapSecondsMost,
        default: LIMITS.secretOverlapSecondsDefault,
      }),
    ),
  },
  { $id: "SecretRotate" },
);
export type SecretRotate = Static<typeof SecretRotate>;

export const WebhookEndpointListQuery = listQuery({});
export type WebhookEndpointListQuery = Static<typeof WebhookEndpointListQuery>;

export const WebhookEndpointList = listOf(WebhookEndpoint, "WebhookEndpointList");
export const DeletedWebhookEndpoint = deleted("webhook_endpoint", "DeletedWebhookEndpoint");
