import { isSuccess } from "../../../contract/is-success.ts";
import type { RelayedEvent } from "../../../relay/delivery.ts";
import type { ForwardedReport, ReceivedReport } from "../../../relay/report.ts";
import type { Span } from "../../terminal/styles.ts";

/** Limits of the history. Older rows are dropped. */
export const MAX_ROWS = 1_000;
/** Number of characters of payloads and responses. */
const MAX_TEXT_LENGTH = 16 * 1024 * 1024;
/** Number of attempts of one delivery. */
const MAX_ATTEMPTS = 20;

export interface EarlierAttempt {
  at: number;
  number: number;
  status: number | undefined;
  failure: string | undefined;
  durationMs: number;
}

/** A delivery of a received event, or of a copy. Times are in Unix milliseconds. */
export interface Row {
  readonly event: RelayedEvent & Pick<ReceivedReport, "verified" | "path">;
  /** When it was received, or sent. */
  readonly at: number;
  /** How this delivery differs from that of a received event. A resend is an attempt of the same delivery. */
  readonly copy: "edited" | Exclude<ForwardedReport["copy"], "resent">;
  /** False for an event that matches no target, or was dropped. */
  isForwarded: boolean;
  /** True for an event that waited when the sandbox was reset. */
  isOfReset: boolean;
  /** The last attempt; undefined until it has ended. */
  outcome: ForwardedReport | undefined;
  /** When the last attempt ended; undefined until then. */
  endedAt: number;
  readonly earlier: EarlierAttempt[];
  /** What `service why` says about the event, once it was asked. */
  explanation: readonly Span[][];
  /** Incremented with each change. */
  version: number;
  /** False after the row was dropped. */
  isListed: boolean;
}

/** Totals of the session, counted like those of its summary. */
export type Totals = Record<"received" | "forwarded" | "failed" | "resolved" | "duplicates", number>;

/** The latest deliveries, up to a limit. */
export class History {
  readonly rows: Row[] = [];
  readonly totals: Totals = { received: 0, forwarded: 0, failed: 0, resolved: 0, duplicates: 0 };
  /** Rows dropped because of the limits. */
  dropped = 0;
  /** A row that is never dropped. */
  pinned: Row | undefined;
  #text = 0;
  /** Rows of unfinished deliveries by event ID, oldest first. */
  readonly #pending = new Map<string, Row[]>();
  readonly #resent = new Map<number, Row>();

  /** Number of deliveries without a result so far. */
  get waiting(): number {
    return this.#pending.size + this.#resent.size - this.retrying;
  }

  /** Number of deliveries that wait for their next attempt. */
  get retrying(): number {
    return [...this.#pending.values()].filter(([row]) => row?.outcome !== undefined).length;
  }

  /** True while a resend is unfinished. */
  get isResending(): boolean {
    return this.#resent.size > 0;
  }

  received(event: Row["event"], isForwarded: boolean, at: number): Row {
    this.totals.received += 1;
    const row = this.#add({ event, at, isForwarded, copy: undefined });
    if (isForwarded) this.#pending.set(event.id, [...(this.#pending.get(event.id) ?? []), row]);
    return row;
  }

  edited(event: RelayedEvent, at: number): Row {
    return this.#add({ event, at, isForwarded: true, copy: "edited" });
  }

  /** Records that a delivery is sent again, or an edited one at all, identified by a number. */
  resending(row: Row, number: number): void {
    this.#resent.set(number, row);
  }

  /** Returns how often an event was sent, resends included. */
  attemptsOf(id: string): number {
    const own = this.rows.filter(({ event }) => event.id === id);
    return Math.max(1, ...own.map(({ outcome }) => outcome?.attempt ?? 0));
  }

  /** Records the result of an attempt. */
  ended(report: ForwardedReport, at: number): void {
    const isLast = report.retryInMs === undefined;
    if (report.resend !== undefined) {
      const row = this.#resent.get(report.resend);
      this.#resent.delete(report.resend);
      if (report.resolves) {
        this.totals.resolved += 1;
        this.totals.failed -= 1;
        this.totals.forwarded += 1;
      }
      return row && this.#end(row, report, at);
    }
    if (report.copy !== undefined && report.copy !== "resent") return this.#addCopy(report, report.copy, at);
    if (isLast) this.totals[isSuccess(report.status) ? "forwarded" : "failed"] += 1;
    const [row, ...others] = this.#pending.get(report.id) ?? [];
    if (row === undefined) return;
    if (isLast) this.#stopWaiting(report.id, others);
    this.#end(row, report, at);
  }

  /**
   * Returns the last delivery of each event whose last delivery has failed and is not being resent, oldest first.
   * Ignores injected copies and edited payloads, which are not the event.
   */
  failed(): Row[] {
    const last = new Map<string, Row>();
    for (const row of this.rows) if (row.copy === undefined) last.set(row.event.id, row);
    const resending = new Set(this.#resent.values());
    return [...last.values()].filter((row) => {
      const { outcome } = row;
      const isFinal = outcome !== undefined && outcome.retryInMs === undefined && !resending.has(row);
      return isFinal && !isSuccess(outcome.status);
    });
  }

  /** Records that these events are not forwarded, because the sandbox was reset. */
  dropWaiting(ids: readonly string[]): void {
    for (const id of ids) {
      for (const row of this.#pending.get(id) ?? []) {
        row.isForwarded = false;
        row.isOfReset = true;
        row.version += 1;
      }
      this.#pending.delete(id);
    }
  }

  clear(): void {
    for (const row of this.rows) row.isListed = false;
    this.rows.length = 0;
    this.pinned = undefined;
    this.#text = 0;
    this.dropped = 0;
  }

  /** A copy sent by `--chaos` has a row of its own, because its outcome is not that of the event. */
  #addCopy(report: ForwardedReport, copy: Row["copy"], at: number): void {
    const original = this.rows.findLast(({ event }) => event.id === report.id);
    if (original === undefined) return;
    this.#end(this.#add({ event: original.event, at, isForwarded: true, copy }), report, at);
  }

  #add(row: Pick<Row, "event" | "at" | "isForwarded" | "copy">): Row {
    const state = {
      outcome: undefined,
      endedAt: row.at,
      earlier: [],
      explanation: [],
      version: 0,
      isListed: true,
      isOfReset: false,
    };
    const added: Row = { ...row, ...state };
    this.rows.push(added);
    this.#text += row.event.body.length;
    this.#dropOld();
    return added;
  }

  #end(row: Row, report: ForwardedReport, at: number): void {
    const { outcome } = row;
    if (outcome !== undefined) {
      const { attempt, status, failure, durationMs } = outcome;
      row.earlier.push({ at: row.endedAt, number: attempt, status, failure: failure?.code, durationMs });
      if (row.earlier.length > MAX_ATTEMPTS) row.earlier.shift();
    }
    if (row.isListed) this.#text += report.excerpt.length - (outcome?.excerpt.length ?? 0);
    row.outcome = report;
    row.explanation = [];
    row.endedAt = at;
    row.version += 1;
  }

  #dropOld(): void {
    while (this.rows.length > 1 && (this.rows.length > MAX_ROWS || this.#text > MAX_TEXT_LENGTH)) {
      const row = this.rows.splice(this.rows[0] === this.pinned ? 1 : 0, 1)[0]!;
      row.isListed = false;
      this.#text -= row.event.body.length + (row.outcome?.excerpt.length ?? 0);
      this.dropped += 1;
    }
  }

  #stopWaiting(id: string, others: Row[]): void {
    if (others.length === 0) this.#pending.delete(id);
    else this.#pending.set(id, others);
  }
}
