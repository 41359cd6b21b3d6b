/** Every event type that the platform emits (decisions 4). */
export const EVENT_TYPES = [
  "customer.created",
  "customer.updated",
  "customer.deleted",
  "order.created",
  "order.completed",
  "order.canceled",
  "payment.created",
  "payment.succeeded",
  "payment.failed",
  "webhook_endpoint.ping",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** True when the text is an event type of the platform. */
export function isEventType(text: string): text is EventType {
  return (EVENT_TYPES as readonly string[]).includes(text);
}

/**
 * The event types that a subscription covers: `*` all of them, `<prefix>.*` any depth below the prefix, else the exact
 * type. Empty where the subscription names nothing that exists.
 */
export function typesOfSubscription(subscription: string): EventType[] {
  if (subscription === "*") return [...EVENT_TYPES];
  if (!subscription.endsWith(".*")) return EVENT_TYPES.filter((type) => type === subscription);
  const prefix = subscription.slice(0, -1);
  return EVENT_TYPES.filter((type) => type.startsWith(prefix));
}

/** True when one of the subscriptions covers the event type. */
export function matchesSubscriptions(subscriptions: readonly string[], type: string): boolean {
  return subscriptions.some(
    (subscription) =>
      subscription === "*" ||
      subscription === type ||
      (subscription.endsWith(".*") && type.startsWith(subscription.slice(0, -1))),
  );
}

/** What a subscription may be, besides the exact types: for messages and completion. */
export const SUBSCRIPTION_WILDCARDS: readonly string[] = [
  "*",
  ...new Set(EVENT_TYPES.map((type) => `${type.slice(0, type.indexOf("."))}.*`)),
];
