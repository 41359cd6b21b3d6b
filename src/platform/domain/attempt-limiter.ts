import { parseAddress } from "./addresses.ts";

/** Names kept before those that are full again are forgotten, and the oldest where none is. */
const NAMES_KEPT = 10_000;

/** So many attempts at once, and one more each time that many seconds have passed. */
export interface AttemptLimits {
  burst: number;
  refillSeconds: number;
}

interface Bucket {
  attempts: number;
  /** When `attempts` was true. */
  at: number;
}

/** A token bucket a name: so many attempts at once, and one more each time that many seconds have passed. */
export class AttemptLimiter {
  private readonly now: () => number;
  private readonly burst: number;
  private readonly refillMs: number;
  private readonly buckets = new Map<string, Bucket>();

  constructor(now: () => number, limits: AttemptLimits) {
    this.now = now;
    this.burst = limits.burst;
    this.refillMs = limits.refillSeconds * 1000;
  }

  /** Takes an attempt and answers 0, or answers the seconds until there is one. */
  take(name: string): number {
    const attempts = this.attemptsOf(name);
    if (attempts < 1) return Math.ceil(((1 - attempts) * this.refillMs) / 1000);
    this.keep(name, attempts - 1);
    return 0;
  }

  /** Returns an attempt that turned out to be none. */
  giveBack(name: string): void {
    this.keep(name, Math.min(this.burst, this.attemptsOf(name) + 1));
  }

  /** How many are left, fractions included. */
  left(name: string): number {
    return this.attemptsOf(name);
  }

  private attemptsOf(name: string): number {
    const bucket = this.buckets.get(name);
    if (bucket === undefined) return this.burst;
    return Math.min(this.burst, bucket.attempts + Math.max(0, this.now() - bucket.at) / this.refillMs);
  }

  private keep(name: string, attempts: number): void {
    if (this.buckets.size >= NAMES_KEPT && !this.buckets.has(name)) this.forget();
    this.buckets.set(name, { attempts, at: this.now() });
  }

  private forget(): void {
    for (const name of this.buckets.keys()) if (this.attemptsOf(name) >= this.burst) this.buckets.delete(name);
    if (this.buckets.size < NAMES_KEPT) return;
    const [oldest] = this.buckets.keys();
    this.buckets.delete(oldest!);
  }
}

/** What counts as one address: IPv4 whole, of IPv6 the network, since each customer has one of those. */
export function addressName(address: string | undefined): string {
  const parsed = parseAddress(address ?? "");
  if (parsed === undefined) return "unknown";
  return parsed.family === 4 ? parsed.value.toString(16) : `${(parsed.value >> 64n).toString(16)}/64`;
}
