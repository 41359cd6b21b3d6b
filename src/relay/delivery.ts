import { parseJson, valueAt } from "../contract/json.ts";
import type { ChaosFault } from "./chaos-settings.ts";
import type { AttemptOutcome, Outcome } from "./ledger.ts";
import type { Destination } from "./targets.ts";

/** An event as it is forwarded. */
export interface RelayedEvent {
  id: string;
  type: string;
  /** The exact text, unless `bytes` is set. */
  body: string;
  /** The exact bytes of a body that is not UTF-8. */
  bytes?: Uint8Array | undefined;
  /** The headers that it was received with, a flat list of names and values. Events of the platform have none. */
  headers?: readonly string[] | undefined;
  /** True if its body was changed since: its outcome is not that of the event. */
  isEdited?: true;
}

/** What was injected around a delivery. It is not settled before its copies have ended. */
export interface Injected {
  /** Faults, with the responses to the copies that have ended. */
  faults: string[];
  /** Copies that have not ended. */
  open: number;
  /** The outcome, once the delivery itself has ended. */
  outcome?: Outcome | undefined;
}

/** An event on its way to a receiver. */
export interface Delivery<Event extends RelayedEvent> {
  readonly event: Event;
  readonly destination: Destination;
  /** Deliveries with the same partition key run one at a time, in order. */
  readonly partition?: string | undefined;
  /** How often the dispatcher had dropped what waits before. */
  readonly generation: number;
  /** Number of the current or next attempt, from 1. */
  attempt: number;
  /** Headers of the last attempt, a flat list of names and values. */
  headers?: readonly string[];
  /** Failed attempts that were retried; `endedAt` is on the clock's scale. */
  readonly earlier: (AttemptOutcome & { endedAt: number })[];
  faults: readonly ChaosFault[];
  /** The injected faults, shared with its copies. */
  injected?: Injected;
  /** Set on an extra delivery of the event: it is never retried, and its outcome is not the event's. */
  readonly copy?: "duplicate" | "badsig" | "stale" | "resent";
  /** The number of a manual resend. */
  readonly resend?: number;
  /** The delivery that is sent once this one has ended. */
  follower?: Delivery<Event>;
}

/** Returns the ID of the object that an event is about (`data.object.id`), if its body has one. */
export function objectIdOf(body: string): string | undefined {
  const id = valueAt(parseJson(body), "data.object.id");
  return typeof id === "string" ? id : undefined;
}
