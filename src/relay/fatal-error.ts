import { ERRORS, type ErrorCode } from "../contract/errors.ts";
import { ListenError } from "./listen-error.ts";
import type { SocketEnd } from "./platform-socket.ts";

/** 4xx answers that a later attempt may get past. */
const PASSING_STATUSES = new Set([408, 425, 429]);

/** The error that an end of a connection means for the whole session; undefined where another connection may do. */
export function fatalError({ reason, refusal, bye }: SocketEnd): ListenError | undefined {
  if (bye !== undefined) {
    const status = statusOf(bye.code);
    // An expired credential may have a successor by the next connection, whose answer tells.
    if (status === undefined || !isFatalStatus(status) || bye.code === "expired_credential") return undefined;
    return new ListenError(codeFor(status), reason.message, { status });
  }
  if (refusal === undefined || !isFatalStatus(refusal.status)) return undefined;
  const { status, problem } = refusal;
  return new ListenError(codeFor(status), reason.message, { status, problem });
}

function statusOf(code: string): number | undefined {
  return Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].status : undefined;
}

function isFatalStatus(status: number): boolean {
  return status >= 400 && status < 500 && !PASSING_STATUSES.has(status);
}

function codeFor(status: number): "unauthorized" | "forbidden" | "rejected" {
  if (status === 401) return "unauthorized";
  return status === 403 ? "forbidden" : "rejected";
}
