import { parseEvent, type WebhookEvent } from "./event.ts";
import { computeMac, computeMacAsync, equalInConstantTime, signedBytes, toHex } from "./mac.ts";
import { SignatureError } from "./signature-error.ts";
import {
  MAX_SIGNATURES,
  parseSignatureHeader,
  type SignatureHeaderValue,
  TIMESTAMP_PATTERN,
} from "./signature-header.ts";

/** The default tolerance: how many seconds `t` may differ from the clock, in either direction. */
export const TOLERANCE_SECONDS = 300;

/** The raw request body: a string, a Uint8Array (a Buffer is one) or an ArrayBuffer. A string stands for its UTF-8 bytes. */
export type Payload = string | Uint8Array | ArrayBuffer;

/**
 * One signing secret, or several during a rotation, each the whole string with its `whsec_`. Unset variables of the
 * environment are skipped, and rejected with `no_secrets` if none is set.
 */
export type Secrets = string | undefined | ReadonlyArray<string | undefined>;

/** Options of `verify` and its variants. */
export interface VerifyOptions {
  /** The raw request body as it was received, neither parsed nor serialized again. */
  payload: Payload;
  /** The value of the `Service-Signature` header. */
  header: SignatureHeaderValue;
  /** The endpoint's secret, or the current and the previous one during a rotation: one match is enough. */
  secrets: Secrets;
  /** How many seconds `t` may differ from `now`, in either direction (default: 300). */
  tolerance?: number | undefined;
  /** Unix seconds (default: the clock's). */
  now?: number | undefined;
}

/** What a valid signature states. */
export interface VerifiedSignature {
  /** `t`, Unix seconds. */
  timestamp: number;
}

/** Options of `sign` and `signAsync`. */
export interface SignOptions {
  /** The exact bytes (or text) that will be sent. */
  payload: Payload;
  /** One secret, or up to ten: each adds a `v1`, so that receivers can change secrets at any time of a rotation. */
  secrets: Secrets;
  /** Unix seconds (default: the clock's). */
  timestamp?: number | undefined;
}

/**
 * Verifies a delivery and returns its event. Synchronous: needs `node:crypto`, which Node, Bun and Deno have. Throws
 * SignatureError and nothing else, whatever `header` and `payload` contain: `code` names the rule that failed. The scheme
 * is an HMAC-SHA256 (RFC 2104) over `<t>.<payload>`, compared in constant time.
 */
export function verify(options: VerifyOptions): WebhookEvent {
  const check = prepareCheck(options);
  concludeCheck(
    check,
    check.secrets.map((secret) => computeMac(secret, `${check.timestamp}.`, check.payload)),
  );
  return parseEvent(check.payload);
}

/** Like `verify`, by WebCrypto: for every runtime, browsers and edge included. Rejects with SignatureError. */
export async function verifyAsync(options: VerifyOptions): Promise<WebhookEvent> {
  const check = prepareCheck(options);
  const signed = signedBytes(check.timestamp, check.payload);
  concludeCheck(check, await macsOf(check, signed));
  // What was verified is parsed, even if the caller has changed the buffer since.
  return parseEvent(signed.subarray(check.timestamp.length + 1));
}

/** Like `verify`, but does not parse the payload: for relays, and for payloads that are not events. */
export function verifySignature(options: VerifyOptions): VerifiedSignature {
  const check = prepareCheck(options);
  return concludeCheck(
    check,
    check.secrets.map((secret) => computeMac(secret, `${check.timestamp}.`, check.payload)),
  );
}

/** Like `verifySignature`, by WebCrypto: for every runtime. Rejects with SignatureError. */
export async function verifySignatureAsync(options: VerifyOptions): Promise<VerifiedSignature> {
  const check = prepareCheck(options);
  return concludeCheck(check, await macsOf(check, signedBytes(check.timestamp, check.payload)));
}

