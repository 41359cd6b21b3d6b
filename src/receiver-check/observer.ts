import { inWords, isAccepted } from "./answer.ts";
import { exchange } from "./exchange.ts";
import type { Clock } from "./ports.ts";

/** Sees what a receiver does about events, as its answers do not tell. */
export interface Observer {
  /** In words: `the probe at http://…`. */
  name: string;
  /**
   * How often the receiver has acted: on these events where the observer can tell events apart, else on any. Rejects with
   * ObserverError.
   */
  count(eventIds: readonly string[]): Promise<number>;
}

/** The observer itself does not work, so nothing can be judged by it. */
export class ObserverError extends Error {
  override name = "ObserverError";
}

const LIMIT_MILLISECONDS = 5000;

/** Asks a URL how often the receiver has acted: it answers with a number, or with a JSON object that has a `count`. */
export function probeAt(url: URL, { clock, signal }: { clock: Clock; signal: AbortSignal }): Observer {
  const name = `the probe at ${url.href}`;
  return {
    name,
    async count() {
      const answer = await exchange({
        url,
        method: "GET",
        headers: { Accept: "application/json, text/plain" },
        body: new Uint8Array(),
        limitMilliseconds: LIMIT_MILLISECONDS,
        skipVerify: false,
        signal,
        now: () => clock.now(),
      });
      const count = isAccepted(answer) ? countIn(answer.excerpt) : undefined;
      if (count !== undefined) return count;
      throw new ObserverError(
        `${name} gave no count (${inWords(answer)}): it must answer a GET with a whole number or {"count": number}`,
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
