import { Queue } from "./queue.ts";

/**
 * Decides what starts next: first come, first served, at most `concurrency` at once. Items of one partition run one at a
 * time, in order; partitions do not wait for each other, and an item without one waits for none.
 */
export class Schedule<Item> {
  readonly #concurrency: number;
  readonly #partitionOf: ((item: Item) => string | undefined) | undefined;
  readonly #ready = new Queue<Item>();
  /** Busy partitions, with the items that wait in each. */
  readonly #partitions = new Map<string, Queue<Item>>();
  /** The items that have started and not ended. */
  readonly running = new Set<Item>();

  constructor(concurrency: number, partitionOf?: (item: Item) => string | undefined) {
    this.#concurrency = concurrency;
    this.#partitionOf = partitionOf;
  }

  add(item: Item): void {
    const partition = this.#partitionOf?.(item);
    if (partition === undefined) return this.#ready.push(item);
    const waiting = this.#partitions.get(partition);
    if (waiting !== undefined) return waiting.push(item);
    this.#partitions.set(partition, new Queue());
    this.#ready.push(item);
  }

  /** Takes the item that may start now; undefined if there is none, or no free slot. */
  next(): Item | undefined {
    if (this.running.size >= this.#concurrency) return undefined;
    const item = this.#ready.shift();
    if (item !== undefined) this.running.add(item);
    return item;
  }

  /** Releases the slot and the partition of an item that has ended. */
  ended(item: Item): void {
    this.running.delete(item);
    this.release(item);
  }

  release(item: Item): void {
    const partition = this.#partitionOf?.(item);
    if (partition === undefined) return;
    const next = this.#partitions.get(partition)?.shift();
    if (next === undefined) this.#partitions.delete(partition);
    else this.#ready.push(next);
  }

  /** Releases the slot of a running item, which keeps its partition until it is resumed and has ended. */
  suspend(item: Item): void {
    this.running.delete(item);
  }

  /** Queues a suspended item for a slot. */
  resume(item: Item): void {
    this.#ready.push(item);
  }

  /** Removes and returns the items that have not started, besides suspended ones. */
  drain(): Item[] {
    const items: Item[] = [];
    for (let item = this.#ready.shift(); item !== undefined; item = this.#ready.shift()) {
      items.push(item);
      this.release(item);
    }
    for (const waiting of this.#partitions.values()) {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) items.push(item);
    }
    return items;
  }

  /** Removes items that have not started. */
  clear(): void {
    this.#ready.clear();
    this.#partitions.clear();
  }

  get idle(): boolean {
    return this.running.size === 0;
  }
}
