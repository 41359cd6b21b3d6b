import { CHAOS_FAULTS, type ChaosFault, type ChaosSettings, type Forgery, isForgery } from "./chaos-settings.ts";
import type { Clock } from "../network/clock.ts";
import type { Delivery, RelayedEvent } from "./delivery.ts";

/** A dropped delivery is sent after this time; the platform itself would wait for half a minute. */
const REDELIVERY_MS = 2_000;
/** Maximum time that a delivery waits to be overtaken, or for its burst to fill. */
const MAX_HOLD_MS = 2_000;
const MAX_OVERTAKEN = 3;

/** How receivers responded to the deliveries with one fault. */
export interface FaultTally {
  /** Deliveries that ended. */
  sent: number;
  /** 2xx responses. */
  accepted: number;
  /** 4xx responses. */
  refused: number;
  /** Other responses, or none. */
  failed: number;
  /** How many had the correct outcome: forgeries rejected, everything else accepted. */
  right: number;
}

export interface ChaosSummary {
  /** The same seed repeats the run. */
  seed: number;
  faults: Partial<Record<ChaosFault, FaultTally>>;
}

/** Where deliveries enter a dispatcher: directly, or with injected faults. */
export interface Intake<Event extends RelayedEvent> {
  /** Accepts a delivery, which is released now or later, perhaps with copies. */
  admit(delivery: Delivery<Event>): void;
  /** Drops what has not been released. */
  clear(): void;
  /** Records the end of a released delivery, with or without a status. Returns the one that follows it. */
  ended(delivery: Delivery<Event>, status: number | undefined): Delivery<Event> | undefined | void;
  /** How receivers responded to injected faults. */
  readonly summary?: ChaosSummary | undefined;
}

interface Plan {
  /** Faults of the delivery itself. */
  faults: ChaosFault[];
  delayMs: number;
  overtakenBy: number;
  /** Copies that precede it. */
  forgeries: Forgery[];
  duplicate: "concurrent" | "after" | undefined;
}

interface Held<Event extends RelayedEvent> {
  delivery: Delivery<Event>;
  plan: Plan;
  /** How many later deliveries must pass first. */
  overtakenBy: number;
  cancel: () => void;
}

/** Injects the faults of networks and senders into deliveries. The faults of the n-th event depend on the seed alone. */
export class Chaos<Event extends RelayedEvent> implements Intake<Event> {
  readonly #settings: ChaosSettings;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #release: (delivery: Delivery<Event>) => void;
  readonly #timers = new Set<() => void>();
  readonly #tallies: Partial<Record<ChaosFault, FaultTally>> = {};
  #reordered: Held<Event>[] = [];
  #burst: { delivery: Delivery<Event>; plan: Plan }[] = [];
  #cancelBurst: (() => void) | undefined;

  constructor(settings: ChaosSettings, clock: Clock, release: (delivery: Delivery<Event>) => void) {
    this.#settings = settings;
    this.#clock = clock;
    this.#random = seededRandom(settings.seed);
    this.#release = release;
    for (const fault of CHAOS_FAULTS) {
      if (settings[fault] === undefined || settings[fault] === 0) continue;
      this.#tallies[fault] = { sent: 0, accepted: 0, refused: 0, failed: 0, right: 0 };
    }
  }

  admit(delivery: Delivery<Event>): void {
    const plan = this.#plan();
    delivery.faults = plan.faults;
    if (plan.faults.includes("drop")) {
      delivery.attempt += 1;
      delivery.injected = { faults: ["drop"], open: 0 };
    }
    if (plan.delayMs === 0) return this.#order(delivery, plan);
    this.#after(plan.delayMs, () => this.#order(delivery, plan));
  }

  clear(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#reordered = [];
    this.#burst = [];
  }

  ended(
    { faults, follower, copy, injected }: Delivery<Event>,
    status: number | undefined,
  ): Delivery<Event> | undefined {
    if (injected !== undefined && copy !== undefined) {
      injected.faults.push(`${copy} ${status ?? "without a response"}`);
      injected.open -= 1;
    }
    const outcome = outcomeOf(status);
    for (const fault of faults) {
      const counts = this.#tallies[fault];
      if (counts === undefined) continue;
      counts.sent += 1;
      counts[outcome] += 1;
      if (outcome === (isForgery(fault) ? "refused" : "accepted")) counts.right += 1;
    }
    return follower;
  }

