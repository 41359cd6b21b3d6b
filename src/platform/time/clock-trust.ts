import type { Clock, Log } from "../ports.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A wall clock that was changed by at least this much is not trusted. */
const STEP_MILLISECONDS = HOUR;
/** A wall clock that runs evenly for this long after a change is trusted. */
const STEADY_MILLISECONDS = DAY;
/** At start it is not trusted if it is further than this from the last trusted time: it may not have been set yet. */
const AWAY_MILLISECONDS = DAY;
const STEADY_AFTER_START_MILLISECONDS = HOUR;

/**
 * Decides whether the wall clock can be trusted to say that something is too old. The consequences are irreversible:
 * rows are deleted, deliveries fail permanently. A clock that is a month ahead for a minute must not delete history.
 */
export class ClockTrust {
  readonly #clock: Clock;
  readonly #log: Log;
  /** The wall clock minus the uptime, when it was last trusted. */
  #trusted: number | undefined;
  #doubt: { difference: number; until: number } | undefined;

  /** `lastTrusted`: a time at which the database's clock was trusted, in Unix milliseconds, if any. */
  constructor(clock: Clock, log: Log, lastTrusted: number | undefined) {
    this.#clock = clock;
    this.#log = log;
    const difference = this.#difference();
    if (lastTrusted === undefined || clock.now() - lastTrusted < AWAY_MILLISECONDS) this.#trusted = difference;
    else this.#doubt = { difference, until: clock.uptime() + STEADY_AFTER_START_MILLISECONDS };
  }

  /** Returns false while the wall clock may be wrong. Read the time first, so that a step in between is noticed. */
  isTrusted(): boolean {
    const difference = this.#difference();
    if (this.#trusted !== undefined && Math.abs(difference - this.#trusted) < STEP_MILLISECONDS) {
      this.#trust(difference);
      return true;
    }
    if (this.#doubt === undefined || Math.abs(difference - this.#doubt.difference) >= STEP_MILLISECONDS) {
      const before = this.#trusted ?? this.#doubt?.difference ?? difference;
      this.#doubt = { difference, until: this.#clock.uptime() + STEADY_MILLISECONDS };
      this.#log.warn(
        { set_by_seconds: Math.round((difference - before) / 1000) },
        "the clock was set by an hour or more: nothing is deleted and no delivery fails because of its age until the " +
          "clock is set back or has run evenly for a day",
      );
    }
    if (this.#clock.uptime() < this.#doubt.until) return false;
    this.#trust(difference);
    return true;
  }

  #trust(difference: number): void {
    if (this.#doubt !== undefined) this.#log.info({}, "the clock is trusted again");
    this.#doubt = undefined;
    this.#trusted = difference;
  }

  #difference(): number {
    return this.#clock.now() - this.#clock.uptime();
  }
}
