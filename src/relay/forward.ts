import type { LookupFunction } from "node:net";
import { Client } from "undici";
import { DELIVERY_USER_AGENT, HEADERS } from "../contract/headers.ts";
import { LIMITS } from "../contract/limits.ts";
import { Deadlines } from "./deadlines.ts";
import { Exchange, type ForwardResult } from "./exchange.ts";
import type { HostKind } from "./host-kind.ts";
import type { Lane } from "./lane.ts";
import type { Clock } from "./ports.ts";
import { isLocalhost } from "./target.ts";

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

const LOOPBACK = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** Node then tries one after the other: receivers bind to either, and what `localhost` resolves to varies. */
const lookupLoopback: LookupFunction = (_hostname, _options, callback) => callback(null, LOOPBACK);

/**
 * POSTs events to one receiver. Holds as many kept-alive connections as forwards ever ran at once: the caller's
 * schedule bounds them.
 */
export class Forwarder {
  readonly #url: URL;
  readonly #path: string;
  readonly #headers: readonly string[];
  readonly #skipVerify: boolean;
  readonly #timeoutMs: number;
  readonly #host: HostKind;
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #idle: Lane[] = [];
  readonly #lanes = new Set<Lane>();

  constructor({
    url,
    clock,
    headers = [],
    skipVerify = false,
    timeoutMs = LIMITS.deliverySeconds * 1000,
    host = "plain",
  }: ForwarderOptions) {
    this.#url = url;
    this.#path = url.pathname + url.search;
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
    headers.push(HEADERS.signature, signature, HEADERS.eventId, id, HEADERS.deliveryAttempt, String(attempt));
    return headers;
  }

  /** Sends one delivery; `ended` is called exactly once, whatever happens. */
  forward({ headers, body }: Outgoing, ended: (result: ForwardResult) => void): void {
    const lane = this.#idle.pop() ?? this.#openLane();
    lane.exchange = new Exchange({
      lane,
      request: { path: this.#path, method: "POST", headers: headers as string[], body },
      url: this.#url,
      timeoutMs: this.#timeoutMs,
      host: this.#host,
      clock: this.#clock,
      ended: (result) => {
        lane.exchange = undefined;
        if (lane.client.destroyed) this.#lanes.delete(lane);
        else this.#idle.push(lane);
        ended(result);
      },
    });
    this.#deadlines.began();
    lane.exchange.start();
  }

  /** Cuts all connections. */
  async close(): Promise<void> {
    this.#deadlines.close();
    await Promise.all([...this.#lanes].map((lane) => lane.client.destroy()));
  }

  *#running(): Iterable<Exchange> {
    for (const { exchange } of this.#lanes) if (exchange !== undefined) yield exchange;
  }

  #openLane(): Lane {
    const client = new Client(this.#url.origin, {
      pipelining: 1,
      // The deadlines here count from the connect to the last byte; the client's own start over in between.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: this.#timeoutMs,
        rejectUnauthorized: !this.#skipVerify,
        autoSelectFamily: true,
        ...(isLocalhost(this.#url.hostname) ? { lookup: lookupLoopback } : {}),
      },
    });
    const lane: Lane = { client, exchange: undefined, used: false };
    client.on("disconnect", () => {
      lane.used = false;
    });
    this.#lanes.add(lane);
    return lane;
  }
}
