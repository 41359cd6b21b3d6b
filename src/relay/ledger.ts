import { type Ack, type ForwardAttempt, REPORTED_HEADERS, type Retry } from "../contract/listen.ts";
import { LIMITS } from "../contract/limits.ts";
import type { ResponseHeaders } from "../network/response-parser.ts";
import { Queue } from "./queue.ts";

/** How an attempt to forward an event ended. */
export interface AttemptOutcome {
  status?: number | undefined;
  error?: string | undefined;
  durationMs: number;
  excerpt?: string | undefined;
  /** The headers of an error response. */
  headers?: ResponseHeaders | undefined;
}

/** The result of an event: that of its last attempt. Neither status nor error: received without being forwarded. */
export interface Outcome extends AttemptOutcome {
  /** True if the event was excluded by the filter. */
  isFiltered?: true;
  /** Injected faults, with the responses to extra requests. */
  injected?: string | undefined;
  /** Attempts before the last one, in order; `endedAt` is on the clock's scale. */
  earlier?: readonly (AttemptOutcome & { endedAt: number })[] | undefined;
}

/** An event at its position in the platform's log, from its arrival until it is forgotten. */
export interface Entry {
  /** The ID that names the position: the event's own, or a replay's. */
  readonly cursor: string;
  readonly position: number;
  /** Its sequence numbers on the current connection that are not acknowledged yet. */
  sequences: number[];
  /** Received on the current connection. */
  arrived: boolean;
  outcome: Outcome | undefined;
  /** The platform has read its acknowledgement. */
  confirmed: boolean;
}

/** Completed entries that are remembered, in case a platform sends them again without being asked to. */
const MAX_COMPLETED = 512;
/** Events with an outcome that are remembered while an older event has none. */
const MAX_REMEMBERED = 8_192;

/**
 * Tracks events in flight, acknowledgements, and where to resume. An acknowledgement may be lost with its connection,
 * so only confirmed ones count: events after the first unconfirmed entry are sent again, recognized here, and
 * acknowledged again instead of being forwarded twice.
 */
export class Ledger {
  /** The entries in log order; the first `#completed` of them need nothing more. */
  readonly #entries = new Queue<Entry>();
  readonly #positions = new Map<string, number>();
  /** Position of the oldest entry, counted from the first entry ever. */
  #first = 0;
  #completed = 0;
  #passed = 0;
  #cursor: string | undefined;

  /** The position in the log after which the platform is to resume. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** The number of entries that still need an outcome or a confirmation. */
  get size(): number {
    return this.#entries.size - this.#completed;
  }

  /** True if no more events can be remembered that wait for an older one without an outcome. */
  get isFull(): boolean {
    return this.size >= MAX_REMEMBERED && this.#entries.at(this.#completed)!.outcome === undefined;
  }

  /** Sets where the run starts, as the platform reported; later calls change nothing. */
  startAt(cursor: string): void {
    this.#cursor ??= cursor;
  }

  /** Records an arrival. `duplicate` if the event is known and must not be forwarded again. */
  receive(cursor: string, sequence: number): { entry: Entry; duplicate: boolean } {
    const position = this.#positions.get(cursor);
    const existing = position === undefined ? undefined : this.#entries.at(position - this.#first);
    if (existing === undefined) return { entry: this.#append(cursor, sequence), duplicate: false };
    existing.arrived = true;
    existing.sequences.push(sequence);
    this.#pass(existing.position);
    return { entry: existing, duplicate: true };
  }

  /** Records the result of an event. */
  settle(entry: Entry, outcome: Outcome): void {
    entry.outcome = outcome;
    this.#complete();
  }

  /** Records that the platform has read the event's acknowledgement. */
  confirm(entry: Entry): void {
    entry.confirmed = true;
    // Large parts are worth their memory only as long as they may have to be sent again.
    if (entry.outcome !== undefined) entry.outcome.excerpt = entry.outcome.earlier = undefined;
    this.#complete();
  }

  /** The connection is gone: everything after the cursor will be sent again. */
  disconnected(): void {
    this.#passed = 0;
    for (let i = 0; i < this.#entries.size; i += 1) {
      const entry = this.#entries.at(i)!;
      entry.arrived = false;
      entry.sequences = [];
    }
  }

  #append(cursor: string, sequence: number): Entry {
    const position = this.#first + this.#entries.size;
    this.#pass(position);
    const entry = { cursor, position, sequences: [sequence], arrived: true, outcome: undefined, confirmed: false };
    this.#entries.push(entry);
    this.#positions.set(cursor, position);
    return entry;
  }

