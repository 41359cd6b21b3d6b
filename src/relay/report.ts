import type { GapFrame, ReadyFrame } from "../contract/listen.ts";
import type { ChaosFault } from "./chaos-settings.ts";
import type { ChaosSummary } from "./chaos-tally.ts";
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
  /** Where chaos was asked for. */
  chaos?: ChaosSummary;
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
  /** What may help with something that was reported before. */
  | { event: "hint"; url: URL; message: string }
  | ({ event: "summary" } & Summary);

/** A forward has ended: with a status, or with a failure. */
export interface ForwardedReport {
  event: "forwarded";
  id: string;
  type: string;
  attempt: number;
  durationMs: number;
  /** Where it went. */
  url: URL;
  /** Another attempt follows after this time. */
  retryInMs?: number;
  /** What chaos did to it. */
  faults?: readonly ChaosFault[];
  /** Set on a delivery beside the event's own: sent by hand, or made by chaos. */
  copy?: "duplicate" | "badsig" | "stale" | "resent";
  status?: number;
  /** Where a redirect points to; it is not followed. */
  location?: string;
  /** What was sent with it, a flat list of names and values. */
  headers: readonly string[];
  /** The beginning of the reply's body, at most 16 KiB. */
  reply: string;
  failure?: ForwardFailure;
  /** What to do about it, where that can be told. */
  hint?: string;
}
