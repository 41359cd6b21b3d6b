import { Queue } from "./queue.ts";

/**
 * Decides what starts next: first come, first served, at most `concurrency` at once. Items of one lane run one at a
 * time, in their order; lanes do not wait for each other, and an item without one waits for nobody.
 */
export class Schedule<Item> {
  readonly #concurrency: number;
  readonly #laneOf: ((item: Item) => string | undefined) | undefined;
  readonly #ready = new Queue<Item>();
  /** Busy lanes, with what waits in each. */
  readonly #lanes = new Map<string, Queue<Item>>();
  #running = 0;

  constructor(concurrency: number, laneOf?: (item: Item) => string | undefined) {
    this.#concurrency = concurrency;
    this.#laneOf = laneOf;
  }

  add(item: Item): void {
    const lane = this.#laneOf?.(item);
    if (lane === undefined) return this.#ready.push(item);
    const waiting = this.#lanes.get(lane);
    if (waiting !== undefined) return waiting.push(item);
    this.#lanes.set(lane, new Queue());
    this.#ready.push(item);
  }

  /** Takes the item that may start now; undefined where none is left or all slots are taken. */
  next(): Item | undefined {
    if (this.#running >= this.#concurrency) return undefined;
    const item = this.#ready.shift();
    if (item !== undefined) this.#running += 1;
    return item;
  }

  /** An item has ended: its slot and its lane are free. */
  ended(item: Item): void {
    this.#running -= 1;
    const lane = this.#laneOf?.(item);
    if (lane === undefined) return;
    const next = this.#lanes.get(lane)?.shift();
    if (next === undefined) this.#lanes.delete(lane);
    else this.#ready.push(next);
  }

  /** A running item gives back its slot and keeps its lane: it will be back. */
  parked(_item: Item): void {
    this.#running -= 1;
  }

  /** A parked item wants a slot again. */
  returned(item: Item): void {
    this.#ready.push(item);
  }

  /** Forgets what has not started yet. */
  clear(): void {
    this.#ready.clear();
    this.#lanes.clear();
  }

  get idle(): boolean {
    return this.#running === 0;
  }
}
