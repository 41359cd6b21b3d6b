import { LIMITS } from "../contract/limits.ts";
import type { EventFrame } from "../contract/listen.ts";
import { sign } from "../webhooks/index.ts";
import { Connection, type ConnectionObserver, type ConnectionOptions } from "./connection.ts";
import type { ForwardResult } from "./exchange.ts";
import { hintForStatus } from "./forward-failure.ts";
import { Forwarder } from "./forward.ts";
import { LatencyHistogram } from "./latency.ts";
import type { Entry } from "./ledger.ts";
import type { ListenError } from "./listen-error.ts";
import { systemClock, type Clock, type Random } from "./ports.ts";
import type { ForwardedReport, Report, Summary } from "./report.ts";
import { Schedule } from "./schedule.ts";

const DEFAULT_CONCURRENCY = 16;
const FIRST_ATTEMPT = 1;

export interface SessionOptions extends Omit<ConnectionOptions, "window" | "clock" | "random"> {
  /** Where to forward to; without it events are reported and acknowledged, no more. */
  target?: URL | undefined;
  /** Additional headers of a forward, a flat list of names and values. */
  headers?: readonly string[] | undefined;
  /** Signs with this secret instead of the session's own. */
  secret?: string | undefined;
  /** Accepts any certificate of the receiver. */
  skipVerify?: boolean | undefined;
  /** The limit of one forward in milliseconds; 10 s unless given. */
  timeoutMs?: number | undefined;
  /** The most forwards at once; 16 unless given. */
  concurrency?: number | undefined;
  /** Told everything, in order, while it happens. Must not throw. */
  report: (report: Report) => void;
  clock?: Clock | undefined;
  random?: Random | undefined;
}

/** How a session ended: because it was stopped, or by an error that no further attempt can mend. */
export interface SessionEnd {
  summary: Summary;
  error: ListenError | undefined;
}

interface Task {
  frame: EventFrame;
  entry: Entry;
}

/** Listens to the platform's events and forwards them. */
export class Session {
  /** Settles when the session is over and its connections are closed; never rejects. */
  readonly ended: Promise<SessionEnd>;
  readonly #options: SessionOptions;
  readonly #clock: Clock;
  readonly #connection: Connection;
  readonly #forwarder: Forwarder | undefined;
  readonly #schedule: Schedule<Task>;
  readonly #latency = new LatencyHistogram();
  readonly #counts = { received: 0, forwarded: 0, failed: 0, duplicates: 0 };
  #secret = "";
  #stopping = false;
  #disconnected: (error: ListenError | undefined) => void = () => {};
  /** What is left to do once the last forward has ended. */
  #whenIdle = () => this.#connection.close();

  constructor(options: SessionOptions) {
    const { concurrency = DEFAULT_CONCURRENCY, clock = systemClock, random = Math.random, secret, target } = options;
    // A secret that cannot sign is told now, not at the first event.
    if (secret !== undefined) sign({ payload: "", secrets: secret });
    this.#options = options;
    this.#clock = clock;
    this.#schedule = new Schedule(concurrency);
    this.#forwarder = target === undefined ? undefined : new Forwarder({ ...options, url: target, clock });
    // Enough to keep every slot busy while acknowledgements travel.
    const window = Math.min(Math.max(4 * concurrency, LIMITS.listenWindowDefault), LIMITS.listenWindowMost);
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

  #observer(): ConnectionObserver {
    const { report } = this.#options;
    return {
      ready: ({ session, secret, cursor, account, environment, subscriptions, others }, first) => {
        this.#secret = secret;
        if (!first) return;
        report({ event: "ready", session, secret, cursor, account, environment, subscriptions, others });
      },
      event: (frame, entry) => this.#received({ frame, entry }),
      duplicate: ({ id, type }) => {
        this.#counts.duplicates += 1;
        report({ event: "duplicate", id, type });
      },
      gap: ({ from, to }) => report({ event: "gap", from, to }),
      lost: (reason, retryInMs) => report({ event: "lost", reason, retryInMs }),
      failed: (reason, failures, retryInMs) => report({ event: "retrying", reason, failures, retryInMs }),
      restored: (downtimeMs, caughtUp) => report({ event: "restored", downtimeMs, caughtUp }),
      stopped: (error) => {
        this.#whenIdle = () => this.#disconnected(error);
        this.#windUp();
      },
    };
  }

  #received(task: Task): void {
    if (this.#stopping) return;
    const { id, type, body } = task.frame;
    this.#counts.received += 1;
    this.#options.report({ event: "received", id, type, body });
    if (this.#forwarder === undefined) return this.#connection.acknowledge(task.entry, { durationMs: 0 });
    this.#schedule.add(task);
    this.#startNext(this.#forwarder);
  }

  #startNext(forwarder: Forwarder): void {
    for (let task = this.#schedule.next(); task !== undefined; task = this.#schedule.next()) {
      this.#forward(task, forwarder);
    }
  }

  #forward(task: Task, forwarder: Forwarder): void {
    const body = Buffer.from(task.frame.body, "utf8");
    const timestamp = Math.floor(this.#clock.unixMilliseconds() / 1000);
    const signature = sign({ payload: body, secrets: this.#options.secret ?? this.#secret, timestamp });
    forwarder.forward({ id: task.frame.id, body, signature, attempt: FIRST_ATTEMPT }, (result) => {
      this.#forwarded(task, result);
      this.#startNext(forwarder);
    });
  }

  #forwarded(task: Task, result: ForwardResult): void {
    const { status, failure, durationMs, excerpt } = result;
    this.#schedule.ended(task);
    this.#latency.add(durationMs);
    if (status !== undefined && status >= 200 && status < 300) this.#counts.forwarded += 1;
    else this.#counts.failed += 1;
    this.#connection.acknowledge(task.entry, { status, error: failure?.message, durationMs, excerpt });
    this.#options.report(toReport(task.frame, result));
    if (this.#stopping && this.#schedule.idle) this.#whenIdle();
  }

  #windUp(): void {
    this.#stopping = true;
    this.#schedule.clear();
    if (this.#schedule.idle) this.#whenIdle();
  }

  async #finish(error: ListenError | undefined): Promise<SessionEnd> {
    await this.#forwarder?.close();
    const p50 = this.#latency.percentile(0.5);
    const summary: Summary = { ...this.#counts, p50, p99: this.#latency.percentile(0.99) };
    this.#options.report({ event: "summary", ...summary });
    return { summary, error };
  }
}

function toReport({ id, type }: EventFrame, result: ForwardResult): ForwardedReport {
  const { status, failure, durationMs, excerpt, location } = result;
  const report: ForwardedReport = { event: "forwarded", id, type, attempt: FIRST_ATTEMPT, durationMs };
  const hint = failure?.hint ?? (status === undefined ? undefined : hintForStatus(status, location));
  if (status !== undefined) report.status = status;
  if (location !== undefined) report.location = location;
  if (status !== undefined && status >= 400) report.body = excerpt;
  if (failure !== undefined) report.failure = failure;
  if (hint !== undefined) report.hint = hint;
  return report;
}
