import type { Agent } from "node:http";
import {
  LISTEN_DEVICE_HEADER,
  type EventFrame,
  type GapFrame,
  type ListenQuery,
  type ReadyFrame,
} from "../contract/listen.ts";
import { Acknowledgements } from "./acknowledgements.ts";
import { reconnectDelay } from "./backoff.ts";
import { CatchUp } from "./catch-up.ts";
import type { Disconnection } from "./disconnection.ts";
import { fatalError } from "./fatal-error.ts";
import { Ledger, type Entry, type Outcome } from "./ledger.ts";
import { ListenError } from "./listen-error.ts";
import { buildListenUrl } from "./listen-url.ts";
import { PlatformSocket, type SocketEnd } from "./platform-socket.ts";
import type { Clock, Random } from "./ports.ts";

/** A connection that held so long was good: the next failure is a first one. */
const STEADY_MS = 10_000;
/** The longest that a `Retry-After` of the platform is obeyed. */
const MOST_RETRY_AFTER_MS = 30_000;

export interface ConnectionOptions {
  /** The platform's `{base_url}`. */
  baseUrl: URL;
  /** The Authorization header's value, asked for at each connection. Throw a ListenError to stop for good. */
  authorization: () => Promise<string>;
  /** Makes the connections where they are not direct. An error of its own with the code ERR_PROXY is told in its words. */
  agent?: Agent | undefined;
  /** The most events that may await their acknowledgement. */
  window: number;
  clock: Clock;
  random: Random;
  /** Names this machine; the signing secret is stable for it. */
  device?: string | undefined;
  /** Subscriptions; all events where there are none. */
  events?: readonly string[] | undefined;
  /** Where to start: behind an event id, `now`, or `-<seconds>`. */
  after?: string | undefined;
  /** Stops after this many milliseconds without a connection. */
  maxDowntimeMs?: number | undefined;
  /** Milliseconds in which the first connection must be made; 0 allows one attempt. Unlimited by default. */
  waitMs?: number | undefined;
}

export interface ConnectionObserver {
  /** The platform accepted a connection, the first or another. */
  ready(frame: ReadyFrame, first: boolean): void;
  /** An event to handle; `acknowledge` it when its handling has ended, not before. */
  event(frame: EventFrame, entry: Entry): void;
  /** An event that is known already; its acknowledgement is taken care of. */
  duplicate(frame: EventFrame): void;
  gap(frame: GapFrame): void;
  /** Everything up to here is done with: the place behind which a later session can go on. */
  passed(cursor: string): void;
  /** The connection broke; another is tried after that time. */
  lost(reason: Disconnection, retryInMs: number): void;
  /** No connection could be made, so many times in a row; another is tried after that time. */
  failed(reason: Disconnection, failures: number, retryInMs: number): void;
  /** The connection is back, and what was missed has come. */
  restored(downtimeMs: number, missed: number): void;
  /** Nothing more will come; with an error unless it was asked for. Called once, as the last. */
  stopped(error: ListenError | undefined): void;
}

