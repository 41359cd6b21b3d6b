import { sign } from "../webhooks/index.ts";
import type { ChaosSettings } from "./chaos-settings.ts";
import { ChaosTally } from "./chaos-tally.ts";
import type { Delivery, RelayedEvent } from "./delivery.ts";
import { Dispatcher } from "./dispatcher.ts";
import type { ForwardResult } from "./exchange.ts";
import { forwardedReport } from "./forwarded-report.ts";
import type { HostKind } from "./host-kind.ts";
import { LatencyHistogram } from "./latency.ts";
import { systemClock, type Clock, type Random } from "./ports.ts";
import type { ForwardedReport, Summary } from "./report.ts";
import { type Route, Router } from "./router.ts";

const DEFAULT_CONCURRENCY = 16;

export interface ForwardingOptions {
  /** Where to forward what no route takes; without it such events go nowhere. */
  target?: URL | undefined;
  /** Receivers of their own for some event types; the first that fits takes an event. */
  routes?: readonly Route[] | undefined;
  /** Additional headers of a forward, a flat list of names and values. */
  headers?: readonly string[] | undefined;
  /** Accepts any certificate of the receiver. */
  skipVerify?: boolean | undefined;
  /** The limit of one forward in milliseconds; 10 s unless given. */
  timeoutMs?: number | undefined;
  /** The most forwards at once; 16 unless given. */
  concurrency?: number | undefined;
  /** Forwards the events of one object one at a time, in their order. */
  ordered?: boolean | undefined;
  /** How often a failed forward is tried again; never unless given. */
  retries?: number | undefined;
  /** Faults to put in. */
  chaos?: ChaosSettings | undefined;
  /** What this machine is; a plain one unless given. */
  host?: HostKind | undefined;
  clock?: Clock | undefined;
  random?: Random | undefined;
}

export interface ForwardingHooks<Event extends RelayedEvent> {
  /** What deliveries are signed with. */
  secret: () => string;
  /** The event's own delivery has ended. */
  settled(event: Event, result: ForwardResult): void;
  report(report: ForwardedReport): void;
}

/** How many forwards a burst and the schedule may have at once. */
export function concurrencyOf({ concurrency, chaos }: ForwardingOptions): number {
  return Math.max(concurrency ?? DEFAULT_CONCURRENCY, chaos?.burst ?? 0);
}

/** Throws SignatureError for a secret that cannot sign. */
export function assertSigningSecret(secret: string): void {
  sign({ payload: "", secrets: secret });
}

/** Brings events to their receivers and keeps account of it. */
export class Forwarding<Event extends RelayedEvent> {
  readonly #hooks: ForwardingHooks<Event>;
  readonly #router: Router;
  readonly #dispatcher: Dispatcher<Event>;
  readonly #latency = new LatencyHistogram();
  readonly #chaos: ChaosTally | undefined;
  readonly #counts = { received: 0, forwarded: 0, failed: 0 };

  constructor(options: ForwardingOptions, hooks: ForwardingHooks<Event>) {
    const { clock = systemClock, random = Math.random, chaos } = options;
    const { routes = [], target, ordered = false, retries = 0 } = options;
    this.#hooks = hooks;
    this.#chaos = chaos === undefined ? undefined : new ChaosTally(chaos);
    this.#router = new Router({ ...options, clock, routes, target });
    this.#dispatcher = new Dispatcher<Event>({
      router: this.#router,
      secret: hooks.secret,
      concurrency: concurrencyOf(options),
      ordered,
      retries,
      chaos,
      clock,
      random,
      attempted: (delivery, result, retryInMs) => this.#attempted(delivery, result, retryInMs),
      abandoned: () => (this.#counts.failed += 1),
    });
  }

  /** Takes an event; false where no receiver wants it. */
  add(event: Event): boolean {
    this.#counts.received += 1;
    return this.#dispatcher.add(event);
  }

  /** Forwards an event once more, beside its own delivery; false where no receiver wants it. */
  resend(event: Event): boolean {
    return this.#dispatcher.resend(event);
  }

  /** Starts nothing more until `resume`. */
  pause(): void {
    this.#dispatcher.pause();
  }

  resume(): void {
    this.#dispatcher.resume();
  }

  /** Forgets what has not started, lets the rest end, then calls back. */
  windUp(whenIdle: () => void): void {
    this.#dispatcher.windUp(whenIdle);
  }

  /** Cuts all connections and gives the account; `duplicates` is for the caller to know. */
  close(duplicates: number): Summary {
    this.#router.close();
    const [p50, p99] = [this.#latency.percentile(0.5), this.#latency.percentile(0.99)];
    const summary: Summary = { ...this.#counts, duplicates, p50, p99 };
    if (this.#chaos !== undefined) summary.chaos = this.#chaos.summary;
    return summary;
  }

  #attempted(delivery: Delivery<Event>, result: ForwardResult, retryInMs: number | undefined): void {
    const { event, faults, copy } = delivery;
    if (retryInMs === undefined) for (const fault of faults) this.#chaos?.add(fault, result.status);
    if (copy === undefined) this.#latency.add(result.durationMs);
    if (copy === undefined && retryInMs === undefined) {
      this.#count(result.status);
      this.#hooks.settled(event, result);
    }
    this.#hooks.report(forwardedReport(delivery, result, retryInMs));
  }

  #count(status: number | undefined): void {
    if (status !== undefined && status >= 200 && status < 300) this.#counts.forwarded += 1;
    else this.#counts.failed += 1;
  }
}
