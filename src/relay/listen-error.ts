import type { Problem } from "../contract/errors.ts";

/**
 * Why a session cannot go on: `unauthorized` (401), `forbidden` (403), `rejected` (another 4xx),
 * `unreachable` (the first connection could not be made), `downtime` (no connection for longer than allowed).
 */
export type ListenErrorCode = "unauthorized" | "forbidden" | "rejected" | "unreachable" | "downtime";

/** Ends a session. An authorization callback may throw one to stop instead of being asked again. */
export class ListenError extends Error {
  override name = "ListenError";
  readonly code: ListenErrorCode;
  /** The HTTP status of the refusal; that of its code where the platform refused on an open connection. */
  readonly status: number | undefined;
  /** The body of the refusal, where it was a problem document. */
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
