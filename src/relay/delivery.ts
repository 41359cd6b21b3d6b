import type { ChaosFault } from "./chaos-settings.ts";
import type { Destination } from "./router.ts";

/** An event as it is forwarded; `body` is the exact text. */
export interface RelayedEvent {
  id: string;
  type: string;
  body: string;
}

/** One event on its way to one receiver. */
export interface Delivery<Event extends RelayedEvent> {
  readonly event: Event;
  readonly destination: Destination;
  /** What must not run at once with it, and not before it. */
  readonly lane?: string | undefined;
  /** The number of the attempt that is under way or comes next. */
  attempt: number;
  /** The headers of its last attempt, a flat list of names and values. */
  headers?: readonly string[];
  /** What `--chaos` did to it. */
  faults: readonly ChaosFault[];
  /** Set on a delivery whose outcome is not its event's: it is never retried and nobody waits for it. */
  readonly copy?: "duplicate" | "badsig" | "stale" | "resent";
  /** Sent once this one has ended. */
  follower?: Delivery<Event>;
}
