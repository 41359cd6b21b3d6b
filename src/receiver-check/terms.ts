import type { Scheme } from "../webhooks/schemes.ts";

/** Number of characters of an HMAC-SHA256. */
export const SIGNATURE_LENGTHS = { hex: 64, base64: 44 } as const;

/** What a provider's documentation calls the timestamp and the signature. */
export function termsOf({ timestamp, signature }: Scheme): { t: string; v1: string } {
  return {
    t: timestamp?.prefix === "t=" ? "t" : "timestamp",
    v1: signature.prefix === "v1=" ? "v1" : "signature",
  };
}
