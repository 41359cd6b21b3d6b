/** Each bucket reaches 2 % further than the one before. */
const GROWTH = Math.log(1.02);
const SMALLEST_MS = 0.01;
/** Reach an hour: slower answers count as that. */
const BUCKETS = 1000;

/** Percentiles of durations, within 1 %, in memory that does not grow with their number. */
export class LatencyHistogram {
  readonly #buckets = new Float64Array(BUCKETS);
  #count = 0;

  add(milliseconds: number): void {
    const bucket = Math.ceil(Math.log(Math.max(milliseconds, SMALLEST_MS) / SMALLEST_MS) / GROWTH);
    this.#buckets[Math.min(bucket, BUCKETS - 1)]! += 1;
    this.#count += 1;
  }

  /** The duration in milliseconds that this fraction (0 to 1) of all stays within; undefined while there is none. */
  percentile(fraction: number): number | undefined {
    if (this.#count === 0) return undefined;
    const rank = Math.max(1, Math.ceil(fraction * this.#count));
    let seen = 0;
    let bucket = 0;
    while ((seen += this.#buckets[bucket]!) < rank) bucket += 1;
    return SMALLEST_MS * Math.exp((bucket - 0.5) * GROWTH);
  }
}
