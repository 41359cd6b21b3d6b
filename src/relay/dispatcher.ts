import { LIMITS } from "../contract/limits.ts";
import { sign } from "../webhooks/index.ts";
import { Chaos } from "./chaos.ts";
import type { ChaosSettings } from "./chaos-settings.ts";
import type { Delivery, RelayedEvent } from "./delivery.ts";
import type { ForwardResult } from "./exchange.ts";
import { objectIdOf } from "./object-id.ts";
import type { Clock, Random } from "./ports.ts";
import { retryDelay } from "./retry-delay.ts";
import type { Router } from "./router.ts";
import { Schedule } from "./schedule.ts";

const FIRST_ATTEMPT = 1;
/** The longest that a receiver's `Retry-After` is obeyed. */
const RETRY_AFTER_MOST_MS = 60_000;
/** Older than any receiver may take. */
const STALE_SECONDS = 2 * LIMITS.signatureToleranceSeconds;

export interface DispatcherOptions<Event extends RelayedEvent> {
  router: Router;
  /** What deliveries are signed with. */
  secret: () => string;
  /** The most forwards at once. */
  concurrency: number;
  /** One event of an object at a time, in their order. */
  ordered: boolean;
  /** How often a failed forward is tried again. */
  retries: number;
  chaos: ChaosSettings | undefined;
  clock: Clock;
  random: Random;
  /** An attempt has ended; another follows after `retryInMs` where that is given. */
  attempted(delivery: Delivery<Event>, result: ForwardResult, retryInMs: number | undefined): void;
  /** An event waits for another attempt that will not be made. */
  abandoned(event: Event): void;
}

/** Brings events to their receivers: when, in which order, how often, signed how. */
export class Dispatcher<Event extends RelayedEvent> {
  readonly #options: DispatcherOptions<Event>;
  readonly #schedule: Schedule<Delivery<Event>>;
  readonly #chaos: Chaos<Event> | undefined;
  /** Deliveries that wait for their next attempt, with what calls that off. */
  readonly #retries = new Map<Delivery<Event>, () => void>();
  #paused = false;
  #whenIdle: (() => void) | undefined;

  constructor(options: DispatcherOptions<Event>) {
    const { concurrency, ordered, chaos, clock } = options;
    this.#options = options;
    this.#schedule = new Schedule(concurrency, ordered ? (delivery) => delivery.lane : undefined);
    this.#chaos = chaos === undefined ? undefined : new Chaos(chaos, clock, (delivery) => this.#enqueue(delivery));
  }

  /** Takes an event; false where no receiver wants it. */
  add(event: Event): boolean {
    const delivery = this.#deliveryOf(event);
    if (delivery === undefined) return false;
    if (this.#chaos === undefined) this.#enqueue(delivery);
    else this.#chaos.admit(delivery);
    return true;
  }

  /** Sends an event once more, by hand; false where no receiver wants it. */
  resend(event: Event): boolean {
    const delivery = this.#deliveryOf(event);
    if (delivery === undefined) return false;
    this.#enqueue({ ...delivery, attempt: FIRST_ATTEMPT + 1, copy: "resent" });
    return true;
  }

  /** Starts nothing more until `resume`. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#startNext();
  }

  /** Forgets what has not started, lets the rest end, then calls back. */
  windUp(whenIdle: () => void): void {
    this.#whenIdle = whenIdle;
    this.#chaos?.clear();
    this.#schedule.clear();
    for (const [{ event }, cancel] of this.#retries) {
      cancel();
      this.#options.abandoned(event);
    }
    this.#retries.clear();
    if (this.#schedule.idle) whenIdle();
  }

  #deliveryOf(event: Event): Delivery<Event> | undefined {
    const destination = this.#options.router.find(event.type);
    if (destination === undefined) return undefined;
    const lane = this.#options.ordered ? objectIdOf(event.body) : undefined;
    return { event, destination, lane, attempt: FIRST_ATTEMPT, faults: [] };
  }

  #enqueue(delivery: Delivery<Event>): void {
    this.#schedule.add(delivery);
    this.#startNext();
  }

  #startNext(): void {
    if (this.#paused || this.#whenIdle !== undefined) return;
    for (let next = this.#schedule.next(); next !== undefined; next = this.#schedule.next()) this.#forward(next);
  }

  #forward(delivery: Delivery<Event>): void {
    const { event, attempt, destination } = delivery;
    const body = Buffer.from(event.body, "utf8");
    const { forwarder } = destination;
    const headers = forwarder.headersOf({ id: event.id, signature: this.#sign(body, delivery), attempt });
    delivery.headers = headers;
    forwarder.forward({ headers, body }, (result) => {
      this.#ended(delivery, result);
      this.#startNext();
    });
  }

  #sign(body: Buffer, { copy }: Delivery<Event>): string {
    const { secret, clock } = this.#options;
    const age = copy === "stale" ? STALE_SECONDS : 0;
    const timestamp = Math.floor(clock.unixMilliseconds() / 1000) - age;
    return sign({ payload: body, secrets: copy === "badsig" ? `not ${secret()}` : secret(), timestamp });
  }

  #ended(delivery: Delivery<Event>, result: ForwardResult): void {
    const retryInMs = this.#retryIn(delivery, result);
    if (retryInMs === undefined) this.#schedule.ended(delivery);
    else this.#schedule.parked(delivery);
    this.#options.attempted(delivery, result, retryInMs);
    if (retryInMs !== undefined) this.#retryAfter(retryInMs, delivery);
    else if (delivery.follower !== undefined && this.#whenIdle === undefined) this.#schedule.add(delivery.follower);
    if (this.#schedule.idle) this.#whenIdle?.();
  }

  #retryIn({ copy, attempt }: Delivery<Event>, { status, retryAfterMs = 0 }: ForwardResult): number | undefined {
    const { retries, random } = this.#options;
    const succeeded = status !== undefined && status >= 200 && status < 300;
    if (succeeded || copy !== undefined || attempt > retries || this.#whenIdle !== undefined) return undefined;
    return Math.max(retryDelay(attempt, random), Math.min(retryAfterMs, RETRY_AFTER_MOST_MS));
  }

  #retryAfter(milliseconds: number, delivery: Delivery<Event>): void {
    const cancel = this.#options.clock.after(milliseconds, () => {
      this.#retries.delete(delivery);
      delivery.attempt += 1;
      this.#schedule.returned(delivery);
      this.#startNext();
    });
    this.#retries.set(delivery, cancel);
  }
}
