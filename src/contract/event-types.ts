import { type KindWith, kindsWith, RESOURCES } from "./resources.ts";

export type EventType = {
  [Kind in KindWith<"events">]: `${Kind}.${(typeof RESOURCES)[Kind]["events"][number]}`;
}[KindWith<"events">];

/** Every event type that the platform emits. */
export const EVENT_TYPES = kindsWith("events").flatMap((kind) =>
  RESOURCES[kind].events.map((change) => `${kind}.${change}`),
) as readonly EventType[];

export function isEventType(text: string): text is EventType {
  return (EVENT_TYPES as readonly string[]).includes(text);
}

/**
 * Returns the event types of a subscription: all for `*`, every type below the prefix for `<prefix>.*`, otherwise the
 * exact type. Returns none if no such type exists.
 */
export function typesOfSubscription(subscription: string): EventType[] {
  if (subscription === "*") return [...EVENT_TYPES];
  if (!subscription.endsWith(".*")) return EVENT_TYPES.filter((type) => type === subscription);
  const prefix = subscription.slice(0, -1);
  return EVENT_TYPES.filter((type) => type.startsWith(prefix));
}

/** Returns true if one of the subscriptions covers the event type. */
export function matchesSubscriptions(subscriptions: readonly string[], type: string): boolean {
  return subscriptions.some(
    (subscription) =>
      subscription === "*" ||
      subscription === type ||
      (subscription.endsWith(".*") && type.startsWith(subscription.slice(0, -1))),
  );
}

/** Subscriptions that cover several types, for messages and completion. */
export const SUBSCRIPTION_WILDCARDS: readonly string[] = [
  "*",
  ...new Set(EVENT_TYPES.map((type) => `${type.slice(0, type.indexOf("."))}.*`)),
];
