/** Names of the platform's own headers, as they are sent. */
export const HEADERS = {
  version: "Service-Version",
  requestId: "Request-Id",
  idempotencyKey: "Idempotency-Key",
  idempotentReplayed: "Idempotent-Replayed",
  signature: "Service-Signature",
  eventId: "Service-Event-Id",
  deliveryAttempt: "Service-Delivery-Attempt",
  environment: "Service-Environment",
  relay: "Service-Relay",
  fault: "Service-Fault",
  device: "Service-Device",
  rateLimit: "RateLimit",
  rateLimitPolicy: "RateLimit-Policy",
} as const;

/** Sent with every delivery. */
export const DELIVERY_USER_AGENT = "Service-Webhooks/1";
