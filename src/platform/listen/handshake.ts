import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ErrorCode } from "../../contract/errors.ts";
import { LISTEN_PATH, LISTEN_SUBPROTOCOL } from "../../contract/listen.ts";
import { ApiError } from "../domain/api-error.ts";
import { assertScope, type Authenticate } from "../http/authenticate.ts";
import type { Caller } from "../domain/request-context.ts";
import { problemOfHost } from "../http/client-address.ts";
import { endWithProblem, INTERNAL_ERROR, toApiError, toProblem } from "../http/problem.ts";
import { commonHeaders, type ResponseTools, versionOfResponse } from "../http/headers.ts";
import type { With } from "../tools.ts";
import type { Versions } from "../domain/versions.ts";

/** A request to listen, before it becomes a connection. */
export interface Handshake {
  request: IncomingMessage;
  id: string;
  /** On the monotonic clock. */
  began: number;
  /** The owner of the credential, even if it is rejected. */
  identified: Caller | undefined;
  /** Rate limit headers of an error response. */
  headers: Record<string, string>;
}

/** What responses to handshakes need. */
export type HandshakeTools = ResponseTools & With<"clock" | "requests" | "publicUrl">;

/** Into the request log. */
export function recordHandshake(tools: HandshakeTools, handshake: Handshake, status: number, errorCode?: ErrorCode) {
  if (handshake.identified === undefined) return;
  tools.requests.record(handshake.identified, {
    id: handshake.id,
    method: "GET",
    path: LISTEN_PATH,
    status,
    milliseconds: tools.clock.elapsed() - handshake.began,
    idempotencyKey: undefined,
    errorCode,
  });
}

/** Authenticates a listener. Throws ApiError. */
export async function admit(tools: HandshakeTools, handshake: Handshake, authenticate: Authenticate): Promise<Caller> {
  const { request } = handshake;
  const misdirected = problemOfHost(request, tools.publicUrl?.hostname);
  if (misdirected !== undefined) throw misdirected;
  const path = (request.url ?? "").split("?", 1)[0]!;
  if (path !== LISTEN_PATH) {
    const detail = `The WebSocket path ${path.slice(0, 200)} does not exist. Did you mean ${LISTEN_PATH}?`;
    throw new ApiError("not_found", detail);
  }
  const caller = await authenticate(request, (identified) => (handshake.identified = identified));
  assertScope(caller, "listen:read");
  if (caller.tenant.livemode) throw new ApiError("sandbox_only", "Listening works with a sandbox credential only.");
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  if (!offered.includes(LISTEN_SUBPROTOCOL)) {
    throw new ApiError("invalid_header", `Offer the subprotocol ${LISTEN_SUBPROTOCOL}.`);
  }
  return caller;
}

/** Sends an error response instead of accepting it, and closes the socket. */
export function reject(tools: HandshakeTools, stream: Duplex, handshake: Handshake, error: unknown): void {
  const apiError = toApiError(error);
  if (apiError === undefined) tools.log.error({ err: error }, "a listener could not be accepted");
  const shown = apiError ?? INTERNAL_ERROR;
  const problem = toProblem(shown, handshake.id, tools.baseUrl());
  recordHandshake(tools, handshake, problem.status, problem.code);
  // A client that keeps its side open would keep the socket.
  stream.once("finish", () => stream.destroy());
  endWithProblem(stream, problem, {
    ...handshake.headers,
    ...shown.headers,
    ...commonHeaders(tools, handshake.id, versionOfError(tools.versions, handshake, problem.status)),
  });
}

/** Do not reveal account details in a 401. */
function versionOfError(versions: Versions, { request, identified }: Handshake, status: number): string {
  if (identified === undefined || status === 401) return versions.latest;
  return versionOfResponse(versions, request.headers, identified.tenant.account.version);
}
