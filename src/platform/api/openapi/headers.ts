import { HEADERS } from "../../../contract/headers.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { LATEST_VERSION } from "../../../contract/versions.ts";
import { keywordsOfFormat } from "../../http/formats.ts";
import type { Json } from "./schemas.ts";

const WHOLE_SECONDS = { type: "integer", minimum: 0 };
const DATE = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" };

/** Every response header, by its name in the document. */
const RESPONSE_HEADERS = {
  RequestId: {
    name: HEADERS.requestId,
    description: "ID of the request in logs, events and problem details",
    required: true,
    schema: { type: "string", ...keywordsOfFormat("request-id") },
  },
  ServiceVersion: {
    name: HEADERS.version,
    description: "API version of the response",
    required: true,
    schema: { ...DATE, examples: [LATEST_VERSION] },
  },
  RateLimitPolicy: {
    name: HEADERS.rateLimitPolicy,
    description:
      "Maximum number of requests (`q`) of a credential in a window of seconds (`w`); absent without a limit",
    schema: { type: "string", pattern: '^"default";q=\\d+;w=\\d+$', examples: ['"default";q=200;w=2'] },
  },
  RateLimit: {
    name: HEADERS.rateLimit,
    description: "Number of requests left (`r`), and seconds until the limit is fully reset (`t`)",
    schema: { type: "string", pattern: '^"default";r=\\d+;t=\\d+$', examples: ['"default";r=199;t=1'] },
  },
  IdempotentReplayed: {
    name: HEADERS.idempotentReplayed,
    description: "`true` if this is the response to an earlier request with the same Idempotency-Key",
    schema: { type: "string", const: "true" },
  },
  Location: {
    name: "Location",
    description: "Path of the created object",
    schema: { type: "string", format: "uri-reference", examples: ["/v1/customers/cus_06Fv3Tt0q1Yd8mWc5KxLrB"] },
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

type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** Headers of every response. */
const ALWAYS: readonly ResponseHeader[] = ["RequestId", "ServiceVersion", "RateLimitPolicy", "RateLimit"];

/** Returns references to the headers of a response. */
export function headersOf(...further: ResponseHeader[]): Json {
  return Object.fromEntries(
    [...ALWAYS, ...further].map((name) => [RESPONSE_HEADERS[name].name, { $ref: `#/components/headers/${name}` }]),
  );
}

export function headerComponents(): Json {
  return Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).map(([key, header]) => [key, { ...header, name: undefined }]),
  );
}

/** Headers that a request may carry besides its own parameters. */
export const requestHeaders = (versions: readonly string[]): Json => ({
  ServiceVersion: {
    name: HEADERS.version,
    in: "header",
    description: "API version of the request (default: the account's pinned version)",
    schema: { type: "string", enum: versions, examples: [versions.at(-1)] },
    example: versions.at(-1),
  },
  IdempotencyKey: {
    name: HEADERS.idempotencyKey,
    in: "header",
    description:
      "Makes retries safe: for 24 hours, a repeated request returns the first response and has no further effect",
    schema: {
      type: "string",
      minLength: 1,
      maxLength: LIMITS.idempotencyKeyLength,
      pattern: "^[\\x21-\\x7e]+$",
      examples: ["5f0c6a9e-0d5c-4f0e-9a39-5b6c8b0f6f9e"],
    },
    example: "5f0c6a9e-0d5c-4f0e-9a39-5b6c8b0f6f9e",
  },
});
