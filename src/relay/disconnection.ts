import type { IncomingMessage } from "node:http";
import { ERRORS, PROBLEM_MEDIA_TYPE, type ErrorCode } from "../contract/errors.ts";
import type { Problem } from "../contract/schemas/problem.ts";
import type { ByeFrame } from "../contract/listen.ts";
import { parseJson } from "../contract/json.ts";
import type { FailureCode } from "../network/failures.ts";
import { describeNetworkError } from "./forward-failure.ts";

/** Why there is no connection to the platform: a stable code, and a message for the user. */
export interface Disconnection {
  code: FailureCode | "authorization" | "bye" | "closed" | "http_status" | "protocol" | "proxy" | "silent";
  message: string;
}

/** An HTTP response to the upgrade request instead of a WebSocket. */
export interface UpgradeRejection {
  status: number;
  message: string;
  /** The body, if it is problem details (RFC 9457). */
  problem: Problem | undefined;
  retryAfterSeconds: number | undefined;
}

/** The end of a connection: by a rejection, by the platform's `bye`, or otherwise. */
export interface SocketEnd {
  reason: Disconnection;
  rejection?: UpgradeRejection;
  bye?: ByeFrame;
}

/**
 * Why a run cannot continue: `unauthorized` (401), `forbidden` (403), `rejected` (another 4xx), `unreachable` (the
 * first connection failed), `downtime` (no connection for longer than allowed), `protocol` (the platform violated the
 * protocol, again and in the same way).
 */
export type ListenErrorCode = "unauthorized" | "forbidden" | "rejected" | "unreachable" | "downtime" | "protocol";

/** Ends a run. An authorization callback may throw one to stop reconnecting. */
export class ListenError extends Error {
  override name = "ListenError";
  readonly code: ListenErrorCode;
  /** The HTTP status of the rejection, or that of its error code if the platform ended an open connection. */
  readonly status: number | undefined;
  /** The rejection's body, if it is problem details. */
  readonly problem: Problem | undefined;

  constructor(
    code: ListenErrorCode,
    message: string,
    details: { status?: number; problem?: Problem | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.status = details.status;
    this.problem = details.problem;
  }
}

/** Reasons of WebSocket close codes (RFC 6455 7.4.1), for frames that give none. */
const CLOSE_REASONS: Record<number, string> = {
  1000: "normal closure",
  1001: "going away",
  1008: "policy violation",
  1009: "message too big",
  1011: "internal error",
  1012: "restarting",
  1013: "overloaded, try again later",
};

/** 4xx responses that a later attempt may not get. */
const TEMPORARY_STATUSES = new Set([408, 425, 429]);
const MAX_BODY_BYTES = 64 * 1024;

/** Describes an error of the socket, before or after the upgrade. */
export function describeSocketError(error: Error, url: URL): Disconnection {
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && code.startsWith("WS_ERR_")) {
    return { code: "protocol", message: `the platform violated the protocol: ${error.message}` };
  }
  if (code === "ERR_PROXY") return { code: "proxy", message: error.message };
  // The WebSocket library's errors about the upgrade have no code.
  if (code === undefined && !(error instanceof AggregateError)) {
    return { code: "protocol", message: `the server at ${url.host} is not the platform: ${error.message}` };
  }
  return describeNetworkError(error, { name: "the platform", hosts: url.host });
}

/** Describes the end of a socket by a close frame, or without one (1006). */
export function describeSocketClose(code: number, text: string): Disconnection {
  if (code === 1006) return { code: "connection_closed", message: "the connection to the platform was lost" };
  const reason = text === "" ? CLOSE_REASONS[code] : text;
  return {
    code: "closed",
    message: `the platform closed the connection (${code}${reason === undefined ? "" : `, ${reason}`})`,
  };
}

/** Returns the error that ends the run after the end of a connection; undefined if reconnecting may help. */
export function fatalError({ reason, rejection, bye }: SocketEnd): ListenError | undefined {
  if (bye !== undefined) {
    const status = Object.hasOwn(ERRORS, bye.code) ? ERRORS[bye.code as ErrorCode].status : undefined;
    // An expired credential may have been refreshed by the next connection.
    if (status === undefined || !isFatal(status) || bye.code === "expired_credential") return undefined;
    return new ListenError(codeFor(status), reason.message, { status });
  }
  if (rejection === undefined || !isFatal(rejection.status)) return undefined;
  const { status, problem } = rejection;
  return new ListenError(codeFor(status), reason.message, { status, problem });
}

/** Reads the response that was sent instead of a WebSocket; never rejects, also if the response breaks off. */
export async function readUpgradeRejection(response: IncomingMessage): Promise<UpgradeRejection> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    // What has arrived may explain it.
  }
  response.destroy();
  return describeRejection(response, Buffer.concat(chunks).toString("utf8"));
}

function describeRejection(response: IncomingMessage, body: string): UpgradeRejection {
  const status = response.statusCode ?? 0;
  const mediaType = (response.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  const problem = mediaType === PROBLEM_MEDIA_TYPE ? parseProblem(body) : undefined;
  const seconds = Number(response.headers["retry-after"]);
  return {
    status,
    message: rejectionMessage(status, mediaType, response.headers.location, problem),
    problem,
    retryAfterSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : undefined,
  };
}

function rejectionMessage(
  status: number,
  mediaType: string,
  location: string | undefined,
  problem: Problem | undefined,
): string {
  if (problem !== undefined) return `the platform returned ${status}: ${problem.detail}`;
  if (status === 407) return "a proxy requires authentication (407)";
  if (status >= 300 && status < 400) {
    const target = location === undefined ? "another URL" : location;
    return `the platform's URL redirects (${status}) to ${target}: use the final URL`;
  }
  if (mediaType === "text/html") {
    return `the server returned a web page (${status}), not the platform's response: check the URL, and whether this network requires a sign-in`;
  }
  return `the platform returned ${status} instead of opening a WebSocket`;
}

function parseProblem(body: string): Problem | undefined {
  const problem = (parseJson(body) ?? {}) as Problem;
  return typeof problem.code === "string" && typeof problem.detail === "string" ? problem : undefined;
}

function isFatal(status: number): boolean {
  return status >= 400 && status < 500 && !TEMPORARY_STATUSES.has(status);
}

function codeFor(status: number): "unauthorized" | "forbidden" | "rejected" {
  if (status === 401) return "unauthorized";
  return status === 403 ? "forbidden" : "rejected";
}
