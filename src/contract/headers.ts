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

/** The User-Agent of every delivery. */
export const DELIVERY_USER_AGENT = "Service-Webhooks/1";

/** Returns whether a text is a header's name: a token (RFC 9110 5.6.2). `node:http` has the same check, but is slow to load. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}

/** Returns whether HTTP allows a text as the value of a header (RFC 9110 5.5). */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