  /** The platform sends in log order: what it skipped before this position, it will not send again. */
  #pass(position: number): void {
    this.#passed = Math.max(this.#passed, position);
    this.#complete();
  }

  #complete(): void {
    for (
      let entry = this.#entries.at(this.#completed);
      entry?.outcome !== undefined;
      entry = this.#entries.at(this.#completed)
    ) {
      const isSkipped = !entry.arrived && entry.position < this.#passed;
      if (!entry.confirmed && !isSkipped) return;
      this.#cursor = entry.cursor;
      this.#completed += 1;
      if (this.#completed > MAX_COMPLETED) this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    const entry = this.#entries.shift();
    this.#first += 1;
    this.#completed -= 1;
    if (entry !== undefined) this.#positions.delete(entry.cursor);
  }
}

/** The acknowledgements of one connection: those that are owed, and those that the platform has not confirmed yet. */
export class Acknowledgements {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #send: (ack: Ack) => void;
  #unacknowledged = 0;
  #due: { entry: Entry; sequence: number }[] = [];
  readonly #unconfirmed = new Queue<Entry>();
  #confirmed = 0;

  constructor(ledger: Ledger, now: () => number, send: (ack: Ack) => void) {
    this.#ledger = ledger;
    this.#now = now;
    this.#send = send;
  }

  /** The number of events received on this connection that are not acknowledged. */
  get unacknowledged(): number {
    return this.#unacknowledged;
  }

  /** Counts a received event. */
  addReceived(): void {
    this.#unacknowledged += 1;
  }

  /** Sends the acknowledgements of an event that has an outcome. */
  acknowledge(entry: Entry): void {
    for (const sequence of entry.sequences) this.#due.push({ entry, sequence });
    entry.sequences = [];
    // Withheld acknowledgements fill the platform's window, so that it stops sending before memory grows.
    if (this.#ledger.isFull) return;
    for (const { entry, sequence } of this.#due) {
      this.#send(toAck(sequence, entry.outcome, this.#now));
      this.#unconfirmed.push(entry);
    }
    this.#unacknowledged -= this.#due.length;
    this.#due = [];
  }

  /** The platform has read this many in all. */
  confirm(count: number): void {
    for (; this.#confirmed < count; this.#confirmed += 1) {
      const entry = this.#unconfirmed.shift();
      if (entry !== undefined) this.#ledger.confirm(entry);
    }
  }
}

function toAck(seq: number, outcome: Outcome | undefined, now: () => number): Ack {
  const ack: Ack = { seq, ...toAttempt(outcome) };
  if (outcome?.isFiltered) ack.filtered = true;
  if (outcome?.injected !== undefined) ack.injected = outcome.injected;
  if (outcome?.earlier === undefined || outcome.earlier.length === 0) return ack;
  ack.attempts = outcome.earlier.map((attempt) => ({
    ...toAttempt(attempt),
    ago_ms: rounded(Math.max(0, now() - attempt.endedAt)),
  }));
  return ack;
}

/** Returns a failed attempt that is retried; undefined while the platform has not sent its event on this connection. */
export function toRetry({ sequences }: Entry, attempt: AttemptOutcome, retryInMs: number): Retry | undefined {
  const seq = sequences.at(-1);
  return seq === undefined ? undefined : { seq, retry_in_ms: rounded(retryInMs), ...toAttempt(attempt) };
}

export function toAttempt(outcome: AttemptOutcome | undefined): ForwardAttempt {
  const attempt: ForwardAttempt = { duration_ms: rounded(outcome?.durationMs ?? 0) };
  if (outcome?.status !== undefined) attempt.status_code = outcome.status;
  if (outcome?.error !== undefined) attempt.error = outcome.error;
  if (outcome?.excerpt !== undefined && outcome.excerpt !== "") attempt.response_excerpt = outcome.excerpt;
  if (outcome?.headers !== undefined) {
    for (const [field, name] of REPORTED_HEADERS) {
      const value = outcome.headers.get(name);
      if (value !== undefined) attempt[field] = value.slice(0, LIMITS.listenTargetLength);
    }
  }
  return attempt;
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
