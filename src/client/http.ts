import type { Agent } from "node:http";
import { HEADERS } from "../contract/headers.ts";
import { isRecord } from "../contract/json.ts";
import { LATEST_VERSION } from "../contract/versions.ts";
import { type QueryValue, urlOf } from "./base-url.ts";
import { ApiError, NetworkError } from "./errors.ts";
import type { ProxySettings } from "./proxy-settings.ts";
import { completeResponse } from "./response-check.ts";
import { type RawResponse, createTransport } from "./transport.ts";
import type { FieldError, Problem } from "../contract/schemas/problem.ts";

export interface ClientOptions {
  /** The platform's URL, from `parseBaseUrl`. */
  baseUrl: URL;
  /** An API key or a source of access tokens; sent only to the origin of the base URL. */
  credential: string | CredentialSource | undefined;
  userAgent: string;
  /** Time limit of a request in seconds, from the first connect to the last byte, including retries. */
  timeLimit?: number;
  /** Aborts requests in flight, with its reason. */
  signal: AbortSignal;
  /** The proxy variables of the environment, by their lower-case names. */
  proxies?: ProxySettings;
  /** Opens the connections of plain http (default: to the host of the base URL). */
  agent?: Agent;
  /** A number in [0, 1), for jitter. */
  random: () => number;
  /** Returns a new value for `Idempotency-Key`. */
  uuid: () => string;
  onRetry?: (retry: { reason: string; milliseconds: number; rateLimit: number | undefined }) => void;
  /** Called with each attempt, without credentials and bodies. */
  onAttempt?: (attempt: { method: string; url: string; outcome: string; milliseconds: number }) => void;
}

/** Supplies credentials that expire. If it rejects, the request rejects with the same error. */
export interface CredentialSource {
  /** Returns the credential of the next request. */
  current(): Promise<string>;
  /** Returns another credential, after this one got a 401. */
  renewed(rejected: string): Promise<string>;
}

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export interface ApiRequest {
  method: Method;
  /** Path below the base URL, encoded with `apiPath`; may contain a query. */
  path: string;
  query?: Readonly<Record<string, QueryValue>>;
  /** The body, sent as JSON; a string is sent as it is. */
  body?: unknown;
  /** The key of a POST (default: a random one). */
  idempotencyKey?: string | undefined;
  /** Accepts responses of any shape, for requests written by the user. */
  anyShape?: boolean;
  /** Time limit in seconds, for requests that take longer than others. */
  timeLimit?: number;
  /** True if nothing waits for the response, so that no spinner shows the wait. */
  isBackground?: boolean;
}

interface ApiResponse<Body> {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  requestId: string;
  body: Body;
  /** The body as it was sent. */
  text: string;
}

export interface Client {
  readonly baseUrl: URL;
  request<Body>(request: ApiRequest): Promise<ApiResponse<Body>>;
}

const TIME_LIMIT_SECONDS = 30;
const MAX_ATTEMPTS = 4;

/**
 * Returns a client. A request rejects with ApiError for an error response and with NetworkError without a response, after
 * up to 3 retries with full jitter that obey `Retry-After`. Every POST has an Idempotency-Key, so that retries are safe.
 */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options.proxies, options.agent);
  const timeLimit = options.timeLimit ?? TIME_LIMIT_SECONDS;

  async function attempt(
    request: ApiRequest,
    url: URL,
    headers: Record<string, string>,
    secondsLeft: number,
  ): Promise<RawResponse> {
    const { onAttempt } = options;
    // Loading the clock takes a millisecond, so only traces load it.
    const started = onAttempt === undefined ? 0 : performance.now();
    const report = (outcome: string): void =>
      onAttempt?.({ method: request.method, url: url.href, outcome, milliseconds: performance.now() - started });
    const { body } = request;
    try {
      const response = await transport.send({
        method: request.method,
        url,
        headers,
        body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
        timeLimit: secondsLeft,
        signal: options.signal,
      });
      report(`${response.status} ${requestIdOf(response)}`);
      return response;
    } catch (error) {
      report((error as Error).message);
      throw error;
    }
  }

  async function request<Body>(request: ApiRequest): Promise<ApiResponse<Body>> {
    const url = urlOf(options.baseUrl, request.path, request.query);
    const headers = headersOf(request);
    const source = typeof options.credential === "object" ? options.credential : undefined;
    let credential = typeof options.credential === "string" ? options.credential : await source?.current();
    let renewed = false;
    const deadline = Date.now() + (request.timeLimit ?? timeLimit) * 1000;
    for (let attempts = 1; ; attempts++) {
      options.signal.throwIfAborted();
      let failure: ApiError | NetworkError;
      try {
        const secondsLeft = Math.max(1, deadline - Date.now()) / 1000;
        const authorization = credential === undefined ? {} : { Authorization: `Bearer ${credential}` };
        const response = await attempt(request, url, { ...headers, ...authorization }, secondsLeft);
        const body = bodyOf(response, url);
        if (response.status < 300) {
          if (!request.anyShape) assertComplete(request, body);
          return {
            status: response.status,
            headers: response.headers,
            requestId: requestIdOf(response),
            body: body as Body,
            text: response.text,
          };
        }
        failure = new ApiError(
          problemOf(response.status, body, requestIdOf(response)),
          attempts,
          retryAfterOf(response),
          response.status === 429 ? rateLimitOf(response) : undefined,
        );
      } catch (error) {
        if (!(error instanceof NetworkError)) throw error;
        failure = error;
      }
      const isRejected = failure instanceof ApiError && failure.status === 401;
      if (isRejected && source !== undefined && credential !== undefined && !renewed) {
        // Only once: if the new credential fails too, another one will not help.
        renewed = true;
        credential = await source.renewed(credential);
        continue;
      }
      const milliseconds = attempts < MAX_ATTEMPTS ? retryDelay(failure, attempts, options.random) : undefined;
      if (milliseconds === undefined || Date.now() + milliseconds >= deadline) throw failure;
      const rateLimit = failure instanceof ApiError ? failure.rateLimit : undefined;
      options.onRetry?.({ reason: failure.message, milliseconds, rateLimit });
      await waitFor(milliseconds);
    }
  }

  async function waitFor(milliseconds: number): Promise<void> {
    const { setTimeout: delay } = await import("node:timers/promises");
    try {
      await delay(milliseconds, undefined, { signal: options.signal });
    } catch (error) {
      throw options.signal.aborted ? options.signal.reason : error;
    }
  }

  function headersOf(request: ApiRequest): Record<string, string> {
    return {
      Accept: "application/json",
      "User-Agent": options.userAgent,
      [HEADERS.version]: LATEST_VERSION,
      ...(request.body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(request.method === "POST" ? { [HEADERS.idempotencyKey]: request.idempotencyKey ?? options.uuid() } : {}),
    };
  }

  return { baseUrl: options.baseUrl, request };
}

