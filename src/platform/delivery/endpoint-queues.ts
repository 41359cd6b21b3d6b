import { LIMITS } from "../../contract/limits.ts";
import type { Job } from "./sender.ts";

export interface DeliveryLimits {
  /** Attempts at one endpoint. */
  perEndpoint: number;
  /** Attempts of the worker, and of each advance of a test clock if the others leave no more. */
  perProcess: number;
  /** Attempts of all advances of test clocks. */
  allAdvances: number;
  /** Size of the bodies of all events with claimed deliveries, in bytes. An event larger than that is sent alone. */
  bodyBytes: number;
}

/** The state of one endpoint's queue in this process. */
export interface EndpointQueue {
  readonly endpointId: string;
  /** Changes when its sandbox is reset. */
  environment: number;
  /** True while deliveries are believed to be due. */
  ready: boolean;
  /** When the first of them became due, as far as known, in real time. */
  due: number;
  /** True if its next delivery waits until the body of another can be dropped from memory. */
  starved: boolean;
  /** Attempts in flight. */
  open: number;
  /** Size of the bodies of its claimed deliveries, in bytes. */
  bytes: number;
  /** Attempts that have finished since the last claim, a measure of the endpoint's speed. */
  ended: number;
  /** Claimed deliveries whose attempts have not started, in order. */
  readonly ahead: Job[];
}

/** Endpoints together get at most this many more than they have slots for. */
const MAX_AHEAD = 256;
/** With many endpoints, some of them get this many and others none: a few large claims cost less than many small ones. */
const MIN_SHARE_AHEAD = 16;
/** Deliveries that wait too long for their endpoint's slots are released, so a claim grows with them. */
const MAX_AHEAD_PER_SLOT = 16;

/** The part of a process's slots that is kept for endpoints whose last attempt was fast. */
const KEPT_SHARE = 1 / 8;

/** The endpoints with waiting deliveries, and how many attempts each may begin. */
export class EndpointQueues {
  readonly #limits: DeliveryLimits;
  readonly #queues = new Map<string, EndpointQueue>();
  /** What the last attempt at an endpoint took, as a part of the time limit, while deliveries to it wait or run. */
  readonly #slowness = new Map<string, number>();

  constructor(limits: DeliveryLimits) {
    this.#limits = limits;
  }

  /** Replaces the set of endpoints with due deliveries. `waiting` has all endpoints with deliveries, due or not. */
  update(due: readonly { endpointId: string; environment: number; due: number }[], waiting: ReadonlySet<string>): void {
    for (const queue of this.#queues.values()) queue.ready = false;
    for (const { endpointId, environment, due: since } of due) {
      const queue = this.#queues.get(endpointId);
      if (queue !== undefined) Object.assign(queue, { environment, ready: true, starved: false, due: since });
      else {
        const idle = { starved: false, open: 0, bytes: 0, ended: 0, ahead: [] };
        this.#queues.set(endpointId, { endpointId, environment, ready: true, due: since, ...idle });
      }
    }
    for (const [id, { ready, open, ahead }] of this.#queues) {
      if (!ready && open === 0 && ahead.length === 0) this.#queues.delete(id);
    }
    for (const id of this.#slowness.keys()) {
      if (!waiting.has(id) && !this.#queues.has(id)) this.#slowness.delete(id);
    }
  }

  attemptEnded(queue: EndpointQueue, durationMs: number): void {
    queue.ended += 1;
    this.#slowness.set(queue.endpointId, Math.min(1, durationMs / (LIMITS.deliverySeconds * 1000)));
  }

  all(): Iterable<EndpointQueue> {
    return this.#queues.values();
  }

  /** Returns the queue of an endpoint for which deliveries were claimed. */
  of(endpointId: string): EndpointQueue {
    const queue = this.#queues.get(endpointId);
    if (queue === undefined) throw new Error(`Nothing was claimed for ${endpointId}.`);
    return queue;
  }

  /** Call this after dropping the body of an event: there may be room for another. */
  bodyDropped(): void {
    for (const queue of this.#queues.values()) queue.starved = false;
  }

  /** Endpoints that are not being served come first, then the rest, each by longest wait. */
  ready(): EndpointQueue[] {
    const ready = [...this.#queues.values()].filter((queue) => queue.ready);
    return ready.sort((a, b) => Number(a.open > 0) - Number(b.open > 0) || a.due - b.due);
  }

  canClaim(free: number): boolean {
    const ahead = this.freeAhead();
    for (const queue of this.#queues.values()) if (queue.ready && this.claimable(queue, free, ahead) > 0) return true;
    return false;
  }

  /** Returns how many more may be claimed than there are slots for. */
  freeAhead(): number {
    let free = MAX_AHEAD;
    for (const { ahead } of this.#queues.values()) free -= ahead.length;
    return Math.max(0, free);
  }

  /**
   * Returns how many of the free attempts an endpoint may begin. The slower its last attempt was, the more of the kept
   * slots it leaves free, so that endpoints that respond find some however many endpoints hang. What it has in flight is
   * at most half of the rest.
   */
  slotsFor(queue: EndpointQueue, free: number): number {
    const slowness = this.#slowness.get(queue.endpointId) ?? 0;
    const available = free - Math.round(slowness * KEPT_SHARE * this.#limits.perProcess);
    const share = Math.ceil((available - 2 * queue.open) / 3);
    return Math.max(0, Math.min(this.#limits.perEndpoint - queue.open, share));
  }

  /** Returns how many deliveries to claim for an endpoint: for its slots, and for those that will soon be free. */
  claimable(queue: EndpointQueue, free: number, freeAhead: number): number {
    if (queue.starved) return 0;
    const slots = this.slotsFor(queue, free);
    const share = Math.max(MIN_SHARE_AHEAD, Math.floor(MAX_AHEAD / this.#queues.size));
    const begunSoon = MAX_AHEAD_PER_SLOT * (queue.open + slots);
    const needed = slots + Math.min(queue.ended, share, queue.ahead.length + freeAhead, begunSoon);
    // The claimed deliveries last for a while.
    return queue.ahead.length * 2 >= needed ? 0 : needed - queue.ahead.length;
  }
}
