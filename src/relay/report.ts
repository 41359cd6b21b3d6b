import type { GapFrame, ReadyFrame } from "../contract/listen.ts";
import type { Disconnection } from "./disconnection.ts";
import type { ForwardFailure } from "./forward-failure.ts";

/** What a session was about. Durations in milliseconds. */
export interface Summary {
  /** Events that came, duplicates not counted. */
  received: number;
  /** Forwards that the receiver answered with 2xx. */
  forwarded: number;
  /** Forwards that it answered otherwise, or not at all. */
  failed: number;
  /** Events that came again and were dropped. */
  duplicates: number;
  /** How long forwards took; undefined where there were none. */
  p50: number | undefined;
  p99: number | undefined;
}

/** One thing that a session has to tell. Durations in milliseconds. */
export type Report =
  | ({ event: "ready" } & Omit<ReadyFrame, "frame">)
  | { event: "received"; id: string; type: string; body: string }
  | ForwardedReport
  /** The connection broke. */
  | { event: "lost"; reason: Disconnection; retryInMs: number }
  /** A connection could not be made, so many times in a row. */
  | { event: "retrying"; reason: Disconnection; failures: number; retryInMs: number }
  /** The connection is back, and so many events that were missed have come. */
  | { event: "restored"; downtimeMs: number; caughtUp: number }
  | ({ event: "gap" } & Omit<GapFrame, "frame">)
  | { event: "duplicate"; id: string; type: string }
  | ({ event: "summary" } & Summary);

/** A forward has ended: with a status, or with a failure. */
export interface ForwardedReport {
  event: "forwarded";
  id: string;
  type: string;
  attempt: number;
  durationMs: number;
  status?: number;
  /** Where a redirect points to; it is not followed. */
  location?: string;
  /** The beginning of the reply's body, at most 16 KiB, where the status is 400 or more. */
  body?: string;
  failure?: ForwardFailure;
  /** What to do about it, where that can be told. */
  hint?: string;
}
