import type { Transaction } from "../storage/database.ts";
import type { QueuedDelivery } from "../storage/delivery-queue.ts";
import { readEventBodies } from "../storage/events.ts";

/**
 * Holds the bodies of the events that this process is delivering: one buffer for all deliveries of an event, and a
 * limit on the total size, so that large events with slow endpoints cannot fill the memory.
 */
export class EventBodies {
  readonly #maxBytes: number;
  readonly #bodies = new Map<string, { body: Buffer; uses: number }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get free(): number {
    return this.#maxBytes - this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#bodies.size === 0;
  }

  get(eventId: string): Buffer | undefined {
    return this.#bodies.get(eventId)?.body;
  }

  /** Retains the body until `release` has been called equally often. Returns the buffer to use. */
  retain(eventId: string, body: Buffer): Buffer {
    const existing = this.#bodies.get(eventId);
    if (existing !== undefined) {
      existing.uses += 1;
      return existing.body;
    }
    this.#bodies.set(eventId, { body, uses: 1 });
    this.#bytes += body.length;
    return body;
  }

  release(eventId: string): void {
    const existing = this.#bodies.get(eventId);
    if (existing === undefined) throw new Error(`The body of ${eventId} is not retained.`);
    existing.uses -= 1;
    if (existing.uses > 0) return;
    this.#bodies.delete(eventId);
    this.#bytes -= existing.body.length;
  }
}

/** The bodies that one transaction claims. They count against the limit permanently once its deliveries retain them. */
export class BodyClaim {
  readonly #bodies: EventBodies;
  readonly #isFirstFree: boolean;
  readonly #admitted = new Set<string>();
  /** The pending read of each event, which may serve several endpoints. */
  readonly #reads = new Map<string, ReturnType<typeof readEventBodies>>();
  #bytes = 0;

  /** With `isFirstFree` the first body is always admitted, so that its claimant makes progress. */
  constructor(bodies: EventBodies, isFirstFree: boolean) {
    this.#bodies = bodies;
    this.#isFirstFree = isFirstFree || bodies.isEmpty;
  }

  /**
   * Returns whether the delivery's body may be held as well. As with slots, an endpoint gets what leaves twice as much
   * to others, so that large bodies for endpoints that hang leave room for those of endpoints that do not.
   */
  admit({ event_id: eventId, body_bytes: bytes }: QueuedDelivery, bytesOfEndpoint: number): boolean {
    if (this.#admitted.has(eventId) || this.#bodies.get(eventId) !== undefined) return true;
    const size = bytes ?? 0;
    const free = this.#bodies.free - this.#bytes;
    const isFirst = this.#isFirstFree && this.#admitted.size === 0;
    if (!isFirst && size > (free - 2 * bytesOfEndpoint) / 3) return false;
    this.#admitted.add(eventId);
    this.#bytes += size;
    return true;
  }

  /** Returns the body of each event that still exists, read once for all endpoints; undefined for a damaged one. */
  async read(tx: Transaction, environment: number, eventIds: readonly string[]) {
    const ids = new Set(eventIds);
    const bodies = new Map<string, Buffer | undefined>();
    // Retained before any await: it could be released meanwhile.
    for (const id of ids) {
      const existing = this.#bodies.get(id);
      if (existing !== undefined) bodies.set(id, existing);
    }
    const missing = [...ids].filter((id) => !bodies.has(id) && !this.#reads.has(id));
    if (missing.length > 0) {
      const found = readEventBodies(tx, environment, missing);
      // If the transaction fails, claims that wait for the read reject, but all of them may have rejected before.
      found.catch(() => {});
      for (const id of missing) this.#reads.set(id, found);
    }
    for (const id of ids) {
      const found = await this.#reads.get(id);
      if (!bodies.has(id) && found?.has(id)) bodies.set(id, found.get(id));
    }
    return bodies;
  }
}
