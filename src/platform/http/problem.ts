import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyError } from "fastify";
import { ERRORS, type ErrorCode, PROBLEM_MEDIA_TYPE } from "../../contract/errors.ts";
import type { Problem } from "../../contract/schemas/problem.ts";
import { ApiError, unavailable } from "../domain/api-error.ts";
import type { With } from "../tools.ts";
import { commonHeaders } from "./headers.ts";
import { StorageUnavailableError } from "../storage/database.ts";
import { SandboxResetError } from "../storage/environments.ts";
import { DamagedEventError } from "../storage/event-body.ts";
import { ERROR_GUIDES } from "../../contract/error-guides.ts";

/** Path of the pages that `type` of problem details links to. */
export const PROBLEMS_PATH = "/problems";

export function toProblem(error: ApiError, requestId: string, baseUrl: string): Problem {
  return {
    type: `${baseUrl}${PROBLEMS_PATH}/${error.code}`,
    title: ERRORS[error.code].title,
    status: error.status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...error.members,
  };
}

const SEND_JSON = "Send the body as JSON, with Content-Type: application/json (UTF-8).";
const FASTIFY_CODES: Record<string, [code: ErrorCode, detail: string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ["body_too_large", "The maximum size of a body is 1 MiB, of a form 64 KiB."],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupported_media_type", SEND_JSON],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["invalid_header", "Content-Length does not match the body."],
  FST_ERR_BAD_URL: ["invalid_request", "The path contains a malformed escape."],
};

const UNCHANGED = "The database is unavailable; nothing was changed.";
export const UNCERTAIN =
  "The change may or may not have been made. A request with an Idempotency-Key can be retried safely.";

/**
 * Converts a thrown value to an error response; undefined for an internal fault, which is not disclosed to the caller.
 */
export function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof StorageUnavailableError) {
    return unavailable(error.uncertain ? `The database failed during the commit. ${UNCERTAIN}` : UNCHANGED, error);
  }
  if (error instanceof SandboxResetError) return unavailable(error.message, error);
  if (error instanceof DamagedEventError) return new ApiError("event_damaged", error.message, { cause: error });
  const known = FASTIFY_CODES[(error as FastifyError).code];
  return known && new ApiError(...known);
}

export const INTERNAL_ERROR = new ApiError("internal_error", "Internal error. The platform has logged the cause.");

interface BrokenRequest {
  code?: unknown;
  rawPacket?: unknown;
}

/** The first byte of a TLS ClientHello. */
const TLS_HANDSHAKE = 0x16;

/**
 * How long a rejected client may take to read the reason. Then its socket is closed, whether or not it closes its own
 * side.
 */
const LINGER_MILLISECONDS = 2000;

/** Responds on the bare socket with problem details to what Node's HTTP parser rejects before there is a request. */
export function rejectBrokenRequest(
  error: BrokenRequest,
  socket: Socket,
  tools: With<"versions" | "rateLimit" | "baseUrl" | "clock">,
  requestId: string,
): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  tools.clock.after(LINGER_MILLISECONDS, () => socket.destroy());
  const problem = toProblem(brokenRequest(error), requestId, tools.baseUrl());
  endWithProblem(socket, problem, commonHeaders(tools, requestId));
}

/** Responds on a bare socket with problem details, and ends it. */
export function endWithProblem(stream: Duplex, problem: Problem, headers: Readonly<Record<string, string>>): void {
  const body = JSON.stringify(problem);
  const all = {
    ...headers,
    "Content-Type": PROBLEM_MEDIA_TYPE,
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  stream.end(`HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join("")}\r\n${body}`);
}

/** The code for a proxy request, used with the codes of Node's parser. */
export const CONNECT_REQUEST = "CONNECT";

/** The problem for each error of Node's parser. */
const PARSER_COMPLAINTS: Record<string, string> = {
  [CONNECT_REQUEST]: "The platform is not a proxy. Send requests for its own paths.",
  HPE_INVALID_CONTENT_LENGTH: "Content-Length must be the number of the body's bytes, in decimal digits.",
  HPE_UNEXPECTED_CONTENT_LENGTH: "Send one Content-Length, and none beside Transfer-Encoding.",
  HPE_INVALID_TRANSFER_ENCODING: "Transfer-Encoding must be chunked, once, and without a Content-Length.",
  HPE_INVALID_CHUNK_SIZE: "A chunk of the body does not begin with its size in hexadecimal digits.",
  HPE_INVALID_EOF_STATE: "The connection was closed before the request was complete.",
  HPE_INVALID_HEADER_TOKEN: "A header name or value contains a character that HTTP does not allow there.",
  HPE_INVALID_URL: "The request path contains a character that must be percent-encoded.",
  HPE_INVALID_VERSION: "The request line must end in HTTP/1.1 and a CRLF.",
  HPE_INVALID_CONSTANT: "The request line must read: method, path, HTTP/1.1, one space between them.",
};

function brokenRequest({ code, rawPacket }: BrokenRequest): ApiError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new ApiError("headers_too_large", "The request's headers may have at most 16 KiB together.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ApiError("request_timeout", "The request did not arrive completely within 30 seconds.");
    case "HPE_INVALID_METHOD": {
      const isTls = Buffer.isBuffer(rawPacket) && rawPacket[0] === TLS_HANDSHAKE;
      const detail = isTls
        ? "This port speaks plain HTTP: use http:// instead of https://."
        : "The request method is not an HTTP method. Methods are uppercase, such as GET.";
      return new ApiError("invalid_request", detail);
    }
    default:
      return new ApiError("invalid_request", PARSER_COMPLAINTS[String(code)] ?? "The request is not valid HTTP/1.1.");
  }
}

const REQUEST_ID = "req_4Vf8aTqz0bKm2sNw9XyRcd";

/** Returns the problem details of an error in an example, or of the usual one with this code. */
export function exampleProblem(code: ErrorCode, baseUrl: string, error?: ApiError): Problem {
  const { detail, ...members } = ERROR_GUIDES[code].example;
  return toProblem(error ?? new ApiError(code, detail, { members }), REQUEST_ID, baseUrl);
}
