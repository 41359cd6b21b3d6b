import { Queue } from "./queue.ts";

/** How an event ended here; neither status nor error where it was only taken note of. */
export interface Outcome {
  status?: number | undefined;
  error?: string | undefined;
  durationMs: number;
  excerpt?: string | undefined;
}

/** What came from one place of the platform's log, from its arrival until it is forgotten. */
export interface Entry {
  /** The id that names the place: the event's own, or a replay's. */
  readonly cursor: string;
  readonly position: number;
  /** As what it came on the current connection, where that still awaits its acknowledgement. */
  sequences: number[];
  /** It came on the current connection. */
  arrived: boolean;
  outcome: Outcome | undefined;
  /** The platform has read its acknowledgement. */
  confirmed: boolean;
}

/** Done with, but remembered, in case a platform sends it again without being asked to. */
const MOST_DONE = 512;

/**
 * What is under way, what is acknowledged, and where to resume. An acknowledgement that was sent may be lost with its
 * connection, so the ledger trusts only confirmed ones: what lies behind the first unconfirmed entry comes again, is
 * known here, and is acknowledged again instead of being forwarded twice.
 */
export class Ledger {
  /** In the order of the log; the first `#done` of them are done with. */
  readonly #entries = new Queue<Entry>();
  readonly #positions = new Map<string, number>();
  /** Positions count all entries that there ever were; this one is the oldest's. */
  #first = 0;
  #done = 0;
  #passed = 0;
  #cursor: string | undefined;

  /** The place in the log behind which the platform is to resume. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** How many entries are not done with. */
  get size(): number {
    return this.#entries.size - this.#done;
  }

  /** True while the oldest event has not ended: nothing newer can be done with before it. */
  get blocked(): boolean {
    const oldest = this.#entries.at(this.#done);
    return oldest !== undefined && oldest.outcome === undefined;
  }

  /** Where the session starts, told by the platform; later calls change nothing. */
  startAt(cursor: string): void {
    this.#cursor ??= cursor;
  }

  /** Takes note of an arrival. `duplicate` where it is already known and must not be handled again. */
  receive(cursor: string, sequence: number): { entry: Entry; duplicate: boolean } {
    const position = this.#positions.get(cursor);
    const known = position === undefined ? undefined : this.#entries.at(position - this.#first);
    if (known === undefined) return { entry: this.#append(cursor, sequence), duplicate: false };
    known.arrived = true;
    known.sequences.push(sequence);
    this.#pass(known.position);
    return { entry: known, duplicate: true };
  }

  /** The event has ended. */
  settle(entry: Entry, outcome: Outcome): void {
    entry.outcome = outcome;
    this.#release();
  }

  /** The platform has read the event's acknowledgement. */
  confirm(entry: Entry): void {
    entry.confirmed = true;
    // It arrived: only what may have to be said again is worth its memory.
    if (entry.outcome !== undefined) entry.outcome.excerpt = undefined;
    this.#release();
  }

  /** The connection is gone: everything behind the cursor will come again. */
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

  /** The platform sends in the log's order: what it left out before this position it will not send again. */
  #pass(position: number): void {
    this.#passed = Math.max(this.#passed, position);
    this.#release();
  }

  #release(): void {
    for (let entry = this.#entries.at(this.#done); entry?.outcome !== undefined; entry = this.#entries.at(this.#done)) {
      const leftOut = !entry.arrived && entry.position < this.#passed;
      if (!entry.confirmed && !leftOut) return;
      this.#cursor = entry.cursor;
      this.#done += 1;
      if (this.#done > MOST_DONE) this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    const entry = this.#entries.shift();
    this.#first += 1;
    this.#done -= 1;
    if (entry !== undefined) this.#positions.delete(entry.cursor);
  }
}
