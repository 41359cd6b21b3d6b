import { LIMITS } from "../contract/limits.ts";
import { Connection, type ConnectionObserver, type ConnectionOptions } from "./connection.ts";
import type { RelayedEvent } from "./delivery.ts";
import { assertSigningSecret, concurrencyOf, Forwarding, type ForwardingOptions } from "./forwarding.ts";
import type { Entry } from "./ledger.ts";
import type { ListenError } from "./listen-error.ts";
import { systemClock } from "./ports.ts";
import type { Report, Summary } from "./report.ts";

export interface SessionOptions extends Omit<ConnectionOptions, "window" | "clock" | "random">, ForwardingOptions {
  /** Signs with this secret instead of the session's own. */
  secret?: string | undefined;
  /** Told the place behind which a later session can go on, each time that it moves. */
  passed?: ((cursor: string) => void) | undefined;
  /** Told everything, in order, while it happens. Must not throw. */
  report: (report: Report) => void;
}

/** How a session ended: because it was stopped, or by an error that no further attempt can mend. */
export interface SessionEnd {
  summary: Summary;
  error: ListenError | undefined;
}

interface Arrival extends RelayedEvent {
  /** Undefined on what is sent again by hand. */
  entry: Entry | undefined;
}

/** Listens to the platform's events and forwards them. */
export class Session {
  /** Settles when the session is over and its connections are closed; never rejects. */
  readonly ended: Promise<SessionEnd>;
  readonly #options: SessionOptions;
  readonly #connection: Connection;
  readonly #forwarding: Forwarding<Arrival>;
  #duplicates = 0;
  #secret = "";
  #stopping = false;
  #disconnected: (error: ListenError | undefined) => void = () => {};
  /** What is left to do once the last forward has ended. */
  #whenIdle = () => this.#connection.close();

  constructor(options: SessionOptions) {
    const { clock = systemClock, random = Math.random, secret, report } = options;
    // A secret that cannot sign is told now, not at the first event.
    if (secret !== undefined) assertSigningSecret(secret);
    this.#options = options;
    this.#forwarding = new Forwarding<Arrival>(options, {
      secret: () => secret ?? this.#secret,
      settled: ({ entry }, { status, failure, durationMs, excerpt }) => {
        if (entry !== undefined) {
          this.#connection.acknowledge(entry, { status, error: failure?.message, durationMs, excerpt });
        }
      },
      report,
    });
    // Enough to keep every slot busy while acknowledgements travel.
    const wanted = Math.max(4 * concurrencyOf(options), LIMITS.listenWindowDefault);
    const window = Math.min(wanted, LIMITS.listenWindowMost);
    this.#connection = new Connection({ ...options, window, clock, random }, this.#observer());
    this.ended = new Promise<ListenError | undefined>((resolve) => {
      this.#disconnected = resolve;
    }).then((error) => this.#finish(error));
  }

  start(): void {
    this.#connection.start();
  }

  /** Lets the forwards under way end, each within its limit, sends their acknowledgements, and ends the session. */
  stop(): Promise<SessionEnd> {
    this.#windUp();
    return this.ended;
  }

  /** Forwards nothing more until `resume`; what comes meanwhile waits, most of it at the platform. */
  pause(): void {
    this.#forwarding.pause();
  }

  resume(): void {
    this.#forwarding.resume();
  }

  /** Forwards an event once more, beside its own delivery; false where it goes nowhere. */
  resend({ id, type, body }: RelayedEvent): boolean {
    return !this.#stopping && this.#forwarding.resend({ id, type, body, entry: undefined });
  }

  #observer(): ConnectionObserver {
    const { report, passed } = this.#options;
    return {
      ready: ({ session, secret, cursor, account, environment, subscriptions, others }, first) => {
        this.#secret = secret;
        if (!first) return;
        report({ event: "ready", session, secret, cursor, account, environment, subscriptions, others });
      },
      event: ({ id, type, body }, entry) => this.#received({ id, type, body, entry }),
      duplicate: ({ id, type }) => {
        this.#duplicates += 1;
        report({ event: "duplicate", id, type });
      },
      gap: ({ from, to }) => report({ event: "gap", from, to }),
      passed: (cursor) => passed?.(cursor),
      lost: (reason, retryInMs) => report({ event: "lost", reason, retryInMs }),
      failed: (reason, failures, retryInMs) => report({ event: "retrying", reason, failures, retryInMs }),
      restored: (downtimeMs, caughtUp) => report({ event: "restored", downtimeMs, caughtUp }),
      stopped: (error) => {
        this.#whenIdle = () => this.#disconnected(error);
        this.#windUp();
      },
    };
  }

  #received(arrival: Arrival & { entry: Entry }): void {
    if (this.#stopping) return;
    const { id, type, body, entry } = arrival;
    this.#options.report({ event: "received", id, type, body });
    if (!this.#forwarding.add(arrival)) this.#connection.acknowledge(entry, { durationMs: 0 });
  }

  #windUp(): void {
    this.#stopping = true;
    this.#forwarding.windUp(() => this.#whenIdle());
  }

  #finish(error: ListenError | undefined): SessionEnd {
    const summary = this.#forwarding.close(this.#duplicates);
    this.#options.report({ event: "summary", ...summary });
    return { summary, error };
  }
}
