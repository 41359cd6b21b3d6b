/** Decides what starts next: first come, first served, at most `concurrency` at once. */
export class Schedule<Item> {
  readonly #concurrency: number;
  readonly #waiting: Item[] = [];
  readonly #running = new Set<Item>();

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  add(item: Item): void {
    this.#waiting.push(item);
  }

  /** Takes the item that may start now; undefined where none is left or all slots are taken. */
  next(): Item | undefined {
    if (this.#running.size >= this.#concurrency) return undefined;
    const item = this.#waiting.shift();
    if (item !== undefined) this.#running.add(item);
    return item;
  }

  /** Gives back the slot of an item that has ended. */
  ended(item: Item): void {
    this.#running.delete(item);
  }

  /** Forgets what has not started yet. */
  clear(): void {
    this.#waiting.length = 0;
  }

  get idle(): boolean {
    return this.#running.size === 0;
  }
}
