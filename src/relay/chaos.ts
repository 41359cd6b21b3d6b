import type { ChaosFault, ChaosSettings } from "./chaos-settings.ts";
import type { Delivery, RelayedEvent } from "./delivery.ts";
import type { Clock, Random } from "./ports.ts";
import { seededRandom } from "./seeded-random.ts";

/** A dropped delivery comes again after it; the platform itself would wait half a minute. */
const REDELIVERY_MS = 2_000;
/** The longest that a delivery waits to be overtaken, or for its burst to fill. */
const HOLD_MS = 2_000;
const OVERTAKEN_MOST = 3;

interface Plan {
  /** What the delivery itself goes through. */
  faults: ChaosFault[];
  delayMs: number;
  overtakenBy: number;
  /** Copies that precede it. */
  forgeries: ("badsig" | "stale")[];
  twice: "at once" | "in turn" | undefined;
}

interface Held<Event extends RelayedEvent> {
  delivery: Delivery<Event>;
  plan: Plan;
  /** How many later deliveries are to pass first. */
  overtakenBy: number;
  cancel: () => void;
}

/**
 * Does to deliveries what networks and senders do, more often than they do it. What happens to the n-th event depends on
 * the seed alone.
 */
export class Chaos<Event extends RelayedEvent> {
  readonly #settings: ChaosSettings;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #release: (delivery: Delivery<Event>) => void;
  readonly #timers = new Set<() => void>();
  #reordered: Held<Event>[] = [];
  #burst: { delivery: Delivery<Event>; plan: Plan }[] = [];
  #cancelBurst: (() => void) | undefined;

  constructor(settings: ChaosSettings, clock: Clock, release: (delivery: Delivery<Event>) => void) {
    this.#settings = settings;
    this.#clock = clock;
    this.#random = seededRandom(settings.seed);
    this.#release = release;
  }

  /** Takes a delivery; it is released sooner or later, perhaps with copies. */
  admit(delivery: Delivery<Event>): void {
    const plan = this.#plan();
    delivery.faults = plan.faults;
    if (plan.faults.includes("drop")) delivery.attempt += 1;
    if (plan.delayMs === 0) return this.#order(delivery, plan);
    this.#after(plan.delayMs, () => this.#order(delivery, plan));
  }

  /** Forgets what is held back. */
  clear(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#reordered = [];
    this.#burst = [];
  }

  /** Draws the same count of numbers for every event, so that one fault's settings do not shift another's. */
  #plan(): Plan {
    const { duplicate, reorder, delay, drop, badsig, stale, burst } = this.#settings;
    const [isDuplicate, isAtOnce, isReordered, passing, wait, isDropped, isBadsig, isStale] = Array.from(
      { length: 8 },
      this.#random,
    ) as [number, number, number, number, number, number, number, number];
    const plan: Plan = { faults: [], delayMs: 0, overtakenBy: 0, forgeries: [], twice: undefined };
    if (isDropped < drop) {
      plan.faults.push("drop");
      plan.delayMs = REDELIVERY_MS;
    }
    if (delay !== undefined) {
      plan.faults.push("delay");
      plan.delayMs += Math.round(delay.least + wait * (delay.most - delay.least));
    }
    if (isReordered < reorder) {
      plan.faults.push("reorder");
      plan.overtakenBy = 1 + Math.floor(passing * OVERTAKEN_MOST);
    }
    if (burst !== undefined) plan.faults.push("burst");
    if (isBadsig < badsig) plan.forgeries.push("badsig");
    if (isStale < stale) plan.forgeries.push("stale");
    if (isDuplicate < duplicate) plan.twice = isAtOnce < 0.5 ? "at once" : "in turn";
    return plan;
  }

  #order(delivery: Delivery<Event>, plan: Plan): void {
    if (plan.overtakenBy > 0) return this.#holdBack(delivery, plan);
    this.#gather(delivery, plan);
    const passed = this.#reordered.filter((held) => (held.overtakenBy -= 1) === 0);
    for (const held of passed) this.#letGo(held);
  }

  #holdBack(delivery: Delivery<Event>, plan: Plan): void {
    const held = { delivery, plan, overtakenBy: plan.overtakenBy, cancel: () => {} };
    held.cancel = this.#after(HOLD_MS, () => this.#letGo(held));
    this.#reordered.push(held);
  }

  #letGo(held: Held<Event>): void {
    held.cancel();
    this.#reordered = this.#reordered.filter((other) => other !== held);
    this.#gather(held.delivery, held.plan);
  }

  #gather(delivery: Delivery<Event>, plan: Plan): void {
    const { burst } = this.#settings;
    if (burst === undefined) return this.#send(delivery, plan);
    const size = this.#burst.push({ delivery, plan });
    if (size === 1) this.#cancelBurst = this.#after(HOLD_MS, () => this.#sendBurst());
    if (size >= burst) this.#sendBurst();
  }

  #sendBurst(): void {
    this.#cancelBurst?.();
    const burst = this.#burst;
    this.#burst = [];
    for (const { delivery, plan } of burst) this.#send(delivery, plan);
  }

  #send(delivery: Delivery<Event>, { forgeries, twice }: Plan): void {
    for (const copy of forgeries) this.#release({ ...delivery, faults: [copy], copy });
    const again: Delivery<Event> = {
      ...delivery,
      attempt: delivery.attempt + 1,
      faults: ["duplicate"],
      copy: "duplicate",
    };
    if (twice === "in turn") delivery.follower = again;
    this.#release(delivery);
    if (twice === "at once") this.#release(again);
  }

  #after(milliseconds: number, callback: () => void): () => void {
    const cancel = this.#clock.after(milliseconds, () => {
      this.#timers.delete(cancel);
      callback();
    });
    this.#timers.add(cancel);
    return () => {
      cancel();
      this.#timers.delete(cancel);
    };
  }
}
