import type { ForwardedReport } from "../../../relay/report.ts";

const MAX_EVENTS = 200;
/** Characters of payload that are kept in all. */
const MAX_TEXT_LENGTH = 8 * 1024 * 1024;

export interface PastEvent {
  id: string;
  type: string;
  body: string;
  /** What came of its last attempt; undefined while it is under way. */
  outcome: ForwardedReport | undefined;
}

/** The latest events, and the one that is selected: the newest, until another is. */
export class History {
  #events: PastEvent[] = [];
  #text = 0;
  #selected: PastEvent | undefined;

  add(event: Omit<PastEvent, "outcome">): void {
    this.#events.push({ ...event, outcome: undefined });
    this.#text += event.body.length;
    while (this.#events.length > 1 && (this.#events.length > MAX_EVENTS || this.#text > MAX_TEXT_LENGTH)) {
      const oldest = this.#events.shift()!;
      this.#text -= oldest.body.length;
      if (oldest === this.#selected) this.#selected = this.#events[0];
    }
  }

  finished(outcome: ForwardedReport): void {
    const event = this.#events.findLast(({ id }) => id === outcome.id);
    if (event !== undefined) event.outcome = outcome;
  }

  get selected(): PastEvent | undefined {
    return this.#selected ?? this.#events.at(-1);
  }

  /** Where the selected one stands, from 1, and how many there are. */
  get place(): { number: number; count: number } {
    const { selected } = this;
    return { number: selected === undefined ? 0 : this.#events.indexOf(selected) + 1, count: this.#events.length };
  }

  /** Chooses an older (-1) or a newer (1) one; behind the newest the choice follows what comes. */
  move(step: -1 | 1): void {
    const { number, count } = this.place;
    const next = Math.min(Math.max(number - 1 + step, 0), count - 1);
    this.#selected = next === count - 1 ? undefined : this.#events[next];
  }

  clear(): void {
    this.#events = [];
    this.#text = 0;
    this.#selected = undefined;
  }
}
