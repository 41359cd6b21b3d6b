import { isSuccess } from "../contract/is-success.ts";
import { LIMITS } from "../contract/limits.ts";
import { callAfter, type Clock as BaseClock } from "../network/clock.ts";
import { connectOptions, openSocket } from "../network/connect-options.ts";
import { errorCodeOf } from "../network/failures.ts";
import { Poster, type PostResult, TimeLimitError } from "../network/poster.ts";

/** What a check takes from its environment. */
export interface Clock extends Pick<BaseClock, "now" | "elapsed"> {
  /** Resolves after this many milliseconds. Rejects if the whole check is aborted. */
  sleep(milliseconds: number): Promise<void>;
}

/** Reasons for the lack of a complete response. */
type FailureKind = "timeout" | "refused" | "closed" | "other";

/** A receiver's response to one delivery. */
export interface Response {
  /** The status; absent without a complete response. */
  status?: number;
  failure?: { kind: FailureKind; message: string };
  milliseconds: number;
  /** True if it is the response to a repetition, since the first try got none in time. */
  isRepeated?: true;
  /** The beginning of the response body, on one line. */
  excerpt: string;
  /** The target of a redirect. */
  location?: string;
  /** The receiver's clock by its `Date` header, in Unix milliseconds. */
  date?: number;
}

/** Returns true for 2xx: the delivery counts as received. */
export function isAccepted({ status }: Response): boolean {
  return isSuccess(status);
}

/** Returns true for 4xx: verified and rejected. A 5xx or a closed connection is a failure, not a rejection. */
export function isRejected({ status }: Response): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

/** Returns true if the receiver may be down: the connection was refused or broken. */
export function isDisconnection({ failure }: Response): boolean {
  return failure !== undefined && failure.kind !== "timeout";
}

/** Summarizes the response: `204 in 3 ms`. */
export function formatResponse(response: Response): string {
  const { status, failure, milliseconds, excerpt, location, isRepeated } = response;
  if (status === undefined) return failure?.message ?? "no response";
  const summary = `${status} in ${formatDuration(milliseconds)}${isRepeated ? " at the second try" : ""}`;
  if (location !== undefined && status >= 300 && status < 400) return `${summary}, a redirect to ${location}`;
  if (status < 400 || excerpt === "") return summary;
  const isCut = excerpt.length > EXCERPT_LENGTH;
  return `${summary}: ${isCut ? excerpt.slice(0, EXCERPT_LENGTH).replace(/\s*\S*$/, "…") : excerpt}`;
}

export function formatDuration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

interface Outgoing {
  url: URL;
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Time limit from the connect to the last byte of the response. */
  limitMilliseconds: number;
  /** Accepts any TLS certificate. */
  skipVerify: boolean;
  signal: AbortSignal;
  clock: Pick<Clock, "elapsed">;
}

const EXCERPT_LENGTH = 200;
/** Stack frames in a page, such as the error page of a framework. */
const STACK_FRAMES = /\s+at (?:[^\s()]+ ){0,4}\(?\S+:\d+:\d+\)?/g;
const MARKUP = /<(title|style|script)[^]*?<\/\1>|<[^>]*>|&nbsp;/gi;

/** Sends one request on a connection of its own. Redirects are not followed. Rejects only if `signal` aborts. */
export function exchange(outgoing: Outgoing): Promise<Response> {
  const { url, method, headers, body, limitMilliseconds, skipVerify, signal, clock } = outgoing;
  const poster = new Poster({
    method,
    connect: () =>
      openSocket(url, connectOptions(url.hostname, limitMilliseconds), { rejectUnauthorized: !skipVerify }),
    timeoutMs: limitMilliseconds,
    excerptBytes: LIMITS.deliveryExcerptBytes,
    clock: { elapsed: () => clock.elapsed(), after: callAfter },
  });
  return new Promise((resolve, reject) => {
    const end = (): void => {
      signal.removeEventListener("abort", abort);
      poster.close();
    };
    const abort = (): void => {
      end();
      reject(signal.reason as Error);
    };
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);
    poster.post(url, Object.entries(headers).flat(), body, (result) => {
      end();
      resolve(responseOf(result, outgoing));
    });
  });
}

function responseOf(result: PostResult, { url, limitMilliseconds }: Outgoing): Response {
  const { status, error, durationMs: milliseconds, headers, excerpt: text } = result;
  if (status === undefined) {
    const [kind, message] =
      error instanceof TimeLimitError
        ? (["timeout", `no complete response within ${limitMilliseconds / 1000} s`] as const)
        : headers === undefined
          ? describe(error!, url)
          : (["closed", "the connection was closed during the response"] as const);
    return { failure: { kind, message }, milliseconds, excerpt: "" };
  }
  const location = headers?.get("location");
  const date = Date.parse(headers?.get("date") ?? "");
  const isPage = /^\s*<(?:!doctype|html)/i.test(text);
  return {
    status,
    milliseconds,
    excerpt: (isPage ? text.replaceAll(MARKUP, " ") : text).replaceAll(STACK_FRAMES, "").replaceAll(/\s+/g, " ").trim(),
    ...(location === undefined ? {} : { location }),
    ...(Number.isNaN(date) ? {} : { date }),
  };
}

const WORDS: Readonly<Record<string, [FailureKind, string]>> = {
  ECONNRESET: ["closed", "the connection was closed without a response"],
  EPIPE: ["closed", "the connection was closed before the delivery was read"],
  ENOTFOUND: ["other", "the host name cannot be resolved"],
  EAI_AGAIN: ["other", "the host name cannot be resolved at the moment"],
  EHOSTUNREACH: ["other", "there is no network route to the host"],
  ENETUNREACH: ["other", "there is no network route to the host"],
  EPROTO: ["other", "no TLS connection: does the receiver serve plain http?"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["other", "the certificate is self-signed (--skip-verify accepts it)"],
  CERT_HAS_EXPIRED: ["other", "the certificate has expired"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["other", "the certificate is for another host"],
};

function describe(error: Error, url: URL): [FailureKind, string] {
  const code = errorCodeOf(error);
  if (code === "ECONNREFUSED") return ["refused", `connection refused: nothing listens on ${url.host}`];
  return WORDS[code] ?? ["other", `the exchange failed: ${error.message || code}`];
}
