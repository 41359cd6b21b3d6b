import type { Job } from "./courier.ts";

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
export interface Lane {
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
const AHEAD_MOST = 64;

/** The endpoints that deliveries wait for, and who may begin how many attempts. */
export class Lanes {
  readonly #limits: DeliveryLimits;
  readonly #lanes = new Map<string, Lane>();

  constructor(limits: DeliveryLimits) {
    this.#limits = limits;
  }

  /** Takes the endpoints whose deliveries are due for all that are. */
  update(due: readonly { endpointId: string; environment: number; due: number }[]): void {
    for (const lane of this.#lanes.values()) lane.ready = false;
    for (const { endpointId, environment, due: since } of due) {
      const lane = this.#lanes.get(endpointId);
      if (lane !== undefined) Object.assign(lane, { ready: true, starved: false, due: since });
      else {
        const idle = { starved: false, open: 0, bytes: 0, ended: 0, ahead: [] };
        this.#lanes.set(endpointId, { endpointId, environment, ready: true, due: since, ...idle });
      }
    }
    for (const [id, { ready, open, ahead }] of this.#lanes) {
      if (!ready && open === 0 && ahead.length === 0) this.#lanes.delete(id);
    }
  }

  all(): Iterable<Lane> {
    return this.#lanes.values();
  }

  /** The lane of an endpoint for which something was claimed. */
  of(endpointId: string): Lane {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined) throw new Error(`Nothing was claimed for ${endpointId}.`);
    return lane;
  }

  /** To be called when the body of an event was dropped: there may be room for another. */
  bodyDropped(): void {
    for (const lane of this.#lanes.values()) lane.starved = false;
  }

  /** Endpoints that are not being served come first; of these, and of the rest, whoever waits longest. */
  ready(): Lane[] {
    const ready = [...this.#lanes.values()].filter((lane) => lane.ready);
    return ready.sort((a, b) => Number(a.open > 0) - Number(b.open > 0) || a.due - b.due);
  }

  canClaim(free: number): boolean {
    for (const lane of this.#lanes.values()) if (lane.ready && this.wantedBy(lane, free) > 0) return true;
    return false;
  }

  /**
   * How many more attempts an endpoint may begin, of the free ones. What it has under way is bound by twice what it
   * leaves to others: however many endpoints hang, those that do not still find some free.
   */
  slotsFor(lane: Lane, free: number): number {
    const share = Math.ceil((free - 2 * lane.open) / 3);
    return Math.max(0, Math.min(this.#limits.perEndpoint - lane.open, share, free));
  }

  /** How many deliveries to claim for an endpoint: for its slots, and for those that will soon be free. */
  wantedBy(lane: Lane, free: number): number {
    if (lane.starved) return 0;
    const wanted = this.slotsFor(lane, free) + Math.min(lane.ended, Math.floor(AHEAD_MOST / this.#lanes.size));
    // What is there lasts for a while.
    return lane.ahead.length * 2 >= wanted ? 0 : wanted - lane.ahead.length;
  }
}
