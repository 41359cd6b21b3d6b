import type { Agent } from "node:http";
import { LIMITS } from "../contract/limits.ts";
import {
  LISTEN_DEVICE_HEADER,
  LISTEN_PATH,
  type ListenQuery,
  type ListenTarget,
  type ReadyFrame,
  type SentEvent,
  type Waiting,
} from "../contract/listen.ts";
import { isLoopback } from "../network/connect-options.ts";
import { CatchUp } from "./catch-up.ts";
import type { Clock } from "../network/clock.ts";
import type { RelayedEvent } from "./delivery.ts";
import { type Disconnection, fatalError, ListenError, type SocketEnd } from "./disconnection.ts";
import {
  Acknowledgements,
  type AttemptOutcome,
  Ledger,
  type Entry,
  type Outcome,
  toAttempt,
  toRetry,
} from "./ledger.ts";
import { PlatformSocket, type PlatformSocketObserver } from "./socket.ts";

/** After a connection that lasted this long, the next failure counts as the first. */
const STABLE_MS = 10_000;
/** The longest `Retry-After` of the platform that is obeyed. */
const MAX_RETRY_AFTER_MS = 30_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 30_000;
/** Maximum wait for a platform on this machine, which has no other clients and whose developer is waiting. */
const MAX_LOOPBACK_DELAY_MS = 5_000;

export interface ConnectionOptions {
  /** The platform's `{base_url}`. */
  baseUrl: URL;
  /**
   * Returns the Authorization header's value, for each connection. After a 401 it is called with the rejected value, and
   * the run ends if it returns the same. Throws a ListenError to end the run.
   */
  authorization: (rejected?: string) => Promise<string>;
  /** Opens connections through a proxy. The message of an error with the code ERR_PROXY is shown as it is. */
  agent?: Agent | undefined;
  clock: Clock;
  random: () => number;
  /** Name of this machine; the signing secret is stable for it. */
  device?: string | undefined;
  /** Subscriptions (default: all events). */
  events?: readonly string[] | undefined;
  /** Where events are forwarded, for the platform's explanations. */
  targets?: readonly ListenTarget[] | undefined;
  /** Ends after one event. */
  once?: boolean | undefined;
  /** Where to start: after an event ID, `now`, or `-<seconds>`. */
  after?: string | undefined;
  /** Ends the run after this many milliseconds without a connection. */
  maxDowntimeMs?: number | undefined;
  /** Time limit for the first connection in milliseconds; 0 allows one attempt (default: unlimited). */
  waitMs?: number | undefined;
}

export interface ConnectionObserver extends Pick<PlatformSocketObserver, "gap" | "filteredOut" | "listeners"> {
  /** The platform accepted a connection: the first one, or a reconnect. */
  ready(frame: ReadyFrame, first: boolean): void;
  /** An event to forward; call `acknowledge` with the entry once it has an outcome. */
  event(event: SentEvent, entry: Entry): void;
  /** An event that was received before; its acknowledgement is sent by the connection. */
  duplicate(event: SentEvent): void;
  /** The sandbox was reset: events received before no longer exist. */
  reset(): void;
  /** Everything up to here is complete: a later run can start after it. */
  passed(cursor: string): void;
  /** The connection was lost; the next attempt follows after `retryInMs`. */
  lost(reason: Disconnection, retryInMs: number): void;
  /** Connecting failed, `failures` times in a row; the next attempt follows after `retryInMs`. */
  failed(reason: Disconnection, failures: number, retryInMs: number): void;
  /** Connected again, and the `missed` events of the downtime have been received. */
  restored(downtimeMs: number, missed: number): void;
  /** Nothing more follows; `error` is undefined after `close`. Called once, last. */
  stopped(error: ListenError | undefined): void;
}

