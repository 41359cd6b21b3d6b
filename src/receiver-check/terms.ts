import type { Scheme } from "../webhooks/schemes.ts";

/** Number of characters of an HMAC-SHA256. */
export const SIGNATURE_LENGTHS = { hex: 64, base64: 44 } as const;

/** What a provider's documentation calls the timestamp and the signature, alone and after their usual names. */
export function termsOf({ timestamp, signature }: Scheme) {
  const [isT, isV1] = [timestamp?.prefix === "t=", signature.prefix === "v1="];
  return {
    t: isT ? "t" : "timestamp",
    v1: isV1 ? "v1" : "signature",
    timestamp: isT ? "timestamp (t)" : "timestamp",
    signature: isV1 ? "signature (v1)" : "signature",
  };
}
