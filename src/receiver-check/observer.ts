import { formatResponse, isAccepted } from "./response.ts";
import { exchange } from "./exchange.ts";
import type { Clock } from "./ports.ts";

/** Observes a receiver's effects, which its responses do not reveal. */
export interface Observer {
  /** For display: `the probe at http://…`. */
  name: string;
  /**
   * Returns how often the receiver has acted: on these events if the observer can distinguish events, else on any.
   * Rejects with ObserverError.
   */
  count(eventIds: readonly string[]): Promise<number>;
}

/** The observer itself does not work, so effects cannot be counted. */
export class ObserverError extends Error {
  override name = "ObserverError";
}

const LIMIT_MILLISECONDS = 5000;

/** Requests the number of effects from a URL, which returns a number, or a JSON object with a `count`. */
export function probeAt(url: URL, { clock, signal }: { clock: Clock; signal: AbortSignal }): Observer {
  const name = `the probe at ${url.href}`;
  return {
    name,
    async count() {
      const response = await exchange({
        url,
        method: "GET",
        headers: { Accept: "application/json, text/plain" },
        body: new Uint8Array(),
        limitMilliseconds: LIMIT_MILLISECONDS,
        skipVerify: false,
        signal,
        now: () => clock.monotonicMilliseconds(),
      });
      const count = isAccepted(response) ? countIn(response.excerpt) : undefined;
      if (count !== undefined) return count;
      throw new ObserverError(
        `${name} gave no count (${formatResponse(response)}): it must respond to a GET with a whole number or {"count": number}`,
      );
    },
  };
}

function countIn(text: string): number | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const count = typeof value === "object" && value !== null ? (value as { count?: unknown }).count : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
