import type { ForwardedReport } from "../../../relay/report.ts";

const MOST_EVENTS = 200;
/** Characters of payload that are kept in all. */
const MOST_TEXT = 8 * 1024 * 1024;

export interface PastEvent {
  id: string;
  type: string;
  body: string;
  /** What came of its last attempt; undefined while it is under way. */
  outcome: ForwardedReport | undefined;
}

/** The latest events, and the one that is chosen: the newest, until another is. */
export class History {
  #events: PastEvent[] = [];
  #text = 0;
  #chosen: PastEvent | undefined;

  add(event: Omit<PastEvent, "outcome">): void {
    this.#events.push({ ...event, outcome: undefined });
    this.#text += event.body.length;
    while (this.#events.length > 1 && (this.#events.length > MOST_EVENTS || this.#text > MOST_TEXT)) {
      const oldest = this.#events.shift()!;
      this.#text -= oldest.body.length;
      if (oldest === this.#chosen) this.#chosen = this.#events[0];
    }
  }

  ended(outcome: ForwardedReport): void {
    const event = this.#events.findLast(({ id }) => id === outcome.id);
    if (event !== undefined) event.outcome = outcome;
  }

  get chosen(): PastEvent | undefined {
    return this.#chosen ?? this.#events.at(-1);
  }

  /** Where the chosen one stands, from 1, and how many there are. */
  get place(): { number: number; count: number } {
    const { chosen } = this;
    return { number: chosen === undefined ? 0 : this.#events.indexOf(chosen) + 1, count: this.#events.length };
  }

  /** Chooses an older (-1) or a newer (1) one; behind the newest the choice follows what comes. */
  move(step: -1 | 1): void {
    const { number, count } = this.place;
    const next = Math.min(Math.max(number - 1 + step, 0), count - 1);
    this.#chosen = next === count - 1 ? undefined : this.#events[next];
  }

  clear(): void {
    this.#events = [];
    this.#text = 0;
    this.#chosen = undefined;
  }
}
