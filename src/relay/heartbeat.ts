import { LIMITS } from "../contract/limits.ts";
import type { Clock } from "./ports.ts";

const PING_MS = LIMITS.heartbeatSeconds * 1000;
const SILENCE_MS = LIMITS.silenceSeconds * 1000;

export interface HeartbeatOptions {
  clock: Clock;
  ping(): void;
  /** Nothing at all was heard for 30 s. */
  silent(): void;
}

/** Asks for a sign of life every 15 s and gives up after 30 s without any (decisions 10). */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #lastHeard: number;
  #cancelPing: () => void;
  #cancelCheck: () => void;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#lastHeard = options.clock.now();
    this.#cancelPing = this.#schedulePing();
    this.#cancelCheck = options.clock.after(SILENCE_MS, () => this.#check());
  }

  /** Some bytes came: cheap enough for every chunk. */
  heard(): void {
    this.#lastHeard = this.#options.clock.now();
  }

  stop(): void {
    this.#cancelPing();
    this.#cancelCheck();
  }

  #schedulePing(): () => void {
    return this.#options.clock.after(PING_MS, () => {
      this.#cancelPing = this.#schedulePing();
      this.#options.ping();
    });
  }

  #check(): void {
    const remaining = this.#lastHeard + SILENCE_MS - this.#options.clock.now();
    if (remaining <= 0) return this.#options.silent();
    this.#cancelCheck = this.#options.clock.after(Math.ceil(remaining), () => this.#check());
  }
}
