/** Why no complete answer came. */
export type FailureKind = "timeout" | "refused" | "closed" | "other";

/** What a receiver made of one delivery. */
export interface Answer {
  /** Absent where no complete answer came. */
  status?: number;
  failure?: { kind: FailureKind; message: string };
  milliseconds: number;
  /** The beginning of the reply's body. */
  excerpt: string;
  /** Where a redirect points to. */
  location?: string;
  /** The receiver's clock by its `Date` header, Unix milliseconds. */
  date?: number;
}

/** True for 2xx: the delivery counts as received (platform specification 6, rule 1). */
export function isAccepted({ status }: Answer): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** True for 4xx: judged and turned away. A 5xx or a closed connection is a breakdown, not a judgement. */
export function isRefused({ status }: Answer): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

/** True where the receiver may be gone: nothing listens, or the connection broke. */
export function isDisconnection({ failure }: Answer): boolean {
  return failure !== undefined && failure.kind !== "timeout";
}

/** The answer in a few words: `204 in 3 ms`. */
export function inWords(answer: Answer): string {
  const { status, failure, milliseconds, excerpt, location } = answer;
  if (status === undefined) return failure?.message ?? "no answer";
  const words = `${status} in ${durationInWords(milliseconds)}`;
  if (location !== undefined && status >= 300 && status < 400) return `${words}, a redirect to ${location}`;
  return status >= 400 && excerpt !== "" ? `${words}: ${excerpt}` : words;
}

export function durationInWords(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
