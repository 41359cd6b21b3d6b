import { shortError } from "../explain/attempts.ts";
import { capitalized } from "../contract/words.ts";

/** Names of the statuses that receivers return, as in HTTP (RFC 9110). */
const PHRASES: Readonly<Partial<Record<number, string>>> = {
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** What happened instead of a response, by error code, if the error's own description is not for readers. */
const ERRORS: Readonly<Partial<Record<string, string>>> = {
  connection_refused: "Connection refused",
  connection_closed: "Connection closed before the response was complete",
};

/** Codes of attempts that were recorded without a request, because nothing could be sent any more. */
const NOT_SENT = /^(endpoint_deleted|event_expired|endpoint_disabled|expired|(event|secret|url)_damaged)$/;

/** Returns the code of an error, and its description: an error of a listener has no code. */
function partsOf(error: string): { code: string; description: string } {
  const [, code = "", description = error] = /^([a-z_]+): (.*)$/s.exec(error) ?? [];
  return { code, description };
}

/** Returns true for an attempt that was recorded without a request, because nothing could be sent any more. */
export function isNotSent(error: string | null): boolean {
  return error !== null && NOT_SENT.test(partsOf(error).code);
}

/** Returns true if there was no response in time. */
export function isTimeout(error: string | null): boolean {
  return error !== null && /timeout|timed out|within/i.test(error);
}

/** Returns the response to an attempt, or what happened instead, in words: `500 Internal Server Error`. */
export function outcomeInWords(status: number | null, error: string | null): string {
  if (status !== null) return [status, PHRASES[status]].filter(Boolean).join(" ");
  const { code, description } = partsOf(error ?? "no response");
  return capitalized(ERRORS[code] ?? description.replace(/^no complete response/, "no response"));
}

/** Returns what happened instead of a response in two or three words. */
export function errorInShort(error: string | null): string {
  return isNotSent(error) ? "not sent" : shortError(error);
}
