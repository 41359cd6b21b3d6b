import type { Job } from "./sender.ts";

/** What may be in flight at once. */
export interface DeliveryLimits {
  /** Attempts. */
  perEndpoint: number;
  /** Attempts. */
  perProcess: number;
  /** Bytes of the bodies of all events with claimed deliveries; an event that is larger than that goes alone. */
  bodyBytes: number;
}

/** What this process knows of one endpoint's queue. */
export interface EndpointQueue {
  readonly endpointId: string;
  readonly environment: number;
  /** True while deliveries are believed to be due. */
  ready: boolean;
  /** Since when the first of them has been due, as far as is known, in real time. */
  due: number;
  /** True if its next delivery waits until the body of another can be dropped from memory. */
  starved: boolean;
  /** Attempts in flight. */
  open: number;
  /** Bytes of the bodies of its claimed deliveries. */
  bytes: number;
  /** Attempts that have ended since the last claim: how fast the endpoint is. */
  ended: number;
  /** Claimed and not begun, the next one first. */
  readonly ahead: Job[];
}

/**
 * Endpoints together get this many more than they have slots for, at most: a few large claims cost far less than many
 * small ones. Where there are many endpoints, their slots alone make large claims.
 */
const MAX_AHEAD = 64;

/** The endpoints that deliveries wait for, and who may begin how many attempts. */
export class EndpointQueues {
  readonly #limits: DeliveryLimits;
  readonly #queues = new Map<string, EndpointQueue>();

  constructor(limits: DeliveryLimits) {
    this.#limits = limits;
  }

  /** Takes the endpoints whose deliveries are due for all that are. */
  update(due: readonly { endpointId: string; environment: number; due: number }[]): void {
    for (const queue of this.#queues.values()) queue.ready = false;
    for (const { endpointId, environment, due: since } of due) {
      const queue = this.#queues.get(endpointId);
      if (queue !== undefined) Object.assign(queue, { ready: true, starved: false, due: since });
      else {
        const idle = { starved: false, open: 0, bytes: 0, ended: 0, ahead: [] };
        this.#queues.set(endpointId, { endpointId, environment, ready: true, due: since, ...idle });
      }
    }
    for (const [id, { ready, open, ahead }] of this.#queues) {
      if (!ready && open === 0 && ahead.length === 0) this.#queues.delete(id);
    }
  }

  all(): Iterable<EndpointQueue> {
    return this.#queues.values();
  }

  /** The queue of an endpoint for which something was claimed. */
  of(endpointId: string): EndpointQueue {
    const queue = this.#queues.get(endpointId);
    if (queue === undefined) throw new Error(`Nothing was claimed for ${endpointId}.`);
    return queue;
  }

  /** To be called when the body of an event was dropped: there may be room for another. */
  bodyDropped(): void {
    for (const queue of this.#queues.values()) queue.starved = false;
  }

  /** Endpoints that are not being served come first; of these, and of the rest, whoever waits longest. */
  ready(): EndpointQueue[] {
    const ready = [...this.#queues.values()].filter((queue) => queue.ready);
    return ready.sort((a, b) => Number(a.open > 0) - Number(b.open > 0) || a.due - b.due);
  }

  canClaim(free: number): boolean {
    for (const queue of this.#queues.values()) if (queue.ready && this.wantedBy(queue, free) > 0) return true;
    return false;
  }

  /**
   * How many more attempts an endpoint may begin, of the free ones. What it has in flight is bound by twice what it
   * leaves to others: however many endpoints hang, those that do not still find some free.
   */
  slotsFor(queue: EndpointQueue, free: number): number {
    const share = Math.ceil((free - 2 * queue.open) / 3);
    return Math.max(0, Math.min(this.#limits.perEndpoint - queue.open, share, free));
  }

  /** How many deliveries to claim for an endpoint: for its slots, and for those that will soon be free. */
  wantedBy(queue: EndpointQueue, free: number): number {
    if (queue.starved) return 0;
    const wanted = this.slotsFor(queue, free) + Math.min(queue.ended, Math.floor(MAX_AHEAD / this.#queues.size));
    // What is there lasts for a while.
    return queue.ahead.length * 2 >= wanted ? 0 : wanted - queue.ahead.length;
  }
}
