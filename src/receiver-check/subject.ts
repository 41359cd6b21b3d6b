import { DELIVERY_USER_AGENT, HEADERS } from "../contract/headers.ts";
import type { IdGenerator } from "../contract/ids.ts";
import { sign } from "../webhooks/index.ts";
import { type Clock, exchange, type Response } from "./exchange.ts";
import type { Observer } from "./observer.ts";
import { sampleEvent, type SampleEvent } from "./sample-events.ts";

/** The receiver's own secret, the previous one if a rotation is checked too, and an unknown one. */
interface Secrets {
  current: string;
  previous: string | undefined;
  foreign: string;
}

export interface SubjectOptions {
  url: URL;
  secrets: Secrets;
  /** The object of deliveries, unless a check uses another. */
  eventType: string;
  observer: Observer | undefined;
  skipVerify: boolean;
  clock: Clock;
  ids: IdGenerator;
  signal: AbortSignal;
}

/** Differences from a delivery as the platform would send it. */
export interface Deviation {
  /** Sent in place of the event's JSON. */
  body?: string;
  /** The signed body, if another one is sent. */
  signedBody?: string;
  secrets?: readonly string[];
  /** `t`, Unix seconds. */
  timestamp?: number;
  /** Returns the header's value from the valid one; undefined omits the header. */
  header?: (right: string) => string | undefined;
  attempt?: number;
  limitMilliseconds?: number;
}

/** The receiver under test. */
export class Subject {
  readonly secrets: Secrets;
  readonly eventType: string;
  readonly observer: Observer | undefined;
  readonly clock: Clock;
  /** Timeout of a delivery that sets none. */
  limitMilliseconds: number;
  /** False once the observer has seen no effect of the receiver. */
  effectsShow = true;
  readonly #options: SubjectOptions;

  constructor(options: SubjectOptions, limitMilliseconds: number) {
    this.#options = options;
    this.secrets = options.secrets;
    this.eventType = options.eventType;
    this.observer = options.observer;
    this.clock = options.clock;
    this.limitMilliseconds = limitMilliseconds;
  }

  /** A fresh event; `at` is Unix milliseconds. */
  event(type = this.eventType, at = this.clock.unixMilliseconds()): SampleEvent {
    return sampleEvent(type, this.#options.ids, at);
  }

  /** Unix seconds. */
  now(): number {
    return Math.floor(this.clock.unixMilliseconds() / 1000);
  }

  async deliver(event: SampleEvent, deviation: Deviation = {}): Promise<Response> {
    const body = deviation.body ?? JSON.stringify(event);
    const right = sign({
      payload: deviation.signedBody ?? body,
      secrets: deviation.secrets ?? [this.secrets.current],
      timestamp: deviation.timestamp ?? this.now(),
    });
    const signature = deviation.header === undefined ? right : deviation.header(right);
    const { url, skipVerify, signal } = this.#options;
    return await exchange({
      url,
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "User-Agent": DELIVERY_USER_AGENT,
        ...(signature === undefined ? {} : { [HEADERS.signature]: signature }),
        [HEADERS.eventId]: event.id,
        [HEADERS.deliveryAttempt]: String(deviation.attempt ?? 1),
      },
      body: Buffer.from(body),
      limitMilliseconds: deviation.limitMilliseconds ?? this.limitMilliseconds,
      skipVerify,
      signal,
      clock: this.clock,
    });
  }
}
