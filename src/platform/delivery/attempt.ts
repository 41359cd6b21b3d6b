import { LIMITS } from "../../contract/limits.ts";
import { describeTlsError, type FailureKind, failureKindOf, isOutOfDescriptors } from "../../network/failures.ts";
import { type PostResult, TimeLimitError } from "../../network/poster.ts";
import { InvalidResponseError, type ResponseHeaders } from "../../network/response-parser.ts";
import { DnsError } from "./dns.ts";
import { BlockedTargetError } from "./target-guard.ts";

const MAX_CHARACTERS = 300;

/** Names of the failure kinds in the API. */
const KINDS: Readonly<Record<FailureKind, string>> = {
  refused: "connection_refused",
  timeout: "timeout",
  reset: "connection_closed",
  dns: "dns",
  tls: "tls",
  unreachable: "unreachable",
};

const WORDS: Record<string, string> = {
  connection_refused: "no server listens on this address and port",
  dns: "the host name could not be resolved",
  connection_closed: "the connection closed before the response was complete",
  timeout: "the connection timed out",
  unreachable: "the address cannot be reached",
  invalid_response: "the response is not valid HTTP",
};

/** Returns why an attempt got no complete response: a stable code, a colon, and a description. */
function describeAttemptError(error: Error): string {
  if (error instanceof BlockedTargetError) return `blocked_target: ${error.message}`;
  if (error instanceof DnsError) return `dns: ${error.message}`;
  if (error instanceof TimeLimitError) return `timeout: no complete response within ${LIMITS.deliverySeconds} s`;
  const code = codeOf(error);
  if (code === "tls") return `tls: ${describeTlsError(error).slice(0, MAX_CHARACTERS)}`;
  return `${code}: ${WORDS[code] ?? error.message.slice(0, MAX_CHARACTERS)}`;
}

function codeOf(error: Error): string {
  if (error instanceof InvalidResponseError) return "invalid_response";
  const kind = failureKindOf(error);
  return kind === undefined ? "network" : KINDS[kind];
}

/** The result of an attempt. Without a complete response in time, `error` says why and there is no status. */
export interface AttemptResponse {
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  /** The response's headers as a JSON object; null without any. */
  headers: string | null;
  /** The beginning of the response body as text; null if it had none. */
  excerpt: string | null;
  /** The wait that a 429 or 503 requested, in milliseconds. */
  retryAfter: number | undefined;
  /** True if no connection could be opened because this process has no file descriptor left. Nothing was sent then. */
  isUnsent: boolean;
}

/** Returns what a POST means for its attempt. `now` is real time. */
export function attemptResponseOf(
  { status, error, durationMs, headers, excerpt }: PostResult,
  now: number,
): AttemptResponse {
  return {
    statusCode: status ?? null,
    error: error === undefined ? null : describeAttemptError(error),
    durationMs: Math.round(durationMs),
    headers: headers === undefined ? null : shownHeaders(headers),
    excerpt: excerpt === "" ? null : excerpt,
    retryAfter: status === undefined ? undefined : readRetryAfter(status, headers?.get("retry-after"), now),
    isUnsent: error !== undefined && isOutOfDescriptors(error),
  };
}

/** Returns the first headers as JSON, as many as fit. */
function shownHeaders(headers: ResponseHeaders): string {
  const shown: Record<string, string> = {};
  let left: number = LIMITS.deliveryHeaderCharacters;
  for (const [name, value] of headers) {
    left -= name.length + value.length;
    if (left < 0) break;
    shown[name] = value;
  }
  return JSON.stringify(shown);
}

/** The statuses whose `Retry-After` is honored. */
const STATUSES: ReadonlySet<number> = new Set([429, 503]);

/**
 * Returns how long a receiver asks to wait, in milliseconds, from whole seconds or an HTTP date (RFC 9110, 10.2.3).
 * `now` is real time, which the date is compared with. Returns undefined for an absent or malformed value.
 */
export function readRetryAfter(status: number, header: string | undefined, now: number): number | undefined {
  if (header === undefined || !STATUSES.has(status)) return undefined;
  const text = header.trim();
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  // All three date forms of HTTP begin with the name of a day. Date.parse alone would accept far more.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
