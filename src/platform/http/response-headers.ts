import { HEADERS } from "../../contract/headers.ts";
import { LATEST_VERSION } from "../../contract/versions.ts";
import type { With } from "../tools.ts";
import { keywordsOfFormat } from "./formats.ts";

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

/** What every response needs. */
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
