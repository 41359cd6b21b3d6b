import { Queue } from "./queue.ts";

/** Decides what starts next: first come, first served, at most `concurrency` at once. */
export class Schedule<Item> {
  readonly #concurrency: number;
  readonly #waiting = new Queue<Item>();
  #running = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  add(item: Item): void {
    this.#waiting.push(item);
  }

  /** Takes the item that may start now; undefined where none is left or all slots are taken. */
  next(): Item | undefined {
    if (this.#running >= this.#concurrency) return undefined;
    const item = this.#waiting.shift();
    if (item !== undefined) this.#running += 1;
    return item;
  }

  /** Gives back the slot of an item that has ended. */
  ended(_item: Item): void {
    this.#running -= 1;
  }

  /** Forgets what has not started yet. */
  clear(): void {
    this.#waiting.clear();
  }

  get idle(): boolean {
    return this.#running === 0;
  }
}
