const FIRST_CAPACITY = 64;

/**
 * A first-in, first-out queue with constant cost. A ring instead of a shifted array: unused copies of the array would
 * keep all passed items alive until the next full garbage collection.
 */
export class Queue<Item> {
  #ring = emptyRing<Item>(FIRST_CAPACITY);
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: Item): void {
    if (this.#size === this.#ring.length) this.#grow();
    this.#ring[this.#slot(this.#size)] = item;
    this.#size += 1;
  }

  shift(): Item | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#ring[this.#first];
    this.#ring[this.#first] = undefined;
    this.#first = this.#slot(1);
    this.#size -= 1;
    return item;
  }

  /** Returns the item at an index, counted from the front; undefined if there is none. */
  at(index: number): Item | undefined {
    return index >= 0 && index < this.#size ? this.#ring[this.#slot(index)] : undefined;
  }

  clear(): void {
    this.#ring.fill(undefined);
    this.#size = 0;
  }

  /** The capacity is a power of two, so that a mask wraps around. */
  #slot(index: number): number {
    return (this.#first + index) & (this.#ring.length - 1);
  }

  #grow(): void {
    const ring = emptyRing<Item>(this.#ring.length * 2);
    for (let i = 0; i < this.#size; i += 1) ring[i] = this.#ring[this.#slot(i)];
    this.#ring = ring;
    this.#first = 0;
  }
}

function emptyRing<Item>(capacity: number): (Item | undefined)[] {
  return Array.from({ length: capacity }, () => undefined);
}
