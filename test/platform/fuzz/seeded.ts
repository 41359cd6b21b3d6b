/** Random choices that repeat for the same seed. */
export class Seeded {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** Returns a number in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns an integer from `min` to `max`, inclusive. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.integer(0, items.length - 1)]!;
  }

  /** Returns some of the items in their order, at least one unless there are none. */
  some<Item>(items: readonly Item[]): Item[] {
    const chosen = items.filter(() => this.chance(0.4));
    return chosen.length > 0 || items.length === 0 ? chosen : [this.pick(items)];
  }

  text(length: number, alphabet: readonly string[]): string {
    return Array.from({ length }, () => this.pick(alphabet)).join("");
  }
}
