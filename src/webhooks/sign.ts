import { computeMac } from "./mac.ts";
import { assertRawPayload, type Payload } from "./payload.ts";
import { listSecrets, type Secrets } from "./secrets.ts";
import { SignatureError } from "./signature-error.ts";
import { MAX_SIGNATURES, TIMESTAMP_PATTERN } from "./signature-header.ts";

export interface SignOptions {
  /** The exact bytes (or text) that will be sent. */
  payload: Payload;
  /** One secret, or up to ten: each adds a `v1`, so that receivers can change over during a rotation. */
  secrets: Secrets;
  /** Unix seconds; now, unless given. */
  timestamp?: number | undefined;
}

/**
 * Makes the value of a `Service-Signature` header: `t=<Unix seconds>,v1=<hex>[,v1=<hex>]` (platform specification 5.3).
 * Throws SignatureError: `payload_not_raw`, `no_secrets`, `empty_secret`, `invalid_secret`, `too_many_secrets`,
 * `invalid_timestamp`.
 */
export function sign({ payload, secrets, timestamp = Math.floor(Date.now() / 1000) }: SignOptions): string {
  assertRawPayload(payload);
  const keys = listSecrets(secrets);
  if (keys.length > MAX_SIGNATURES) {
    throw new SignatureError(
      "too_many_secrets",
      `${keys.length} secrets were given, but a header holds at most ${MAX_SIGNATURES} signatures`,
    );
  }
  const t = typeof timestamp === "number" ? String(timestamp) : "";
  if (!TIMESTAMP_PATTERN.test(t)) {
    throw new SignatureError("invalid_timestamp", "`timestamp` is not whole Unix seconds (milliseconds, perhaps?)");
  }
  let header = `t=${t}`;
  for (const key of keys) header += `,v1=${computeMac(key, t, payload).toString("hex")}`;
  return header;
}
