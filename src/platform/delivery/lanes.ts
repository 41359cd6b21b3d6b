/** How many attempts may be under way at once. */
export interface DeliveryLimits {
  perEndpoint: number;
  perProcess: number;
}

/** What this process knows of one endpoint's queue. */
export interface Lane {
  readonly endpointId: string;
  readonly environment: number;
  /** True while deliveries are believed to be due. */
  ready: boolean;
  /** Since when the first of them has been due, as far as is known, in real time. */
  due: number;
  /** Attempts under way. */
  open: number;
}

/** An endpoint that has attempts under way is given this many slots or none: claiming costs as much for one. */
const CLAIM_LEAST = 4;

/** The endpoints that deliveries wait for, and who may begin how many attempts. */
export class Lanes {
  private readonly limits: DeliveryLimits;
  private readonly lanes = new Map<string, Lane>();

  constructor(limits: DeliveryLimits) {
    this.limits = limits;
  }

  /** Takes the endpoints whose deliveries are due for all that are. */
  update(due: readonly { endpointId: string; environment: number; due: number }[]): void {
    for (const lane of this.lanes.values()) lane.ready = false;
    for (const { endpointId, environment, due: since } of due) {
      const lane = this.lanes.get(endpointId);
      if (lane === undefined) this.lanes.set(endpointId, { endpointId, environment, ready: true, due: since, open: 0 });
      else Object.assign(lane, { ready: true, due: since });
    }
    for (const [id, lane] of this.lanes) if (!lane.ready && lane.open === 0) this.lanes.delete(id);
  }

  /** Endpoints that are not being served come first; of these, and of the rest, whoever waits longest. */
  ready(): Lane[] {
    const ready = [...this.lanes.values()].filter((lane) => lane.ready);
    return ready.sort((a, b) => Number(a.open > 0) - Number(b.open > 0) || a.due - b.due);
  }

  canClaim(free: number): boolean {
    for (const lane of this.lanes.values()) if (lane.ready && this.slotsFor(lane, free) > 0) return true;
    return false;
  }

  /**
   * How many more attempts an endpoint may begin, of the free ones. What it has under way is bound by twice what it
   * leaves to others: however many endpoints hang, those that do not still find some free.
   */
  slotsFor(lane: Lane, free: number): number {
    const share = Math.ceil((free - 2 * lane.open) / 3);
    const slots = Math.min(this.limits.perEndpoint - lane.open, share, free);
    return slots < CLAIM_LEAST && lane.open > 0 ? 0 : Math.max(0, slots);
  }

  /** Counts an attempt as begun; call what it answers when the attempt has ended. */
  begin(endpointId: string): () => void {
    const lane = this.lanes.get(endpointId);
    if (lane === undefined) throw new Error(`Nothing was claimed for ${endpointId}.`);
    lane.open += 1;
    return () => {
      lane.open -= 1;
    };
  }
}
