/** Reasons for the lack of a complete response. */
export type FailureKind = "timeout" | "refused" | "closed" | "other";

/** A receiver's response to one delivery. */
export interface Response {
  /** Absent without a complete response. */
  status?: number;
  failure?: { kind: FailureKind; message: string };
  milliseconds: number;
  /** The beginning of the response body. */
  excerpt: string;
  /** The target of a redirect. */
  location?: string;
  /** The receiver's clock by its `Date` header, in Unix milliseconds. */
  date?: number;
}

/** Returns true for 2xx: the delivery counts as received. */
export function isAccepted({ status }: Response): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** Returns true for 4xx: verified and rejected. A 5xx or a closed connection is a failure, not a rejection. */
export function isRejected({ status }: Response): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

/** Returns true if the receiver may be down: the connection was refused or broken. */
export function isDisconnection({ failure }: Response): boolean {
  return failure !== undefined && failure.kind !== "timeout";
}

/** Summarizes the response: `204 in 3 ms`. */
export function formatResponse(response: Response): string {
  const { status, failure, milliseconds, excerpt, location } = response;
  if (status === undefined) return failure?.message ?? "no response";
  const summary = `${status} in ${formatDuration(milliseconds)}`;
  if (location !== undefined && status >= 300 && status < 400) return `${summary}, a redirect to ${location}`;
  return status >= 400 && excerpt !== "" ? `${summary}: ${excerpt}` : summary;
}

export function formatDuration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
