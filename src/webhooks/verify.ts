import { timingSafeEqual } from "node:crypto";
import type { WebhookEvent } from "./event.ts";
import { computeMac } from "./mac.ts";
import { assertRawPayload, parseEvent, type Payload } from "./payload.ts";
import { listSecrets, type Secrets } from "./secrets.ts";
import { SignatureError } from "./signature-error.ts";
import { parseSignatureHeader, type SignatureHeaderValue } from "./signature-header.ts";

/** How far `t` may lie from the receiver's clock, before or after (platform specification 5.3 and 8). */
export const TOLERANCE_SECONDS = 300;

export interface VerifyOptions {
  /** The raw request body, as it came: not the parsed JSON, and not that JSON written again. */
  payload: Payload;
  /** The value of the `Service-Signature` header. */
  header: SignatureHeaderValue;
  /** The endpoint's secret, or both of them while it is being rotated: one match is enough. */
  secrets: Secrets;
  /** Seconds; 300 unless given. */
  tolerance?: number | undefined;
  /** Unix seconds; the clock's, unless given. */
  now?: number | undefined;
}

/** What a good header says. */
export interface VerifiedSignature {
  /** `t`, Unix seconds. */
  timestamp: number;
}

/**
 * Verifies a delivery and returns its event (platform specification 5.3 and 6). Throws SignatureError, and nothing
 * else, whatever `header` and `payload` hold: `code` names the rule that failed.
 */
export function verify(options: VerifyOptions): WebhookEvent {
  verifySignature(options);
  return parseEvent(options.payload);
}

/** Like `verify`, but leaves the payload unparsed: for relays, and for bodies that need not be events. */
export function verifySignature({
  payload,
  header,
  secrets,
  tolerance = TOLERANCE_SECONDS,
  now = Math.floor(Date.now() / 1000),
}: VerifyOptions): VerifiedSignature {
  const keys = listSecrets(secrets);
  assertTolerance(tolerance);
  assertNow(now);
  assertRawPayload(payload);
  const { timestamp, signatures } = parseSignatureHeader(header);
  if (!anyMatches(keys, signatures, timestamp, payload)) {
    throw new SignatureError(
      "signature_mismatch",
      "no v1 value matches: check that the secret is this endpoint's, whole and with its whsec_, " +
        "and that the payload is the raw request body, byte for byte",
    );
  }
  const seconds = Number(timestamp);
  assertFresh(seconds, now, tolerance);
  return { timestamp: seconds };
}

/** Compares every signature with every secret's MAC, so that the time taken tells neither which matched nor how far. */
function anyMatches(keys: readonly string[], signatures: readonly Uint8Array[], t: string, payload: Payload): boolean {
  let matches = 0;
  for (const key of keys) {
    const expected = computeMac(key, t, payload);
    for (const signature of signatures) matches += Number(timingSafeEqual(expected, signature));
  }
  return matches > 0;
}

/** NaN compares false with everything, so it would switch the age check off. */
export function assertTolerance(tolerance: unknown): void {
  if (typeof tolerance !== "number" || !Number.isFinite(tolerance) || tolerance < 0) {
    throw new SignatureError("invalid_tolerance", "`tolerance` is not a number of seconds, zero or more");
  }
}

function assertNow(now: unknown): void {
  if (typeof now !== "number" || !Number.isFinite(now)) {
    throw new SignatureError("invalid_now", "`now` is not a number of Unix seconds");
  }
}

function assertFresh(timestamp: number, now: number, tolerance: number): void {
  const age = now - timestamp;
  if (age > tolerance) {
    throw new SignatureError(
      "timestamp_too_old",
      `t is ${Math.ceil(age)} s old; tolerance ${tolerance} s: check the receiver's clock, or what held the delivery up`,
    );
  }
  if (-age > tolerance) {
    throw new SignatureError(
      "timestamp_in_future",
      `t is ${Math.ceil(-age)} s ahead; tolerance ${tolerance} s: check the receiver's clock`,
    );
  }
}
