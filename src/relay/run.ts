import { LIMITS } from "../contract/limits.ts";
import type { ListenTarget, Waiting } from "../contract/listen.ts";
import { systemClock } from "../network/clock.ts";
import { Connection, type ConnectionObserver, type ConnectionOptions } from "./connection.ts";
import type { RelayedEvent } from "./delivery.ts";
import type { ListenError } from "./disconnection.ts";
import { assertSigningSecret, Dispatcher, type ForwardingOptions } from "./dispatcher.ts";
import type { Entry } from "./ledger.ts";
import type { Report, Summary } from "./report.ts";

export interface RunOptions extends Omit<ConnectionOptions, "clock" | "random">, ForwardingOptions {
  /** Signs with this secret instead of the platform's. */
  secret?: string | undefined;
  /** Returns false for an event, or a replay of one, that is acknowledged and neither reported nor forwarded. */
  filter?: ((event: RelayedEvent, isReplay: boolean) => boolean) | undefined;
  /** Called with the cursor after which a later run can start, each time that it moves. */
  passed?: ((cursor: string) => void) | undefined;
  /** Called with every report, in order. Must not throw. */
  report: (report: Report) => void;
}

/** How a run ended: because it was stopped, or by an error that reconnecting cannot solve. */
export interface RunEnd {
  summary: Summary;
  error: ListenError | undefined;
}

interface ReceivedEvent extends RelayedEvent {
  /** Undefined for a manual resend. */
  entry: Entry | undefined;
}

/** Returns the `targets` of a run that forwards like this, as far as the platform accepts them. */
export function listenTargets({ target, routes = [] }: ForwardingOptions): ListenTarget[] {
  const all = routes.map(({ subscription, url }) => ({ events: subscription, url: url.href }));
  if (target !== undefined) all.push({ events: "*", url: target.href });
  return all.filter(({ url }) => url.length <= LIMITS.listenTargetLength).slice(0, LIMITS.listenTargets);
}

/** Listens to the platform's events and forwards them. */
export class Run {
  /** Resolves once the run is over and its connections are closed; never rejects. */
  readonly ended: Promise<RunEnd>;
  readonly #options: RunOptions;
  readonly #connection: Connection;
  readonly #dispatcher: Dispatcher<ReceivedEvent>;
  #duplicates = 0;
  /** Events that the filters excluded; undefined without filters. */
  #filteredOut: number | undefined;
  #others = 0;
  #secret = "";
  #stopping = false;
  /** Why nothing is forwarded at present, by who waits. */
  readonly #holds = new Map<"receiver" | "user", Waiting>();
  #disconnected: (error: ListenError | undefined) => void = () => {};

  /** Throws SignatureError if the given secret cannot sign. */
  constructor(options: RunOptions) {
    const { clock = systemClock, random = Math.random, secret, report } = options;
    if (secret !== undefined) assertSigningSecret(secret);
    this.#options = options;
    this.#filteredOut = options.filter === undefined && (options.events ?? []).length === 0 ? undefined : 0;
    const signing = { secret: () => secret ?? this.#secret };
    this.#dispatcher = new Dispatcher<ReceivedEvent>(options, signing, {
      settled: ({ entry }, outcome) => {
        if (entry !== undefined) this.#connection.acknowledge(entry, outcome);
      },
      retrying: ({ entry }, attempt, retryInMs) => {
        if (entry !== undefined) this.#connection.reportRetry(entry, attempt, retryInMs);
      },
      resent: (event, outcome) => this.#connection.reportResend(event, outcome),
      report,
    });
    this.#connection = new Connection({ ...options, clock, random }, this.#observer());
    this.ended = new Promise<ListenError | undefined>((resolve) => {
      this.#disconnected = resolve;
    }).then((error) => this.#finish(error));
  }

  get filteredOut(): number | undefined {
    return this.#filteredOut;
  }

  /** IDs of the events that were sent and have no response yet. */
  get inFlight(): string[] {
    return this.#dispatcher.inFlight;
  }

  start(): void {
    this.#connection.start();
  }

