import { isId } from "../contract/ids.ts";

/** How an event ended here; neither status nor error where it was only taken note of. */
export interface Outcome {
  status?: number | undefined;
  error?: string | undefined;
  durationMs: number;
  excerpt?: string | undefined;
}

/** An event from its arrival until the platform can be trusted never to send it again. */
export interface Entry {
  readonly id: string;
  readonly position: number;
  /** Where it came on the current connection and still awaits its acknowledgement. */
  sequences: number[];
  /** It came on the current connection. */
  arrived: boolean;
  outcome: Outcome | undefined;
  /** The platform has read its acknowledgement. */
  confirmed: boolean;
}

/**
 * Which events are under way, which are acknowledged, and where to resume. An acknowledgement that was sent may be lost
 * with its connection, so the ledger trusts only confirmed ones: what lies behind the first unconfirmed event comes
 * again, is known here by its id, and is acknowledged again instead of being forwarded twice.
 *
 * An id that comes back after its acknowledgement was confirmed on the same connection is no duplicate: somebody
 * replays the event.
 */
export class Ledger {
  #entries: Entry[] = [];
  #first = 0;
  #positions = 0;
  #passed = 0;
  readonly #latest = new Map<string, Entry>();
  #cursor: string | undefined;

  /** The event behind which the platform is to resume. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** How many entries it holds. */
  get size(): number {
    return this.#entries.length - this.#first;
  }

  /** True while the oldest event has not ended: nothing newer can be let go of. */
  get blocked(): boolean {
    const oldest = this.#entries[this.#first];
    return oldest !== undefined && oldest.outcome === undefined;
  }

  /** Where the session starts, told by the platform; later calls change nothing. */
  startAt(cursor: string): void {
    this.#cursor ??= cursor;
  }

  /** Takes note of an event's arrival. `duplicate` where it is already known and must not be handled again. */
  receive(id: string, sequence: number): { entry: Entry; duplicate: boolean } {
    const known = this.#latest.get(id);
    if (known !== undefined && !(known.arrived && known.confirmed)) {
      known.arrived = true;
      known.sequences.push(sequence);
      this.#pass(known.position);
      return { entry: known, duplicate: true };
    }
    // What is newer than all that was resent comes after it; an older one is a replay, and proves nothing.
    const last = this.#entries.at(-1);
    if (last !== undefined && !last.arrived && isAfter(id, last.id)) this.#pass(this.#positions + 1);
    const entry = this.#append(id);
    entry.sequences.push(sequence);
    return { entry, duplicate: false };
  }

  /** The event has ended. */
  settle(entry: Entry, outcome: Outcome): void {
    entry.outcome = outcome;
    this.#release();
  }

  /** The platform has read the acknowledgements of these events. */
  confirm(entries: readonly Entry[]): void {
    for (const entry of entries) {
      entry.confirmed = true;
      // It arrived: only what may have to be said again is worth its memory.
      if (entry.outcome !== undefined) entry.outcome.excerpt = undefined;
    }
    this.#release();
  }

  /** The connection is gone: everything behind the cursor will come again. */
  disconnected(): void {
    this.#passed = 0;
    for (let i = this.#first; i < this.#entries.length; i += 1) {
      const entry = this.#entries[i]!;
      entry.arrived = false;
      entry.sequences = [];
    }
  }

  #append(id: string): Entry {
    const position = (this.#positions += 1);
    const entry: Entry = { id, position, sequences: [], arrived: true, outcome: undefined, confirmed: false };
    this.#entries.push(entry);
    this.#latest.set(id, entry);
    return entry;
  }

  /** The platform sends in order: what it left out before this position it will not send again. */
  #pass(position: number): void {
    this.#passed = Math.max(this.#passed, position);
    this.#release();
  }

  #release(): void {
    for (;;) {
      const entry = this.#entries[this.#first];
      if (entry === undefined || entry.outcome === undefined) break;
      const leftOut = !entry.arrived && entry.position < this.#passed;
      if (!entry.confirmed && !leftOut) break;
      this.#first += 1;
      if (this.#latest.get(entry.id) === entry) this.#latest.delete(entry.id);
      if (this.#cursor === undefined || isAfter(entry.id, this.#cursor)) this.#cursor = entry.id;
    }
    if (this.#first > 256 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }
}

/** Ids sort by time. A replayed event is older than the cursor and must not drag it back through all of history. */
function isAfter(id: string, cursor: string): boolean {
  return !isId("event", id) || !isId("event", cursor) || id > cursor;
}