/** The lasting connection to the platform: reconnects, resumes and drops duplicates. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #observer: ConnectionObserver;
  readonly #ledger = new Ledger();
  readonly #catchUp: CatchUp;
  #socket: PlatformSocket | undefined;
  #acknowledgements: Acknowledgements | undefined;
  #state: "down" | "ready" | "closing" | "stopped" = "down";
  #everReady = false;
  /** The value of the latest connection, and whether it replaced one that got a 401. */
  #authorization = { value: "", isRenewed: false };
  #failures = 0;
  #waiting: Waiting | undefined;
  #latest: Disconnection | undefined;
  /** The latest violation of the protocol, and the position at which it occurred. */
  #violation: string | undefined;
  #downSince: number;
  #readySince = 0;
  #cursorAtReady: string | undefined;
  #lastCursor: string | undefined;
  #cancelRetry: (() => void) | undefined;
  #cancelDowntime: (() => void) | undefined;

  constructor(options: ConnectionOptions, observer: ConnectionObserver) {
    this.#options = options;
    this.#observer = observer;
    this.#downSince = options.clock.elapsed();
    // While most of its smallest window is used, the platform may have more to send.
    this.#catchUp = new CatchUp(
      options.clock,
      () => (this.#acknowledgements?.unacknowledged ?? 0) > LIMITS.minListenWindow / 2,
    );
  }

  /** Starts connecting; the observer is called with everything that follows. */
  start(): void {
    this.#limitDowntime();
    void this.#connect();
  }

  acknowledge(entry: Entry, outcome: Outcome): void {
    this.#ledger.settle(entry, outcome);
    this.#acknowledgements?.acknowledge(entry);
  }

  /** Reports a failed attempt of an event that will be retried. */
  reportRetry(entry: Entry, attempt: AttemptOutcome, retryInMs: number): void {
    const retry = toRetry(entry, attempt, retryInMs);
    if (retry !== undefined) this.#socket?.send({ frame: "retries", retries: [retry] });
  }

  /** Reports the outcome of an event that was resent manually. */
  reportResend({ id, type }: Pick<RelayedEvent, "id" | "type">, outcome: AttemptOutcome): void {
    this.#socket?.send({ frame: "resends", resends: [{ id, type, ...toAttempt(outcome) }] });
  }

  /** Sends the acknowledgements that are due and closes the connection, within 2 s. */
  close(): void {
    if (this.#state === "stopped" || this.#state === "closing") return;
    if (this.#socket === undefined) return this.#stop(undefined);
    this.#state = "closing";
    this.#socket.close();
  }

  /** `rejection` is the 401 of the latest connection. */
  async #connect(rejection?: ListenError): Promise<void> {
    const rejected = rejection && this.#authorization.value;
    try {
      const value = await this.#options.authorization(rejected);
      if (value === rejected) return this.#stop(rejection);
      if (this.#state !== "down") return;
      this.#authorization = { value, isRenewed: rejection !== undefined };
      this.#socket = this.#open(value);
    } catch (error) {
      if (error instanceof ListenError) return this.#stop(error);
      const text = error instanceof Error ? error.message : String(error);
      this.#ended({ reason: { code: "authorization", message: `cannot get a credential: ${text}` } });
    }
  }

  #open(authorization: string): PlatformSocket {
    const { baseUrl, agent, clock, device } = this.#options;
    return new PlatformSocket({
      url: listenUrl(baseUrl, this.#query()),
      headers: { Authorization: authorization, ...(device === undefined ? {} : { [LISTEN_DEVICE_HEADER]: device }) },
      agent,
      clock,
      observer: {
        ...this.#observer,
        ready: (frame) => this.#ready(frame),
        event: (event) => this.#event(event),
        confirmed: (count) => this.#confirmed(count),
        ended: (end) => this.#ended(end),
      },
    });
  }

  #query(): ListenQuery {
    const { events = [] } = this.#options;
    const after = this.#ledger.cursor ?? this.#start();
    // The platform sends fewer: as many as the round trip takes.
    const query: ListenQuery = { window: String(LIMITS.maxListenWindow) };
    if (events.length > 0) query.events = events.join(",");
    if (after !== undefined) query.after = after;
    return query;
  }

  /** Returns where to start. A time in the past stays where it was when the run started. */
  #start(): string | undefined {
    const { after, clock } = this.#options;
    if (after === undefined || !/^-\d+$/.test(after)) return after;
    const waitedSeconds = Math.floor((clock.elapsed() - this.#downSince) / 1000);
    return String(Number(after) - waitedSeconds);
  }

  #ready(frame: ReadyFrame): void {
    const { clock } = this.#options;
    const first = !this.#everReady;
    this.#everReady = true;
    this.#state = "ready";
    this.#readySince = clock.elapsed();
    this.#cancelDowntime?.();
    this.#ledger.startAt(frame.cursor);
    this.#cursorAtReady = this.#ledger.cursor;
    this.#acknowledgements = new Acknowledgements(
      this.#ledger,
      () => clock.elapsed(),
      (ack) => this.#socket?.acknowledge(ack),
    );
    this.#sendTargets();
    this.#observer.ready(frame, first);
    this.#tellCursor();
    if (first) return;
    const downtime = this.#readySince - this.#downSince;
    this.#catchUp.begin((missed) => this.#observer.restored(downtime, missed));
  }

  /** Reports why nothing is forwarded at present; undefined once it is. */
  setWaiting(waiting: Waiting | undefined): void {
    this.#waiting = waiting;
    if (this.#state === "ready") this.#sendTargets();
  }

  #sendTargets(): void {
    const { targets = [], once } = this.#options;
    if (targets.length > 0) this.#socket?.send({ frame: "targets", targets: [...targets], once, ...this.#waiting });
  }

  #event(event: SentEvent): void {
    if (this.#state !== "ready" || this.#acknowledgements === undefined) return;
    this.#acknowledgements.addReceived();
    if (this.#acknowledgements.unacknowledged > LIMITS.maxListenWindow) {
      return this.#socket?.violated(`more than ${LIMITS.maxListenWindow} unacknowledged events`);
    }
    const cursor = event.cursor ?? event.id;
    const { entry, duplicate } = this.#ledger.receive(cursor, event.seq);
    if (duplicate) {
      this.#observer.duplicate(event);
      if (entry.outcome !== undefined) this.#acknowledgements.acknowledge(entry);
      return;
    }
    this.#catchUp.add(cursor);
    this.#observer.event(event, entry);
  }

  #confirmed(count: number): void {
    this.#acknowledgements?.confirm(count);
    this.#tellCursor();
  }

  #tellCursor(): void {
    const { cursor } = this.#ledger;
    if (cursor === undefined || cursor === this.#lastCursor) return;
    this.#lastCursor = cursor;
    this.#observer.passed(cursor);
  }

  #ended(end: SocketEnd): void {
    const wasReady = this.#state === "ready";
    this.#forgetSocket();
    if (this.#state === "closing") return this.#stop(undefined);
    if (this.#state === "stopped") return;
    if (wasReady) this.#lost();
    this.#latest = end.reason;
    const fatal = fatalError(end) ?? this.#repeatedViolation(end.reason);
    if (fatal?.code === "unauthorized" && !this.#authorization.isRenewed) {
      if (wasReady) this.#observer.lost(end.reason, 0);
      return void this.#connect(fatal);
    }
    if (fatal !== undefined) return this.#stop(fatal);
    const { baseUrl, clock, random } = this.#options;
    const retryAfterMs = Math.min((end.rejection?.retryAfterSeconds ?? 0) * 1000, MAX_RETRY_AFTER_MS);
    const delay = Math.max(reconnectDelay(this.#failures, baseUrl.hostname, random), retryAfterMs);
    const { waitMs = Infinity } = this.#options;
    if (!this.#everReady && clock.elapsed() - this.#downSince + delay > waitMs) {
      const { code, message } = end.reason;
      return this.#stop(new ListenError(code === "protocol" ? "protocol" : "unreachable", message));
    }
    this.#cancelRetry = clock.after(delay, () => void this.#connect());
    this.#failures += 1;
    if (wasReady) this.#observer.lost(end.reason, delay);
    else this.#observer.failed(end.reason, this.#failures, delay);
  }

  /** A platform that violates the protocol at the same position again would do so forever. */
  #repeatedViolation({ code, message }: Disconnection): ListenError | undefined {
    if (code !== "protocol") return undefined;
    const violation = `${message} after ${this.#ledger.cursor}`;
    if (violation === this.#violation) return new ListenError("protocol", message);
    this.#violation = violation;
    return undefined;
  }

  #lost(): void {
    this.#state = "down";
    this.#downSince = this.#options.clock.elapsed();
    this.#limitDowntime();
    const progress = this.#ledger.cursor !== this.#cursorAtReady;
    if (progress || this.#downSince - this.#readySince >= STABLE_MS) this.#failures = 0;
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
      const why = this.#latest === undefined ? "" : `: ${this.#latest.message}`;
      const message = `no connection to the platform for ${Math.round(maxDowntimeMs / 1000)} s${why}`;
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

/**
 * Returns the wait in milliseconds before the next connection, after `failures` failures in a row (0 after the first): a
 * random time up to 0.25 s, doubled with each failure up to 30 s, or 5 s if the platform is on this machine ("full
 * jitter", https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 */
export function reconnectDelay(failures: number, hostname: string, random: () => number): number {
  const max = isLoopback(hostname) ? MAX_LOOPBACK_DELAY_MS : MAX_DELAY_MS;
  return random() * Math.min(max, FIRST_DELAY_MS * 2 ** failures);
}

/** Returns the URL of the upgrade request below a platform's base URL. */
function listenUrl(baseUrl: URL, query: ListenQuery): URL {
  const url = new URL(baseUrl);
  url.pathname = baseUrl.pathname.replace(/\/$/, "") + LISTEN_PATH;
  url.hash = "";
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}
