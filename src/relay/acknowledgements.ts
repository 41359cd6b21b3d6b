import type { AckFrame } from "../contract/listen.ts";
import type { Entry, Ledger, Outcome } from "./ledger.ts";
import { Queue } from "./queue.ts";

/** Ended events that are remembered while an older one is still under way. */
const MOST_REMEMBERED = 8_192;

/** The acknowledgements of one connection: what is still owed, and what the platform has not confirmed yet. */
export class Acknowledgements {
  readonly #ledger: Ledger;
  readonly #send: (frame: AckFrame) => void;
  #owed = 0;
  #due: { entry: Entry; sequence: number }[] = [];
  readonly #unconfirmed = new Queue<Entry>();
  #confirmed = 0;

  constructor(ledger: Ledger, send: (frame: AckFrame) => void) {
    this.#ledger = ledger;
    this.#send = send;
  }

  /** How many events came on this connection and await their acknowledgement. */
  get owed(): number {
    return this.#owed;
  }

  /** An event came. */
  owe(): void {
    this.#owed += 1;
  }

  /** Sends those of an event that has ended. */
  give(entry: Entry): void {
    for (const sequence of entry.sequences) this.#due.push({ entry, sequence });
    entry.sequences = [];
    // While the oldest event is stuck, all newer ones must be remembered. Keeping their acknowledgements back fills the
    // platform's window, so that it stops sending before memory grows.
    if (this.#ledger.blocked && this.#ledger.size >= MOST_REMEMBERED) return;
    for (const { entry, sequence } of this.#due) {
      this.#send(toFrame(sequence, entry.outcome));
      this.#unconfirmed.push(entry);
    }
    this.#owed -= this.#due.length;
    this.#due = [];
  }

  /** The platform has read so many in all. */
  confirm(count: number): void {
    for (; this.#confirmed < count; this.#confirmed += 1) {
      const entry = this.#unconfirmed.shift();
      if (entry !== undefined) this.#ledger.confirm(entry);
    }
  }
}

function toFrame(seq: number, outcome: Outcome | undefined): AckFrame {
  const frame: AckFrame = { frame: "ack", seq, duration_ms: Math.round((outcome?.durationMs ?? 0) * 100) / 100 };
  if (outcome?.status !== undefined) frame.status_code = outcome.status;
  if (outcome?.error !== undefined) frame.error = outcome.error;
  if (outcome?.excerpt !== undefined && outcome.excerpt !== "") frame.response_excerpt = outcome.excerpt;
  return frame;
}
