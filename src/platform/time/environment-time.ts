import { type IdKind, type IdGenerator, createIdGenerator } from "../../contract/ids.ts";
import type { Clock, Random } from "../ports.ts";
import type { Queries } from "../storage/database.ts";
import { findEnvironment, SandboxResetError } from "../storage/environments.ts";

export interface EnvironmentNow {
  /** Unix milliseconds on the environment's clock. */
  now: number;
  /** A new ID with the current time. */
  newId: (kind: IdKind) => string;
}

/**
 * The environments' clocks: real time, which a sandbox's test clock may be ahead of. IDs contain their time and sort by
 * it, so each environment creates its own: a sandbox in the future must not move live mode's IDs there.
 */
export class EnvironmentTime {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #generators = new Map<number, IdGenerator>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Read it in the transaction that uses the time; otherwise the clock may be moved in between. Throws SandboxResetError
   * if the sandbox has another number by now.
   */
  async read(queries: Queries, environment: { environment: number; livemode: boolean }): Promise<EnvironmentNow> {
    if (environment.livemode) return this.#at(environment.environment, this.#clock.now());
    const { name, clock_offset: offset } = await findEnvironment(queries, environment.environment);
    if (name !== "sandbox") throw new SandboxResetError();
    return this.#at(environment.environment, this.#clock.now() + offset);
  }

  #at(environment: number, now: number): EnvironmentNow {
    const newId = this.#generators.get(environment) ?? createIdGenerator((size) => this.#random.bytes(size));
    this.#generators.set(environment, newId);
    return { now, newId: (kind) => newId(kind, now) };
  }
}
