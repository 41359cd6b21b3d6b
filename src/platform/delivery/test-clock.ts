import { pause } from "../../network/clock.ts";
import type { TestClock } from "../../contract/schemas/sandbox.ts";
import { beginAdvance, showAdvance, showClock } from "../domain/test-clock.ts";
import { Periodic } from "../time/periodic.ts";
import type { Transaction } from "../storage/database.ts";
import { findAdvance, runningAdvances } from "../storage/clock-advances.ts";
import { leaseTime } from "../storage/delivery-queue.ts";
import { holdClock, isClockHeld } from "../storage/environments.ts";
import { ClockRun } from "./clock-run.ts";
import type { DeliveryTools } from "./worker.ts";

const POLL_MILLISECONDS = 500;
/** How often a request checks whether another process has finished the advance. */
const WATCH_MILLISECONDS = 100;

/**
 * Moves the clocks of sandboxes. An advance is a row in the database, so it survives the process that began it: any
 * process that finds it without a holder continues it.
 */
export class TestClockAdvancer {
  readonly #tools: DeliveryTools;
  readonly #periodic: Periodic;
  readonly #total = { open: 0 };
  readonly #runs = new Map<string, ClockRun>();
  #holders = 0;
  #stopping = false;

  constructor(tools: DeliveryTools) {
    this.#tools = tools;
    this.#periodic = new Periodic(tools, POLL_MILLISECONDS, () => this.#poll());
  }

  /** Begins to take over advances that no process carries out. */
  start(): void {
    this.#periodic.start();
  }

  /** Lets attempts in flight finish. Unfinished advances continue in another process, or after the next start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const run of this.#runs.values()) run.stop();
    await Promise.all([this.#periodic.stop(), ...[...this.#runs.values()].map((run) => run.ended)]);
  }

  /** Starts an advance in the caller's transaction. Call `follow` after the commit. Throws ApiError. */
  begin(tx: Transaction, environment: number, seconds: number): Promise<{ number: number; endsAt: number }> {
    const { now } = this.#tools.clock;
    return beginAdvance(tx, environment, { seconds, holder: this.#newHolder(), now });
  }

  /** Returns the progress of an advance once it is over, or after this time; if it no longer exists, the clock. */
  async follow(environment: number, number: number, milliseconds: number): Promise<TestClock> {
    const { database, clock } = this.#tools;
    const until = clock.elapsed() + milliseconds;
    await this.#poll();
    for (;;) {
      const advance = await findAdvance(database, environment, number);
      const rest = until - clock.elapsed();
      if (advance === undefined) return showClock(database, environment, clock.now());
      if (advance.status !== "running" || rest <= 0 || this.#stopping) {
        return showAdvance(database, advance, clock.now());
      }
      const run = this.#runs.get(nameOf(environment, number));
      if (run === undefined) await pause(this.#tools.clock, Math.min(rest, WATCH_MILLISECONDS));
      else await Promise.race([run.ended, pause(this.#tools.clock, rest)]);
    }
  }

  /** Continues the advances that this process holds, and those without a holder. */
  async #poll(): Promise<void> {
    const { background, database, clock } = this.#tools;
    const advances = await runningAdvances(database);
    if (advances.length === 0) return;
    const now = await leaseTime(database, clock.now);
    for (const { environment, number, clock_holder: former, clock_held_until: until } of advances) {
      if (this.#stopping) return;
      const isMine = former?.startsWith(this.#ownPrefix) === true;
      if (this.#runs.has(nameOf(environment, number))) continue;
      if (isMine) this.#run(environment, number, former);
      else if (!isClockHeld(until, now)) {
        const holder = this.#newHolder();
        const hold = () =>
          database.write((tx) => holdClock(tx, environment, holder, now), { isolation: "read committed" });
        const isHeld = await background.run("clock_advance", { environment }, hold);
        if (isHeld === true) this.#run(environment, number, holder);
      }
    }
  }

  #run(environment: number, number: number, holder: string): void {
    const name = nameOf(environment, number);
    if (this.#stopping || this.#runs.has(name)) return;
    const run = new ClockRun(this.#tools, this.#total, { environment, number, holder });
    this.#runs.set(name, run);
    void run.ended.then(() => this.#runs.delete(name));
  }

  get #ownPrefix(): string {
    return `${this.#tools.owner}.clock.`;
  }

  #newHolder(): string {
    return `${this.#ownPrefix}${(this.#holders += 1)}`;
  }
}

function nameOf(environment: number, number: number): string {
  return `${environment} ${number}`;
}
