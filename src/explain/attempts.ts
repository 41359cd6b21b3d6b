import type { Attempt, Delivery } from "../contract/schemas/delivery.ts";
import type { StatisticsFailure } from "../contract/schemas/statistics.ts";
import { labelOfFailure } from "../contract/failure-labels.ts";
import { listed } from "../contract/words.ts";
import { quoted, span, type TimeFormat } from "./finding.ts";

/** Why a delivery ended without another request. It is stored like an attempt. */
const ENDING = /^(endpoint_deleted|endpoint_disabled|event_expired|expired): /;

/** Returns the attempts that were made. */
export function attemptsOf({ attempts = [] }: Delivery): Attempt[] {
  return attempts.filter(({ error }) => !ENDING.test(error ?? ""));
}

/** Returns the code of why a delivery ended, if it was not because of its last attempt. */
export function endingOf({ attempts = [] }: Delivery): string | undefined {
  return ENDING.exec(attempts.at(-1)?.error ?? "")?.[1];
}

/** Returns the number of the last attempt. A listener counts one that it dropped on purpose, and reports no result of it. */
export function lastNumber(attempts: readonly Attempt[]): number {
  return attempts.length + Number(/^drop\b/.test(attempts.at(-1)?.injected ?? ""));
}

const COPIES: Readonly<Partial<Record<string, string>>> = {
  badsig: "the forged one",
  stale: "the one with an old timestamp",
  duplicate: "the duplicate",
};

/** Returns what `listen --chaos` did to a delivery, to append to a sentence; empty for nothing. */
export function chaosIn(delivery: Delivery): string {
  const faults = attemptsOf(delivery).at(-1)?.injected?.split(", ") ?? [];
  const copies = faults.flatMap((fault) => {
    const [, kind = "", status = ""] = /^(\w+) (\d{3}|without a response)$/.exec(fault) ?? [];
    const copy = COPIES[kind];
    return copy === undefined ? [] : [`${copy} ${receptionOf(status)}`];
  });
  const done = [
    faults.includes("drop") && "dropped the first attempt",
    copies.length > 0 && `sent ${copies.length + 1} requests: ${listed(copies, "and")}`,
  ].filter((part) => part !== false);
  return done.length === 0 ? "" : `; \`listen --chaos\` ${done.join(" and ")}`;
}

function receptionOf(status: string): string {
  if (status.startsWith("2")) return `was accepted with ${status}`;
  if (status.startsWith("4")) return `was rejected with ${status}`;
  return status.startsWith("w") ? "got no response" : `got ${status}`;
}

/** Returns attempts as evidence: `Attempt 7 at 12:50:03: 500 in 48 ms, "out of stock"`. */
export function attemptEvidence(attempts: readonly Attempt[], time: TimeFormat): string | null {
  const last = attempts.at(-1);
  if (last === undefined) return null;
  const { at, status_code: status, error, duration_ms: duration, response_excerpt: body } = last;
  const location = last.response_headers?.["location"];
  const result = status === null ? noResponse(error) : `${status} in ${span(duration)}`;
  const quotes = [location && `Location: ${location}`, quoted(body)];
  const line = [`Attempt ${lastNumber(attempts)} at ${time(at)}: ${result}`, ...quotes].filter(Boolean).join(", ");
  const results = countsByResult(attempts.map((attempt) => ({ ...attempt, count: 1 })));
  return results.length < 2 ? line : `${line}. Attempts of this delivery: ${results.join(", ")}`;
}

/** The cause says the rest. */
function noResponse(error: string | null): string {
  const [limit] = / within [\d.]+ s$/.exec(error ?? "") ?? [];
  if (limit !== undefined && !isNameServerError(error))
    return `no ${error!.includes("complete") ? "complete " : ""}response${limit}`;
  return shortError(error);
}

/** Returns the code of an error of an attempt; undefined for an unknown one. */
export function codeOfError(error: string | null): string | undefined {
  return /^([a-z_]+)(?::|$)/.exec(error ?? "")?.[1];
}

/** Returns true if an error of a lookup is about the name servers, not about the name. */
export function isNameServerError(error: string | null): boolean {
  return /^(dns: )?the name servers /.test(error ?? "");
}

/** Returns what happened instead of a response in one or two words. */
export function shortError(error: string | null): string {
  const code = codeOfError(error);
  return code === undefined ? "no response" : labelOfFailure(code);
}

type Result = Pick<Attempt, "status_code" | "error">;

/** Returns the status of an attempt, or what happened instead of a response. */
export function resultOf({ status_code: status, error }: Result): string {
  return String(status ?? shortError(error));
}

/** Returns how many attempts had which result: `2 × 500`, `1 × timeout`. */
export function countsByResult(outcomes: readonly (Result & { count: number })[]): string[] {
  const counts = new Map<string, number>();
  for (const { count, ...outcome } of outcomes) {
    const result = resultOf(outcome);
    counts.set(result, (counts.get(result) ?? 0) + count);
  }
  return [...counts].map(([result, count]) => `${count} × ${result}`);
}

/** A ping is sent whatever the endpoint subscribes to. */
export function isReal({ event_type: type }: Delivery): boolean {
  return type !== "webhook_endpoint.ping";
}

/** Returns the delivery with the newest last attempt that had a result. The statistics have the beginning of its error. */
export function exampleOf({ status_code: status, error }: StatisticsFailure, deliveries: readonly Delivery[]) {
  const found = deliveries.filter(
    ({ last_status_code: lastStatus, last_error: lastError }) =>
      lastStatus === status && (lastError ?? "").startsWith(error ?? ""),
  );
  // A test event stands for the others only if there are none.
  return lastAttempted(found.filter(isReal)) ?? lastAttempted(found);
}

/** Returns the delivery with the newest attempt. */
export function lastAttempted(deliveries: readonly Delivery[]): Delivery | undefined {
  const timeOf = ({ last_attempt_at: at }: Delivery) => at ?? "";
  return deliveries.reduce<Delivery | undefined>(
    (last, one) => (last === undefined || timeOf(one) > timeOf(last) ? one : last),
    undefined,
  );
}
