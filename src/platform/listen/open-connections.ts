import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../domain/api-error.ts";

/** Whoever lost a connection without a word has its place back by the next heartbeats. */
const RETRY_AFTER_SECONDS = 5;

/** How many connections of a kind this process holds open for each environment. */
export class OpenConnections {
  readonly #kind: string;
  readonly #max: number;
  readonly #counts = new Map<number, number>();

  /** `kind` is a plural, for people: "listeners". */
  constructor(kind: string, max: number) {
    this.#kind = kind;
    this.#max = max;
  }

  /** Takes a place until the connection is closed. Throws ApiError `connection_limit`. */
  take(environment: number, connection: Duplex | ServerResponse): void {
    const count = this.#counts.get(environment) ?? 0;
    if (count >= this.#max) {
      throw new ApiError(
        "connection_limit",
        `The environment has ${this.#max} ${this.#kind} open, as many as it may: close one, or try again later.`,
        { headers: { "Retry-After": String(RETRY_AFTER_SECONDS) } },
      );
    }
    if (connection.destroyed) return;
    this.#counts.set(environment, count + 1);
    connection.once("close", () => this.#giveBack(environment));
  }

  #giveBack(environment: number): void {
    const left = this.#counts.get(environment)! - 1;
    if (left === 0) this.#counts.delete(environment);
    else this.#counts.set(environment, left);
  }
}
