import { DELIVERY_USER_AGENT, HEADERS } from "../contract/headers.ts";
import { LIMITS } from "../contract/limits.ts";
import { Deadlines } from "./deadlines.ts";
import { Exchange, type ForwardResult } from "./exchange.ts";
import type { HostKind } from "./host-kind.ts";
import { Lane } from "./lane.ts";
import type { Clock } from "./ports.ts";
import { postRequest } from "./post-request.ts";

export interface ForwarderOptions {
  url: URL;
  clock: Clock;
  /** Additional headers, a flat list of names and values. */
  headers?: readonly string[] | undefined;
  /** Accepts any certificate of the receiver. */
  skipVerify?: boolean | undefined;
  /** From the connect to the last byte of the reply, in milliseconds; 10 s unless given. */
  timeoutMs?: number | undefined;
  /** What this machine is; a plain one unless given. */
  host?: HostKind | undefined;
}

/** What a delivery's headers tell. */
export interface Envelope {
  id: string;
  signature: string;
  attempt: number;
}

export interface Outgoing {
  /** A flat list of names and values. */
  headers: readonly string[];
  /** Sent as it is. */
  body: Uint8Array;
}

const UNSAFE = /[^\u0021-\u007e]/;
const UNSAFE_ALL = new RegExp(UNSAFE, "g");

/** One connection, and what is under way on it. */
interface Slot {
  lane: Lane;
  exchange: Exchange | undefined;
}

/**
 * POSTs events to one receiver. Holds as many kept-alive connections as forwards ever ran at once: the caller's
 * schedule bounds them.
 */
export class Forwarder {
  readonly #url: URL;
  readonly #headers: readonly string[];
  readonly #skipVerify: boolean;
  readonly #timeoutMs: number;
  readonly #host: HostKind;
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #idle: Slot[] = [];
  readonly #slots: Slot[] = [];

  constructor({
    url,
    clock,
    headers = [],
    skipVerify = false,
    timeoutMs = LIMITS.deliverySeconds * 1000,
    host = "plain",
  }: ForwarderOptions) {
    this.#url = url;
    const own = { "Content-Type": "application/json", "User-Agent": DELIVERY_USER_AGENT, [HEADERS.relay]: "1" };
    this.#headers = [...Object.entries(own).flat(), ...headers];
    this.#skipVerify = skipVerify;
    this.#timeoutMs = timeoutMs;
    this.#host = host;
    this.#clock = clock;
    this.#deadlines = new Deadlines(timeoutMs, clock, () => this.#running());
  }

  /** All headers of a delivery, a flat list of names and values. */
  headersOf({ id, signature, attempt }: Envelope): string[] {
    const headers = this.#headers.slice();
    // Ids come from elsewhere; nothing of them may end the header.
    const safeId = UNSAFE.test(id) ? id.replaceAll(UNSAFE_ALL, "?") : id;
    headers.push(HEADERS.signature, signature, HEADERS.eventId, safeId, HEADERS.deliveryAttempt, String(attempt));
    return headers;
  }

  /** Sends one delivery; `ended` is called exactly once, whatever happens. */
  forward({ headers, body }: Outgoing, ended: (result: ForwardResult) => void): void {
    const slot = this.#idle.pop() ?? this.#openSlot();
    slot.exchange = new Exchange({
      lane: slot.lane,
      request: postRequest(this.#url, headers, body),
      url: this.#url,
      timeoutMs: this.#timeoutMs,
      host: this.#host,
      clock: this.#clock,
      ended: (result) => {
        slot.exchange = undefined;
        this.#idle.push(slot);
        ended(result);
      },
    });
    this.#deadlines.began();
    slot.exchange.start();
  }

  /** Cuts all connections. */
  close(): void {
    this.#deadlines.close();
    for (const { lane } of this.#slots) lane.cut();
  }

  *#running(): Iterable<Exchange> {
    for (const { exchange } of this.#slots) if (exchange !== undefined) yield exchange;
  }

  #openSlot(): Slot {
    const lane = new Lane({
      url: this.#url,
      skipVerify: this.#skipVerify,
      timeoutMs: this.#timeoutMs,
      clock: this.#clock,
    });
    const slot: Slot = { lane, exchange: undefined };
    this.#slots.push(slot);
    return slot;
  }
}