  /** Resolves once every event that was received has been forwarded, or has failed for good. */
  settled(): Promise<void> {
    return this.#dispatcher.settled();
  }

  /** Waits for the forwards in flight, each within its time limit, sends their acknowledgements, and ends the run. */
  stop(): Promise<RunEnd> {
    void this.#windUp().then(() => this.#connection.close());
    return this.ended;
  }

  /** Reports the totals, and closes the connections to receivers. */
  summarize(): Summary {
    const summary = { ...this.#dispatcher.close(this.#duplicates), filteredOut: this.#filteredOut };
    this.#options.report({ event: "summary", ...summary });
    return summary;
  }

  /** Forwards nothing more, for this reason, until there is none; new events wait, most of them at the platform. */
  hold(by: "receiver" | "user", reason: Waiting | undefined): void {
    if (reason === undefined) this.#holds.delete(by);
    else this.#holds.set(by, reason);
    const [first] = this.#holds.values();
    this.#connection.setWaiting(first);
    if (first === undefined) this.#dispatcher.resume();
    else this.#dispatcher.pause();
  }

  /**
   * Forwards an event again, in addition to its own delivery. Returns the number in its report; undefined if no
   * receiver is configured for it, or the run is ending.
   */
  resend(event: RelayedEvent, attempt: number): number | undefined {
    return this.#stopping ? undefined : this.#dispatcher.resend({ ...event, entry: undefined }, attempt);
  }

  #observer(): ConnectionObserver {
    const { report, passed } = this.#options;
    return {
      ready: ({ session, secret, cursor, account, environment, subscriptions, others }, first) => {
        this.#secret = secret;
        this.#others = others;
        if (!first) return;
        report({ event: "ready", session, secret, cursor, account, environment, subscriptions, others });
      },
      event: ({ id, type, body }, entry) => this.#received({ id, type, body, entry }),
      duplicate: ({ id, type }) => {
        this.#duplicates += 1;
        report({ event: "duplicate", id, type });
      },
      gap: ({ from, to, reason }) =>
        report({ event: "gap", from, to, ...(reason === "reset" ? { reason, dropped: this.#dropWaiting() } : {}) }),
      reset: () => report({ event: "reset", dropped: this.#dropWaiting() }),
      filteredOut: (count) => {
        if (this.#filteredOut !== undefined) this.#filteredOut += count;
      },
      listeners: (others) => {
        if (others !== this.#others) report({ event: others > this.#others ? "joined" : "left", others });
        this.#others = others;
      },
      passed: (cursor) => passed?.(cursor),
      lost: (reason, retryInMs) => report({ event: "lost", reason, retryInMs }),
      failed: (reason, failures, retryInMs) => report({ event: "retrying", reason, failures, retryInMs }),
      restored: (downtimeMs, caughtUp) => report({ event: "restored", downtimeMs, caughtUp }),
      stopped: (reason) => void this.#windUp().then(() => this.#disconnected(reason)),
    };
  }

  #received(event: ReceivedEvent & { entry: Entry }): void {
    if (this.#stopping) return;
    const { id, type, body, entry } = event;
    if (this.#options.filter?.(event, entry.cursor !== id) === false) {
      this.#filteredOut! += 1;
      return this.#connection.acknowledge(entry, { durationMs: 0, isFiltered: true });
    }
    this.#options.report({ event: "received", id, type, body });
    if (!this.#dispatcher.add(event)) this.#connection.acknowledge(entry, { durationMs: 0 });
  }

  /** Drops events of a sandbox that was reset. Returns their IDs. */
  #dropWaiting(): string[] {
    const events = this.#dispatcher.drop();
    for (const { entry } of events) if (entry !== undefined) this.#connection.acknowledge(entry, { durationMs: 0 });
    return events.map(({ id }) => id);
  }

  /** Resolves once the last forward has ended. */
  #windUp(): Promise<void> {
    this.#stopping = true;
    return this.#dispatcher.windUp();
  }

  #finish(error: ListenError | undefined): RunEnd {
    return { summary: this.summarize(), error };
  }
}