/**
 * Returns the value of a `Service-Signature` header: `t=<Unix seconds>,v1=<hex>[,v1=<hex>]`. Synchronous: needs
 * `node:crypto`. Throws SignatureError: `payload_not_raw`, `no_secrets`, `empty_secret`, `invalid_secret`,
 * `too_many_secrets`, `invalid_timestamp`, `crypto_unavailable`.
 */
export function sign(options: SignOptions): string {
  const draft = prepareSignature(options);
  return headerOf(
    draft,
    draft.secrets.map((secret) => computeMac(secret, `${draft.timestamp}.`, draft.payload)),
  );
}

/** Like `sign`, by WebCrypto: for every runtime. Rejects with SignatureError. */
export async function signAsync(options: SignOptions): Promise<string> {
  const draft = prepareSignature(options);
  return headerOf(draft, await macsOf(draft, signedBytes(draft.timestamp, draft.payload)));
}

/** What the MACs of a delivery are computed from, checked. */
interface Draft {
  secrets: readonly string[];
  timestamp: string;
  payload: string | Uint8Array;
}

interface Check extends Draft {
  signatures: readonly Uint8Array[];
  tolerance: number;
  now: number;
}

async function macsOf({ secrets }: Draft, signed: Uint8Array<ArrayBuffer>): Promise<Uint8Array[]> {
  return Promise.all(secrets.map(async (secret) => computeMacAsync(secret, signed)));
}

function prepareCheck({
  payload,
  header,
  secrets,
  tolerance = TOLERANCE_SECONDS,
  now = currentTime(),
}: VerifyOptions): Check {
  const list = listSecrets(secrets);
  assertTolerance(tolerance);
  assertNow(now);
  const raw = rawPayload(payload);
  return { secrets: list, tolerance, now, payload: raw, ...parseSignatureHeader(header) };
}

function concludeCheck(check: Check, macs: readonly Uint8Array[]): VerifiedSignature {
  if (!isAnyEqual(macs, check.signatures)) {
    throw new SignatureError("signature_mismatch", `no v1 value matches: ${mismatchHint(check)}`);
  }
  const timestamp = Number(check.timestamp);
  assertFresh("t", timestamp, check);
  return { timestamp };
}

/** Compares each signature with each MAC, so that the time taken reveals neither which matched nor how far. */
export function isAnyEqual(macs: readonly Uint8Array[], signatures: readonly Uint8Array[]): boolean {
  let matches = 0;
  for (const mac of macs) {
    for (const signature of signatures) matches += Number(equalInConstantTime(mac, signature));
  }
  return matches > 0;
}

function mismatchHint({ secrets, payload }: Check): string {
  return (
    commonMistake(secrets, payload) ??
    "check that the secret is this endpoint's, whole and with its whsec_, and that the payload is the raw request body, " +
      "byte for byte"
  );
}

/** Returns the mistake that the arguments show, if there is one. */
export function commonMistake(secrets: readonly string[], payload: string | Uint8Array): string | undefined {
  if (payload.length === 0) {
    return "the payload is empty, which no delivery is: pass the raw request body, read once and not yet consumed";
  }
  const padded = secrets.findIndex((secret) => secret !== secret.trim());
  if (padded === -1) return undefined;
  return `secret ${padded + 1} of ${secrets.length} starts or ends with whitespace: trim it where it is read`;
}

/** Throws SignatureError `timestamp_too_old` or `timestamp_in_future`. `name` is what messages call the timestamp. */
export function assertFresh(
  name: string,
  timestamp: number,
  { now, tolerance }: { now: number; tolerance: number },
): void {
  const age = now - timestamp;
  if (age > tolerance) {
    throw new SignatureError(
      "timestamp_too_old",
      `${name} is ${Math.ceil(age)} s old; tolerance ${tolerance} s: check the receiver's clock, or what delayed the delivery`,
    );
  }
  if (-age > tolerance) {
    throw new SignatureError(
      "timestamp_in_future",
      `${name} is ${Math.ceil(-age)} s ahead; tolerance ${tolerance} s: check the receiver's clock`,
    );
  }
}

