import { EVENT_TYPES, type EventType, isEventType } from "../contract/event-types.ts";
import { nearest } from "../contract/nearest.ts";
import { UsageError } from "./errors.ts";

/** An event type that a person typed. Throws UsageError with the nearest names where there is none. */
export function parseEventType(text: string): EventType {
  if (isEventType(text)) return text;
  const near = nearest(text, EVENT_TYPES);
  throw new UsageError(`There is no event type "${text}"`, {
    hint: near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`service trigger --list` shows them all.",
  });
}
