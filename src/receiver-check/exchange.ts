import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { IncomingMessage, RequestOptions } from "node:http";
import { connectOptions } from "../network/connect-options.ts";
import { callAfter } from "../network/deadline.ts";
import type { Response, FailureKind } from "./response.ts";

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
  /** Milliseconds of a monotonic clock. */
  now: () => number;
}

/** This much of a response is stored; the rest is read and dropped. */
const EXCERPT_BYTES = 4096;
const EXCERPT_LENGTH = 200;

/** Sends one request on a connection of its own. Redirects are not followed. Rejects only if `signal` aborts. */
export function exchange(outgoing: Outgoing): Promise<Response> {
  const { url, method, headers, body, limitMilliseconds, skipVerify, signal, now } = outgoing;
  const started = now();
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
      resolve({ failure: { kind, message }, milliseconds: now() - started, excerpt: "" });
    }

    request.on("error", (error: NodeJS.ErrnoException) => fail(...describe(error, url)));
    request.on("response", (response) => {
      readStart(response).then(
        (text) => {
          end();
          resolve(responseOf(response, text, now() - started));
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
  const line = text.replaceAll(/\s+/g, " ").trim();
  const time = Date.parse(date ?? "");
  return {
    status: response.statusCode ?? 0,
    milliseconds,
    excerpt: line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}…` : line,
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
