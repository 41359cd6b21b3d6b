import type { TSchema } from "typebox";
import { type ErrorCode, ERRORS, PROBLEM_MEDIA_TYPE } from "../../../contract/errors.ts";
import { HEADERS } from "../../../contract/headers.ts";
import { LIMITS } from "../../../contract/limits.ts";
import type { Operation } from "../../../contract/operations.ts";
import { Problem } from "../../../contract/schemas/problem.ts";
import { exampleProblem, PROBLEMS_PATH } from "../../http/problem.ts";
import { RESPONSE_HEADERS, type ResponseHeader } from "../../http/headers.ts";
import type { Json, Schemas } from "./schemas.ts";

const BAD_REQUEST = [
  "invalid_request",
  "invalid_json",
  "invalid_header",
  "invalid_idempotency_key",
  "unsupported_version",
] as const satisfies readonly ErrorCode[];

/** Error responses that many operations share: components, by name. */
const SHARED: Record<string, readonly ErrorCode[]> = {
  BadRequest: BAD_REQUEST,
  BadListRequest: [...BAD_REQUEST, "invalid_cursor"],
  Unauthorized: ["missing_credential", "invalid_credential", "revoked_credential", "expired_credential"],
  Forbidden: ["ip_not_allowed", "insufficient_scope"],
  NotFound: ["not_found"],
  RequestTimeout: ["request_timeout"],
  IdempotencyInFlight: ["idempotency_in_flight"],
  BodyTooLarge: ["body_too_large"],
  MisdirectedRequest: ["misdirected_request"],
  UriTooLong: ["uri_too_long"],
  UnsupportedMediaType: ["unsupported_media_type"],
  IdempotencyKeyReused: ["idempotency_key_reused"],
  RateLimited: ["rate_limited"],
  HeadersTooLarge: ["headers_too_large"],
  InternalError: ["internal_error"],
  Unavailable: ["unavailable"],
};

export const GENERAL_ERRORS: readonly ErrorCode[] = [...new Set(Object.values(SHARED).flat())].filter(
  (code) => !["invalid_request", "invalid_cursor", "insufficient_scope", "not_found"].includes(code),
);

const SESSION_ERRORS: readonly ErrorCode[] = ["session_required", "cross_site_request"];

/** The properties that determine an operation's errors. */
type FailingOperation = Pick<Operation, "method" | "path" | "scope" | "session" | "sandboxOnly" | "query" | "errors">;

/** Returns every error response of an operation, by status. */
export function errorsOf(operation: FailingOperation, schemas: Schemas): Json {
  return problemsOf(codesOf(operation), schemas);
}

/** Returns error responses with these codes, by status. */
export function problemsOf(codes: readonly ErrorCode[], schemas: Schemas): Json {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  const entries = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(entries.map(([status, codes]) => [String(status), responseFor([...codes], schemas)]));
}

export function sharedResponses(schemas: Schemas): Json {
  const entries = Object.entries(SHARED);
  return Object.fromEntries(entries.map(([name, codes]) => [name, problemResponse(codes, schemas)]));
}

function codesOf({ method, path, scope, session, sandboxOnly, query, errors = [] }: FailingOperation): ErrorCode[] {
  return [
    ...BAD_REQUEST,
    ...(query !== undefined && hasPages(query) ? (["invalid_cursor"] as const) : []),
    ...SHARED["Unauthorized"]!,
    "ip_not_allowed",
    ...(scope === null ? [] : (["insufficient_scope"] as const)),
    ...(session === undefined ? [] : SESSION_ERRORS),
    ...(session === "owner" ? (["owner_required"] as const) : []),
    ...(sandboxOnly === true ? (["sandbox_only"] as const) : []),
    ...(path.includes("{id}") ? (["not_found"] as const) : []),
    "request_timeout",
    ...(method === "POST" ? (["idempotency_in_flight", "idempotency_key_reused"] as const) : []),
    ...(method === "GET" ? [] : (["body_too_large"] as const)),
    "uri_too_long",
    "misdirected_request",
    "unsupported_media_type",
    "rate_limited",
    "headers_too_large",
    "internal_error",
    "unavailable",
    ...errors,
  ];
}

/** Returns whether a query selects a page of a list. */
export function hasPages(query: TSchema): boolean {
  return "cursor" in (query as { properties?: object }).properties!;
}

function responseFor(codes: readonly ErrorCode[], schemas: Schemas): Json {
  const shared = Object.entries(SHARED).find(
    ([, listed]) => listed.length === codes.length && listed.every((code) => codes.includes(code)),
  );
  return shared === undefined ? problemResponse(codes, schemas) : { $ref: `#/components/responses/${shared[0]}` };
}

function problemResponse(codes: readonly ErrorCode[], schemas: Schemas): Json {
  const { status } = ERRORS[codes[0]!];
  const hasWait = status === 429 || status === 503 || codes.includes("idempotency_in_flight");
  return {
    description: codes
      .map((code) => `${codes.length > 1 ? "- " : ""}[\`${code}\`](${PROBLEMS_PATH}/${code}): ${ERRORS[code].title}`)
      .join("\n"),
    headers: headersOf(
      ...(status === 401 || status === 403 ? (["WwwAuthenticate"] as const) : []),
      ...(hasWait ? (["RetryAfter"] as const) : []),
    ),
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: {
          allOf: [
            schemas.place(Problem),
            { type: "object", properties: { status: { const: status }, code: { enum: codes } } },
          ],
        },
        examples: Object.fromEntries(
          codes.map((code) => [code, { summary: ERRORS[code].title, value: exampleProblem(code, schemas.baseUrl) }]),
        ),
      },
    },
  };
}

const ALWAYS = (Object.keys(RESPONSE_HEADERS) as ResponseHeader[]).filter((name) => "always" in RESPONSE_HEADERS[name]);

/** Returns references to the headers of a response. */
export function headersOf(...further: ResponseHeader[]): Json {
  return Object.fromEntries(
    [...ALWAYS, ...further].map((name) => [RESPONSE_HEADERS[name].name, { $ref: `#/components/headers/${name}` }]),
  );
}

export function headerComponents(): Json {
  return Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).map(([key, header]) => [key, { ...header, name: undefined, always: undefined }]),
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
