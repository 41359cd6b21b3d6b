import { HEADERS } from "../../contract/headers.ts";
import { LATEST_VERSION } from "../../contract/versions.ts";
import type { With } from "../tools.ts";
import { keywordsOfFormat } from "./formats.ts";
import type { IncomingHttpHeaders } from "node:http";
import { LIMITS } from "../../contract/limits.ts";
import { ApiError } from "../domain/api-error.ts";
import type { Versions } from "../domain/versions.ts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { LAST_EVENT_ID } from "../../contract/schemas/event.ts";

const WHOLE_SECONDS = { type: "integer", minimum: 0 };
const DATE = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" };

/**
 * Every response header of the API, by its name in the OpenAPI document. Pages of other origins may read all of them.
 * Responses have those with `always`.
 */
export const RESPONSE_HEADERS = {
  RequestId: {
    name: HEADERS.requestId,
    description: "ID of the request in logs, events and problem details",
    required: true,
    schema: { type: "string", ...keywordsOfFormat("request-id") },
    always: true,
  },
  ServiceVersion: {
    name: HEADERS.version,
    description: "API version of the response",
    required: true,
    schema: { ...DATE, examples: [LATEST_VERSION] },
    always: true,
  },
  RateLimitPolicy: {
    name: HEADERS.rateLimitPolicy,
    description:
      "Maximum number of requests (`q`) of a credential in a window of seconds (`w`); absent without a limit",
    schema: { type: "string", pattern: '^"default";q=\\d+;w=\\d+$', examples: ['"default";q=200;w=2'] },
    always: true,
  },
  RateLimit: {
    name: HEADERS.rateLimit,
    description: "Number of requests left (`r`), and seconds until the limit is fully reset (`t`)",
    schema: { type: "string", pattern: '^"default";r=\\d+;t=\\d+$', examples: ['"default";r=199;t=1'] },
    always: true,
  },
  IdempotentReplayed: {
    name: HEADERS.idempotentReplayed,
    description: "`true` if this is the response to an earlier request with the same Idempotency-Key",
    schema: { type: "string", const: "true" },
  },
  Location: {
    name: "Location",
    description: "Path of the created object",
    schema: { type: "string", format: "uri-reference", examples: ["/v1/customers/cus_4Vf8aTqz0bKm2sNw9XyRcd"] },
  },
  Link: {
    name: "Link",
    description: 'URL of the next page, with `rel="next"` (RFC 8288); absent on the last page',
    schema: { type: "string", examples: ['<https://api.example.com/v1/customers?cursor=AbC123>; rel="next"'] },
  },
  RetryAfter: { name: "Retry-After", description: "Seconds to wait before a retry", schema: WHOLE_SECONDS },
  WwwAuthenticate: {
    name: "WWW-Authenticate",
    description: "Required credential (RFC 6750)",
    schema: { type: "string", examples: ['Bearer realm="service"'] },
  },
} as const;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

export type ResponseTools = With<"versions" | "rateLimit" | "log" | "baseUrl">;

/** Returns the headers that every response of the API begins with; the version is the latest one by default. */
export function commonHeaders(
  { versions, rateLimit }: With<"versions" | "rateLimit">,
  requestId: string,
  version: string = versions.latest,
): Record<string, string> {
  return {
    [HEADERS.requestId]: requestId,
    [HEADERS.version]: version,
    ...(rateLimit !== undefined && { [HEADERS.rateLimitPolicy]: rateLimit.policy }),
  };
}

/**
 * Returns the version of a request: its header's, or the account's pinned one. Throws ApiError `unsupported_version`.
 */
export function versionOf(versions: Versions, headers: IncomingHttpHeaders, pinned: string): string {
  const header = headers[HEADERS.version.toLowerCase()];
  const version = versionOfResponse(versions, headers, pinned);
  if (typeof header !== "string" || header === version) return version;
  throw new ApiError(
    "unsupported_version",
    `Service-Version ${JSON.stringify(header.slice(0, 40))} is not supported. Supported: ${versions.dates.join(", ")}.`,
    { members: { supported: versions.dates } },
  );
}

/** Returns the version of a response, error responses included: the request's if it is supported, or the pinned one. */
export function versionOfResponse(versions: Versions, headers: IncomingHttpHeaders, pinned: string): string {
  const requested = headers[HEADERS.version.toLowerCase()];
  return typeof requested === "string" && versions.dates.includes(requested) ? requested : pinned;
}

/** Returns the header's value without quotes; undefined if it is not valid. */
export function parseIdempotencyKey(header: string): string | undefined {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  return /^[\x21-\x7e]+$/.test(key) && key.length <= LIMITS.idempotencyKeyLength ? key : undefined;
}

/**
 * Which pages of other origins may read a route's responses: all of them, or those that send an access token. An API key
 * is a server's secret, and a session belongs to the dashboard, so neither is usable from elsewhere.
 */
export type CrossOrigin = "anyone" | "access token";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Absent if no page of another origin may read anything. */
    crossOrigin?: CrossOrigin;
  }
}

const REQUEST_HEADERS = [
  "Authorization",
  "Content-Type",
  HEADERS.version,
  HEADERS.idempotencyKey,
  LAST_EVENT_ID,
  "traceparent",
  "tracestate",
  "MCP-Protocol-Version",
  "Mcp-Session-Id",
];
const KNOWN_HEADERS: ReadonlySet<string> = new Set(["accept", ...REQUEST_HEADERS.map((name) => name.toLowerCase())]);
const EXPOSED_HEADERS = ["ETag", "Mcp-Session-Id", ...Object.values(RESPONSE_HEADERS).map(({ name }) => name)].join(
  ", ",
);
const MAX_AGE_SECONDS = 7200;

/** Lets a page of another origin read a response for such pages, never with cookies (Fetch, CORS protocol). */
export function addCrossOriginHeaders({ headers }: FastifyRequest, reply: FastifyReply, from?: CrossOrigin): void {
  const bearsAccessToken = headers.origin !== undefined && /^bearer +at_/i.test(headers.authorization ?? "");
  if (from === undefined || (from === "access token" && !bearsAccessToken)) return;
  void reply.header("Access-Control-Allow-Origin", "*").header("Access-Control-Expose-Headers", EXPOSED_HEADERS);
}

/** Adds the response headers of a preflight request; none if the request would be rejected. */
export function addPreflightHeaders(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { crossOrigin, methods }: { crossOrigin: CrossOrigin | undefined; methods: readonly string[] },
): void {
  const requestedHeaders = headers["access-control-request-headers"] ?? "";
  const names = requestedHeaders.split(",").flatMap((name) => name.trim().toLowerCase() || []);
  if (crossOrigin === undefined || names.some((name) => !KNOWN_HEADERS.has(name))) return;
  if (crossOrigin === "access token" && !names.includes("authorization")) return;
  void reply
    .header("Access-Control-Allow-Origin", "*")
    .header("Access-Control-Allow-Methods", methods.join(", "))
    .header("Access-Control-Allow-Headers", REQUEST_HEADERS.join(", "))
    .header("Access-Control-Max-Age", String(MAX_AGE_SECONDS));
}
