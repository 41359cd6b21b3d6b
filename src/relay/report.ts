import type { GapFrame, ReadyFrame } from "../contract/listen.ts";
import type { ChaosSummary } from "./chaos.ts";
import type { ChaosFault } from "./chaos-settings.ts";
import type { RelayedEvent } from "./delivery.ts";
import type { Disconnection } from "./disconnection.ts";
import type { ForwardResult } from "./forwarder.ts";

/** Totals of a run. Durations in milliseconds. */
export interface Summary {
  /** Events received, without duplicates. */
  received: number;
  /** Events that the run's own filters excluded; undefined if it has none. */
  filteredOut?: number | undefined;
  /** Forwards that got a 2xx response. */
  forwarded: number;
  /** Forwards that got another response, or none, and were not resolved by a resend. */
  failed: number;
  /** Failed forwards that had retries left when the run ended. */
  unretried: number;
  /** Events that waited when the run ended, and were not forwarded. */
  waiting: number;
  /** IDs of the events that waited, and of those that had retries left, oldest first. */
  unsent: readonly string[];
  /** Failed events that a manual resend then delivered: they count as forwarded. */
  resolved: number;
  /** Events that waited when the sandbox was reset, and no longer exist. */
  dropped: number;
  /** Events that were received again and dropped; undefined if none would be. */
  duplicates?: number | undefined;
  /** Percentiles of the duration of successful forwards; undefined if there were none. */
  p50: number | undefined;
  p99: number | undefined;
  /** How receivers responded to injected faults, if there were any. */
  chaos?: ChaosSummary;
}

/** Something that happened in a run. Durations in milliseconds. */
export type Report =
  | ({ event: "ready" } & Omit<ReadyFrame, "frame">)
  | ReceivedReport
  | ForwardedReport
  /** The connection was lost; the next attempt follows after `retryInMs`. */
  | { event: "lost"; reason: Disconnection; retryInMs: number }
  /** Connecting failed, `failures` times in a row. */
  | { event: "retrying"; reason: Disconnection; failures: number; retryInMs: number }
  /** Connected again, and the `caughtUp` events that were missed have been received. */
  | { event: "restored"; downtimeMs: number; caughtUp: number }
  /** With the reason `reset`, the same as a reset. */
  | ({ event: "gap"; dropped?: readonly string[] } & Omit<GapFrame, "frame">)
  /** The sandbox was reset. Events that waited to be forwarded were dropped; those of its new log follow. */
  | { event: "reset"; dropped: readonly string[] }
  /** Another listener joined or left: this many others listen to the same environment now. */
  | { event: "joined" | "left"; others: number }
  | { event: "duplicate"; id: string; type: string }
  | Hint
  | ({ event: "summary" } & Summary);

export interface ReceivedReport extends RelayedEvent {
  event: "received";
  /** The path to which its sender sent it, if that is known. */
  path?: string | undefined;
  /** Whether its signature is valid, and else why not, if it was verified. `signer` is another provider that signed it. */
  verified?: true | { code: string; message: string; signer?: string } | undefined;
}

/** A suggestion about an earlier report, or about a missing receiver. */
export interface Hint {
  event: "hint";
  url: URL;
  message: string;
}

/** An attempt to forward an event has ended: with a status, or with a failure. */
export interface ForwardedReport extends ForwardResult {
  event: "forwarded";
  id: string;
  type: string;
  /** Counts from 1. */
  attempt: number;
  /** Where it was sent. */
  url: URL;
  /** The time until another attempt, if one follows. */
  retryInMs?: number | undefined;
  faults?: readonly ChaosFault[] | undefined;
  /** Set on an extra delivery: a manual resend, or an injected one. */
  copy?: "duplicate" | "badsig" | "stale" | "resent" | undefined;
  /** The number that `resend` returned, of a manual resend. */
  resend?: number | undefined;
  /** True for a manual resend that delivered an event which had failed. */
  resolves?: boolean | undefined;
  /** The request's headers, a flat list of names and values. */
  headers: readonly string[];
  /** What to do about it, if known. */
  hint?: string | undefined;
}
