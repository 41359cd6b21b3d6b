import { LIMITS } from "../../contract/limits.ts";

/** More bytes than this are sent only once some are acknowledged: the client keeps what it has not forwarded yet. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * How many events a client may have unacknowledged. It follows the measured round trip: those that travel, those that
 * are being forwarded, and some that wait at the client, so that it never waits for the platform.
 */
export class Window {
  readonly #max: number;
  readonly #now: () => number;
  #size: number;
  #bytes = 0;
  #events = 0;
  /** The first event sent after the last measurement. */
  #first: { seq: number; sentAt: number } | undefined;
  /** Acknowledged since that event was sent: how many, and how many milliseconds their forwards took together. */
  #acknowledged = 0;
  #forwarding = 0;
  /** The shortest round trip without the forward. */
  #leastTravel = Infinity;

  /** With the maximum that the client asks for, and a monotonic clock in milliseconds. */
  constructor(max: number, now: () => number) {
    this.#max = max;
    this.#now = now;
    this.#size = Math.min(LIMITS.minListenWindow, max);
  }

  /** How many more events may be sent. Zero, too, as long as there is only room for a small part of the window. */
  get room(): number {
    if (this.#bytes >= MAX_BYTES) return 0;
    const room = this.#size - this.#events;
    // Otherwise a read would follow every acknowledgement.
    return this.#events > 0 && room < Math.min(LIMITS.minListenWindow / 2, this.#size / 4) ? 0 : room;
  }

  sent(seq: number, bytes: number): void {
    this.#events += 1;
    this.#bytes += bytes;
    if (this.#first === undefined) {
      this.#first = { seq, sentAt: this.#now() };
      this.#acknowledged = 0;
      this.#forwarding = 0;
    }
  }

  /** Records that an event was acknowledged, and how long its forward took. */
  acknowledged(seq: number, bytes: number, milliseconds: number): void {
    this.#events -= 1;
    this.#bytes -= bytes;
    this.#acknowledged += 1;
    this.#forwarding += milliseconds;
    if (this.#first !== undefined && seq >= this.#first.seq)
      this.#measure(this.#now() - this.#first.sentAt, milliseconds);
  }

  #measure(roundTrip: number, forward: number): void {
    this.#leastTravel = Math.min(this.#leastTravel, Math.max(0, roundTrip - forward));
    const needed = (this.#acknowledged * this.#leastTravel + this.#forwarding) / Math.max(1, roundTrip);
    this.#size = Math.min(this.#max, LIMITS.minListenWindow + Math.ceil(needed));
    this.#first = undefined;
  }
}