function bodyOf(response: RawResponse, url: URL): unknown {
  if (response.text === "" && response.status === 204) return null;
  const type = response.headers["content-type"] ?? "";
  if (/\bjson\b/.test(type)) {
    try {
      return JSON.parse(response.text);
    } catch (cause) {
      throw notThePlatform(`${url.host} returned ${response.status} with invalid or truncated JSON`, { cause });
    }
  }
  const found = /<html|<!doctype/i.test(response.text) ? "a web page" : type === "" ? "no content type" : type;
  // Load balancers respond in their own format while the platform restarts.
  const passing = response.status >= 502 && response.status <= 504;
  throw notThePlatform(`${url.host} returned ${response.status} with ${found} instead of JSON`, { passing });
}

/** Throws NetworkError if a response lacks what the contract promises. */
function assertComplete({ method, path }: ApiRequest, body: unknown): void {
  const lack = completeResponse(method, path, body);
  if (lack === undefined) return;
  throw new NetworkError(
    "not_the_platform",
    `The response of ${method} ${path.split("?", 1)[0]!} ${lack}`,
    "Another server responded, or the platform has another version: check --base-url, and run `service doctor`.",
    { passing: false },
  );
}

function notThePlatform(
  message: string,
  { passing = false, cause }: { passing?: boolean; cause?: unknown } = {},
): NetworkError {
  return new NetworkError(
    "not_the_platform",
    message,
    "Another server responded: check --base-url, your proxy, and whether the network requires a sign-in.",
    { passing, cause },
  );
}

function requestIdOf(response: RawResponse): string {
  return String(response.headers[HEADERS.requestId.toLowerCase()] ?? "");
}

function retryAfterOf(response: RawResponse): number | undefined {
  const text = response.headers["retry-after"];
  return typeof text === "string" && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Returns the requests per second of `"default";q=200;w=2`. */
function rateLimitOf(response: RawResponse): number | undefined {
  const policy = String(response.headers[HEADERS.rateLimitPolicy.toLowerCase()] ?? "");
  const [, quota, window] = /;q=(\d+);w=([1-9]\d*)/.exec(policy) ?? [];
  return quota === undefined ? undefined : Number(quota) / Number(window);
}

/**
 * Returns the error that a response describes. Another server may send JSON of any shape, so only members of the right
 * type are used; the status is that of the response.
 */
function problemOf(status: number, body: unknown, requestId: string): Problem {
  const sent = isRecord(body) ? body : {};
  const { errors } = sent;
  return {
    ...sent,
    type: textOf(sent["type"]) ?? "about:blank",
    title: textOf(sent["title"]) ?? `HTTP ${status}`,
    detail: textOf(sent["detail"]) ?? textOf(sent["title"]) ?? `The platform returned ${status} without an explanation`,
    code: (textOf(sent["code"]) ?? "internal_error") as Problem["code"],
    request_id: textOf(sent["request_id"]) ?? requestId,
    status,
    ...(errors === undefined ? {} : { errors: Array.isArray(errors) ? errors.filter(isFieldError) : [] }),
  };
}

function isFieldError(value: unknown): value is FieldError {
  return (
    isRecord(value) && [value["pointer"], value["code"], value["detail"]].every((text) => typeof text === "string")
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

const FIRST_MILLISECONDS = 250;
const MAX_MILLISECONDS = 4000;
/** Longer waits are reported instead: a command should not wait for an hour. */
const LONGEST_RETRY_AFTER_SECONDS = 60;
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Returns the milliseconds to wait before the next attempt, or undefined if a retry would not help. Full jitter: a
 * random time up to a limit that doubles, but at least `Retry-After`.
 */
export function retryDelay(
  failure: ApiError | NetworkError,
  attempts: number,
  random: () => number,
): number | undefined {
  const jitter = random() * Math.min(FIRST_MILLISECONDS * 2 ** (attempts - 1), MAX_MILLISECONDS);
  if (!(failure instanceof ApiError)) return failure.passing ? jitter : undefined;
  const passing = PASSING_STATUSES.has(failure.status) || failure.code === "idempotency_in_flight";
  if (!passing || (failure.retryAfter ?? 0) > LONGEST_RETRY_AFTER_SECONDS) return undefined;
  return (failure.retryAfter ?? 0) * 1000 + jitter;
}
