import type { WebhookEvent } from "../event.ts";
import type { Payload } from "../payload.ts";
import { listSecrets, type Secrets } from "../secrets.ts";
import { SignatureError } from "../signature-error.ts";
import type { SignatureHeaderValue } from "../signature-header.ts";
import { assertTolerance, verify } from "../verify.ts";

/** What every adapter takes. */
export interface WebhookOptions {
  /** The endpoint's secret or secrets, or a function that is asked at each delivery, so that they can be rotated. */
  secrets: Secrets | (() => Secrets | Promise<Secrets>);
  /** Seconds that `t` may lie off the clock; 300 unless given. */
  tolerance?: number | undefined;
  /** The largest body that is read, in bytes; 1 MiB unless given. */
  limit?: number | undefined;
  /** The clock, in Unix seconds; the system's unless given. */
  now?: (() => number) | undefined;
}

/** Reads a delivery's body: at most `limit` bytes, else SignatureError. */
type ReadBody = (limit: number) => Promise<Payload>;

/** Reads and verifies one delivery. Rejects with SignatureError, or with what the `secrets` function threw. */
export type Receive = (header: SignatureHeaderValue, readBody: ReadBody) => Promise<WebhookEvent>;

const DEFAULT_LIMIT = 1_048_576;

/** Checks the options once, so that a missing secret shows when the receiver starts and not at the first delivery. */
export function createReceiver({ secrets, tolerance, limit = DEFAULT_LIMIT, now }: WebhookOptions): Receive {
  if (typeof secrets !== "function") listSecrets(secrets);
  if (tolerance !== undefined) assertTolerance(tolerance);
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new SignatureError("invalid_limit", "`limit` is not a whole number of bytes, one or more");
  }
  return async (header, readBody) => {
    const payload = await readBody(limit);
    const current = typeof secrets === "function" ? await secrets() : secrets;
    return verify({ payload, header, secrets: current, tolerance, now: now?.() });
  };
}