/** The lasting connection to the platform: reconnects, resumes and drops duplicates (decisions 10). */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #observer: ConnectionObserver;
  readonly #ledger = new Ledger();
  readonly #catchUp: CatchUp;
  #socket: PlatformSocket | undefined;
  #acknowledgements: Acknowledgements | undefined;
  #state: "down" | "ready" | "closing" | "stopped" = "down";
  #everReady = false;
  #failures = 0;
  #downSince: number;
  #readySince = 0;
  #cursorAtReady: string | undefined;
  #toldCursor: string | undefined;
  #cancelRetry: (() => void) | undefined;
  #cancelDowntime: (() => void) | undefined;

  constructor(options: ConnectionOptions, observer: ConnectionObserver) {
    this.#options = options;
    this.#observer = observer;
    this.#downSince = options.clock.now();
    // A platform whose window is well filled may have more to send.
    this.#catchUp = new CatchUp(options.clock, () => (this.#acknowledgements?.owed ?? 0) > options.window / 2);
  }

  /** Begins; all else is told to the observer. */
  start(): void {
    this.#limitDowntime();
    void this.#connect();
  }

  /** The handling of an event has ended. */
  acknowledge(entry: Entry, outcome: Outcome): void {
    this.#ledger.settle(entry, outcome);
    this.#acknowledgements?.give(entry);
  }

  /** Sends the acknowledgements that are due and ends the connection, within 2 s. */
  close(): void {
    if (this.#state === "stopped" || this.#state === "closing") return;
    if (this.#socket === undefined) return this.#stop(undefined);
    this.#state = "closing";
    this.#socket.close();
  }

  async #connect(): Promise<void> {
    try {
      const authorization = await this.#options.authorization();
      if (this.#state === "down") this.#socket = this.#open(authorization);
    } catch (error) {
      if (error instanceof ListenError) return this.#stop(error);
      const text = error instanceof Error ? error.message : String(error);
      this.#ended({ reason: { code: "authorization", message: `no credential could be sent: ${text}` } });
    }
  }

  #open(authorization: string): PlatformSocket {
    const { baseUrl, agent, clock, device } = this.#options;
    return new PlatformSocket({
      url: buildListenUrl(baseUrl, this.#query()),
      headers: { Authorization: authorization, ...(device === undefined ? {} : { [LISTEN_DEVICE_HEADER]: device }) },
      agent,
      clock,
      observer: {
        ready: (frame) => this.#ready(frame),
        event: (frame) => this.#event(frame),
        gap: (frame) => this.#observer.gap(frame),
        confirmed: (count) => this.#confirmed(count),
        ended: (end) => this.#ended(end),
      },
    });
  }

  #query(): ListenQuery {
    const { events = [], window } = this.#options;
    const after = this.#ledger.cursor ?? this.#options.after;
    const query: ListenQuery = { window: String(window) };
    if (events.length > 0) query.events = events.join(",");
    if (after !== undefined) query.after = after;
    return query;
  }

  #ready(frame: ReadyFrame): void {
    const { clock } = this.#options;
    const first = !this.#everReady;
    this.#everReady = true;
    this.#state = "ready";
    this.#readySince = clock.now();
    this.#cancelDowntime?.();
    this.#ledger.startAt(frame.cursor);
    this.#cursorAtReady = this.#ledger.cursor;
    this.#acknowledgements = new Acknowledgements(this.#ledger, (ack) => this.#socket?.acknowledge(ack));
    this.#observer.ready(frame, first);
    this.#tellCursor();
    if (first) return;
    const downtime = this.#readySince - this.#downSince;
    this.#catchUp.begin((missed) => this.#observer.restored(downtime, missed));
  }

  #event(frame: EventFrame): void {
    if (this.#state !== "ready" || this.#acknowledgements === undefined) return;
    this.#acknowledgements.owe();
    if (this.#acknowledgements.owed > this.#options.window) {
      return this.#socket?.violated(`more than ${this.#options.window} events came without an acknowledgement`);
    }
    const cursor = frame.cursor ?? frame.id;
    const { entry, duplicate } = this.#ledger.receive(cursor, frame.seq);
    if (duplicate) {
      this.#observer.duplicate(frame);
      if (entry.outcome !== undefined) this.#acknowledgements.give(entry);
      return;
    }
    this.#catchUp.add(cursor);
    this.#observer.event(frame, entry);
  }

  #confirmed(count: number): void {
    this.#acknowledgements?.confirm(count);
    this.#tellCursor();
  }

  #tellCursor(): void {
    const { cursor } = this.#ledger;
    if (cursor === undefined || cursor === this.#toldCursor) return;
    this.#toldCursor = cursor;
    this.#observer.passed(cursor);
  }

  #ended(end: SocketEnd): void {
    const wasReady = this.#state === "ready";
    this.#forgetSocket();
    if (this.#state === "closing") return this.#stop(undefined);
    if (this.#state === "stopped") return;
    if (wasReady) this.#lost();
    const fatal = fatalError(end);
    if (fatal !== undefined) return this.#stop(fatal);
    const { clock, random } = this.#options;
    const retryAfterMs = Math.min((end.refusal?.retryAfterSeconds ?? 0) * 1000, MOST_RETRY_AFTER_MS);
    const delay = Math.max(reconnectDelay(this.#failures, random), retryAfterMs);
    const { waitMs = Infinity } = this.#options;
    if (!this.#everReady && clock.now() - this.#downSince + delay > waitMs) {
      return this.#stop(new ListenError("unreachable", end.reason.message));
    }
    this.#cancelRetry = clock.after(delay, () => void this.#connect());
    this.#failures += 1;
    if (wasReady) this.#observer.lost(end.reason, delay);
    else this.#observer.failed(end.reason, this.#failures, delay);
  }

  #lost(): void {
    this.#state = "down";
    this.#downSince = this.#options.clock.now();
    this.#limitDowntime();
    const progress = this.#ledger.cursor !== this.#cursorAtReady;
    if (progress || this.#downSince - this.#readySince >= STEADY_MS) this.#failures = 0;
  }

  #forgetSocket(): void {
    this.#socket = undefined;
    this.#acknowledgements = undefined;
    this.#ledger.disconnected();
    this.#catchUp.end();
  }

  #limitDowntime(): void {
    const { clock, maxDowntimeMs } = this.#options;
    if (maxDowntimeMs === undefined) return;
    this.#cancelDowntime = clock.after(maxDowntimeMs, () => {
      const message = `there was no connection to the platform for ${Math.round(maxDowntimeMs / 1000)} s`;
      this.#stop(new ListenError("downtime", message));
    });
  }

  #stop(error: ListenError | undefined): void {
    if (this.#state === "stopped") return;
    this.#state = "stopped";
    this.#cancelRetry?.();
    this.#cancelDowntime?.();
    this.#socket?.close();
    this.#observer.stopped(error);
  }
}
