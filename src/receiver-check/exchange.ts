import { type IncomingMessage, request as requestHttp, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { isSuccess } from "../contract/is-success.ts";
import { callAfter, type Clock as BaseClock } from "../network/clock.ts";
import { connectOptions } from "../network/connect-options.ts";

/** What a check takes from its environment. */
export interface Clock extends Pick<BaseClock, "now" | "elapsed"> {
  /** Resolves after this many milliseconds. Rejects if the whole check is aborted. */
  sleep(milliseconds: number): Promise<void>;
}

/** Reasons for the lack of a complete response. */
type FailureKind = "timeout" | "refused" | "closed" | "other";

/** A receiver's response to one delivery. */
export interface Response {
  /** Absent without a complete response. */
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
  /** From the connect to the last byte of the response. */
  limitMilliseconds: number;
  /** Accepts any TLS certificate. */
  skipVerify: boolean;
  signal: AbortSignal;
  clock: Pick<Clock, "elapsed">;
}

/** This much of a response is stored; the rest is read and dropped. */
const EXCERPT_BYTES = 4096;
const EXCERPT_LENGTH = 200;
/** In a page, such as the error page of a framework. */
const STACK_FRAMES = /\s+at (?:[^\s()]+ ){0,4}\(?\S+:\d+:\d+\)?/g;
const MARKUP = /<(title|style|script)[^]*?<\/\1>|<[^>]*>|&nbsp;/gi;

/** Sends one request on a connection of its own. Redirects are not followed. Rejects only if `signal` aborts. */
export function exchange(outgoing: Outgoing): Promise<Response> {
  const { url, method, headers, body, limitMilliseconds, skipVerify, signal, clock } = outgoing;
  const started = clock.elapsed();
  const elapsed = (): number => clock.elapsed() - started;
  return new Promise((resolve, reject) => {
    const options: RequestOptions & { rejectUnauthorized: boolean } = {
      method,
      agent: false,
      headers: { ...headers, ...(method === "POST" ? { "Content-Length": body.length } : {}) },
      rejectUnauthorized: !skipVerify,
      ...connectOptions(url.hostname, limitMilliseconds),
    };
    const request = url.protocol === "https:" ? requestHttps(url, options) : requestHttp(url, options);
    const cancelLimit = callAfter(limitMilliseconds, () =>
      fail("timeout", `no complete response within ${limitMilliseconds / 1000} s`),
    );
    const abort = (): void => {
      end();
      reject(signal.reason as Error);
    };

    function end(): void {
      cancelLimit();
      signal.removeEventListener("abort", abort);
      request.destroy();
    }

    function fail(kind: FailureKind, message: string): void {
      end();
      resolve({ failure: { kind, message }, milliseconds: elapsed(), excerpt: "" });
    }

    request.on("error", (error: NodeJS.ErrnoException) => fail(...describe(error, url)));
    request.on("response", (response) => {
      readStart(response).then(
        (text) => {
          end();
          resolve(responseOf(response, text, elapsed()));
        },
        () => fail("closed", "the connection was closed during the response"),
      );
    });
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    request.end(body);
  });
}

async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (size < EXCERPT_BYTES) chunks.push(chunk);
    size += chunk.length;
  }
  if (!response.complete) throw new Error("the response was incomplete");
  return Buffer.concat(chunks).toString("utf8", 0, EXCERPT_BYTES);
}

function responseOf(response: IncomingMessage, text: string, milliseconds: number): Response {
  const { location, date } = response.headers;
  const isPage = /^\s*<(?:!doctype|html)/i.test(text);
  const time = Date.parse(date ?? "");
  return {
    status: response.statusCode ?? 0,
    milliseconds,
    excerpt: (isPage ? text.replaceAll(MARKUP, " ") : text).replaceAll(STACK_FRAMES, "").replaceAll(/\s+/g, " ").trim(),
    ...(location === undefined ? {} : { location }),
    ...(Number.isNaN(time) ? {} : { date: time }),
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

function describe(error: NodeJS.ErrnoException, url: URL): [FailureKind, string] {
  // If several addresses were tried, the first one's error counts.
  const [first = error] = (error as { errors?: NodeJS.ErrnoException[] }).errors ?? [];
  const code = error.code ?? first.code ?? "";
  if (code === "ECONNREFUSED") return ["refused", `connection refused: nothing listens on ${url.host}`];
  return WORDS[code] ?? ["other", `the exchange failed: ${first.message || code}`];
}