function prepareSignature({ payload, secrets, timestamp = currentTime() }: SignOptions): Draft {
  const raw = rawPayload(payload);
  const list = listSecrets(secrets);
  if (list.length > MAX_SIGNATURES) {
    throw new SignatureError(
      "too_many_secrets",
      `\`secrets\` has ${list.length} secrets, but a header holds at most ${MAX_SIGNATURES} signatures`,
    );
  }
  return { payload: raw, secrets: list, timestamp: timestampText(timestamp) };
}

/** Returns the Unix seconds as they are sent and signed. Throws SignatureError `invalid_timestamp`. */
export function timestampText(timestamp: unknown): string {
  const text = typeof timestamp === "number" ? String(timestamp) : "";
  if (TIMESTAMP_PATTERN.test(text)) return text;
  throw new SignatureError("invalid_timestamp", "`timestamp` must be whole Unix seconds (is it milliseconds?)");
}

function headerOf({ timestamp }: Draft, macs: readonly Uint8Array[]): string {
  let header = `t=${timestamp}`;
  for (const mac of macs) header += `,v1=${toHex(mac)}`;
  return header;
}

/** Returns the clock's Unix seconds. */
export function currentTime(): number {
  return Math.floor(Date.now() / 1000);
}

/** Throws SignatureError `invalid_now`. */
export function assertNow(now: unknown): void {
  if (typeof now !== "number" || !Number.isFinite(now)) {
    throw new SignatureError("invalid_now", "`now` must be a number of Unix seconds");
  }
}

/** Throws SignatureError `invalid_tolerance`. NaN compares false with everything, so it would disable the age check. */
export function assertTolerance(tolerance: unknown): void {
  if (typeof tolerance !== "number" || !Number.isFinite(tolerance) || tolerance < 0) {
    throw new SignatureError("invalid_tolerance", "`tolerance` must be a number of seconds, 0 or more");
  }
}

/** Returns the secrets that are set, as a list. Throws SignatureError: `no_secrets`, `empty_secret`, `invalid_secret`. */
export function listSecrets(secrets: Secrets): readonly string[] {
  const given = typeof secrets === "string" ? [secrets] : (secrets ?? []);
  if (!Array.isArray(given)) {
    throw new SignatureError("invalid_secret", "`secrets` must be a string or an array of strings");
  }
  const list: readonly unknown[] = given.filter((secret) => secret !== undefined);
  if (list.length === 0) {
    throw new SignatureError(
      "no_secrets",
      "`secrets` is empty: pass the endpoint's signing secret; is its variable set?",
    );
  }
  for (const [index, secret] of list.entries()) {
    if (typeof secret !== "string") {
      throw new SignatureError("invalid_secret", `secret ${index + 1} of ${list.length} is not a string`);
    }
    // Anyone can sign with an empty key, so an unset variable must not verify anything.
    if (secret.trim() === "") {
      throw new SignatureError("empty_secret", `secret ${index + 1} of ${list.length} is empty: is its variable set?`);
    }
  }
  return list as string[];
}

/**
 * Returns the payload as text or bytes, not copied. Throws SignatureError `payload_not_raw`, for example for a parsed
 * body.
 */
export function rawPayload(payload: unknown): string | Uint8Array {
  if (typeof payload === "string" || payload instanceof Uint8Array) return payload;
  try {
    // Not instanceof: bytes of another realm, such as a test runner's sandbox, are bytes too.
    if (ArrayBuffer.isView(payload)) return new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength);
    if (Object.prototype.toString.call(payload) === "[object ArrayBuffer]")
      return new Uint8Array(payload as ArrayBuffer);
  } catch (cause) {
    const problem = "the payload's buffer is detached, because it was transferred: verify before the transfer";
    throw new SignatureError("payload_not_raw", problem, { cause });
  }
  const found =
    payload === null || payload === undefined
      ? "missing"
      : typeof payload === "object"
        ? "an object, perhaps a parsed body"
        : `a ${typeof payload}`;
  throw new SignatureError(
    "payload_not_raw",
    `the payload is ${found}: pass the raw request body as a string, Uint8Array or ArrayBuffer`,
  );
}
