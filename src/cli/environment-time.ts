import { ApiError } from "../client/errors.ts";
import { pathOf } from "../contract/resources.ts";
import type { TestClock } from "../contract/schemas/sandbox.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import { secondsOf } from "../contract/durations.ts";
import type { Context } from "./context.ts";
import { formatSpan } from "./terminal/time.ts";

/** Less is within the difference between this machine's clock and the platform's. */
const MIN_NOTICED_MS = 30_000;

/** An event's time is at the beginning of its body. Its ID may contain a later one: IDs do not go back with the clock. */
const BEGINNING = 400;
const CREATED = /"created":"([^"]{20,24})"/;

const READ_CLOCK = { method: "GET", path: pathOf("test_clock") } as const;

/**
 * Returns the environment's time in Unix milliseconds: the test clock of a sandbox may be ahead of real time. A
 * credential that may not read the test clock gets real time.
 */
export async function environmentNow(context: Context): Promise<number> {
  const { environment } = await context.connection();
  if (environment === "live") return context.now();
  try {
    return Date.parse((await context.request<TestClock>(READ_CLOCK)).now);
  } catch (error) {
    if (error instanceof ApiError && error.code === "insufficient_scope") return context.now();
    throw error;
  }
}

/** The environment's time for a command that keeps running: what it shows is in this time, with a badge while it is ahead. */
export class EnvironmentClock {
  readonly #context: Context;
  /** How far it is ahead of real time, as far as known. */
  #aheadMs = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  now(): number {
    return this.#context.now() + this.#aheadMs;
  }

  /** Real time in Unix milliseconds, for durations that the test clock must not affect. */
  realNow(): number {
    return this.#context.now();
  }

  /** `clock +1d 2h`, or undefined without a test clock that is ahead. */
  get badge(): string | undefined {
    if (this.#aheadMs === 0) return undefined;
    // Times of events are whole seconds, a little in the past.
    const span = formatSpan(Math.round(this.#aheadMs / 10_000) * 10);
    return `clock +${span.replaceAll(/ (d|h|min|s)[a-z]*/g, "$1")}`;
  }

  /** A notice with the badge, or undefined. */
  get notice(): string | undefined {
    const { badge } = this;
    return badge && `${badge}: the sandbox's time is ahead of real time`;
  }

  /** Asks the platform if ages are shown, which programs do not read. */
  async readForTerminal(): Promise<void> {
    const { terminal, json, quiet } = this.#context.output;
    if (terminal && !json && !quiet) await this.read();
  }

  /** Asks the platform. Shows no spinner, never rejects. */
  async read(): Promise<void> {
    try {
      if ((await this.#context.connection()).environment === "live") return;
      const { offset_seconds: ahead } = await this.#context.request<TestClock>({ ...READ_CLOCK, isBackground: true });
      this.#isAhead(ahead * 1000);
    } catch {
      // The command itself reports an unreachable platform.
    }
  }

  /** Learns from an event that was created just now or earlier. */
  learn(body: string): void {
    const [, created] = CREATED.exec(body.slice(0, BEGINNING)) ?? [];
    if (created === undefined) return;
    const aheadMs = Date.parse(created) - this.#context.now();
    // An older event does not show the current time, but a current one shows that the clock is no longer ahead.
    if (Math.abs(aheadMs) < MIN_NOTICED_MS || aheadMs > this.#aheadMs) this.#isAhead(aheadMs);
  }

  #isAhead(milliseconds: number): void {
    this.#aheadMs = milliseconds < MIN_NOTICED_MS ? 0 : milliseconds;
  }
}

/** Returns a time of `pointInTime` as the API takes it: an age counts in the environment's time, or in real time. */
export async function resolveTime(text: string, context: Context, { isInRealTime = false } = {}): Promise<string> {
  const age = secondsOf(text);
  if (age === undefined) return text;
  const now = isInRealTime ? context.now() : await environmentNow(context);
  return formatTimestamp(Math.max(0, now - age * 1000));
}