  get summary(): ChaosSummary {
    return { seed: this.#settings.seed, faults: this.#tallies };
  }

  /** Draws the same count of numbers for every event, so that the settings of one fault do not change the others. */
  #plan(): Plan {
    const { duplicate, reorder, delay, drop, badsig, stale, burst } = this.#settings;
    const [isDuplicate, isConcurrent, isReordered, passing, wait, isDropped, isBadsig, isStale] = Array.from(
      { length: 8 },
      this.#random,
    ) as [number, number, number, number, number, number, number, number];
    const plan: Plan = { faults: [], delayMs: 0, overtakenBy: 0, forgeries: [], duplicate: undefined };
    if (isDropped < drop) {
      plan.faults.push("drop");
      plan.delayMs = REDELIVERY_MS;
    }
    if (delay !== undefined) {
      plan.faults.push("delay");
      plan.delayMs += Math.round(delay.min + wait * (delay.max - delay.min));
    }
    if (isReordered < reorder) {
      plan.faults.push("reorder");
      plan.overtakenBy = 1 + Math.floor(passing * MAX_OVERTAKEN);
    }
    if (burst !== undefined) plan.faults.push("burst");
    if (isBadsig < badsig) plan.forgeries.push("badsig");
    if (isStale < stale) plan.forgeries.push("stale");
    if (isDuplicate < duplicate) plan.duplicate = isConcurrent < 0.5 ? "concurrent" : "after";
    return plan;
  }

  #order(delivery: Delivery<Event>, plan: Plan): void {
    if (plan.overtakenBy > 0) return this.#holdBack(delivery, plan);
    this.#gather(delivery, plan);
    const passed = this.#reordered.filter((held) => (held.overtakenBy -= 1) === 0);
    for (const held of passed) this.#sendHeld(held);
  }

  #holdBack(delivery: Delivery<Event>, plan: Plan): void {
    const held = { delivery, plan, overtakenBy: plan.overtakenBy, cancel: () => {} };
    held.cancel = this.#after(MAX_HOLD_MS, () => this.#sendHeld(held));
    this.#reordered.push(held);
  }

  #sendHeld(held: Held<Event>): void {
    held.cancel();
    this.#reordered = this.#reordered.filter((other) => other !== held);
    this.#gather(held.delivery, held.plan);
  }

  #gather(delivery: Delivery<Event>, plan: Plan): void {
    const { burst } = this.#settings;
    if (burst === undefined) return this.#send(delivery, plan);
    const size = this.#burst.push({ delivery, plan });
    if (size === 1) this.#cancelBurst = this.#after(MAX_HOLD_MS, () => this.#sendBurst());
    if (size >= burst) this.#sendBurst();
  }

  #sendBurst(): void {
    this.#cancelBurst?.();
    const burst = this.#burst;
    this.#burst = [];
    for (const { delivery, plan } of burst) this.#send(delivery, plan);
  }

  #send(delivery: Delivery<Event>, { forgeries, duplicate }: Plan): void {
    const copies = forgeries.length + Number(duplicate !== undefined);
    if (copies > 0) delivery.injected = { faults: delivery.injected?.faults ?? [], open: copies };
    for (const copy of forgeries) this.#release({ ...delivery, faults: [copy], copy });
    const again: Delivery<Event> = {
      ...delivery,
      attempt: delivery.attempt + 1,
      faults: ["duplicate"],
      copy: "duplicate",
    };
    if (duplicate === "after") delivery.follower = again;
    this.#release(delivery);
    if (duplicate === "concurrent") this.#release(again);
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

function outcomeOf(status: number | undefined): "accepted" | "refused" | "failed" {
  if (status === undefined) return "failed";
  if (status >= 200 && status < 300) return "accepted";
  return status >= 400 && status < 500 ? "refused" : "failed";
}

/** Returns a generator of numbers in [0, 1) determined by a seed (mulberry32): fit for choosing faults, not for secrets. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
