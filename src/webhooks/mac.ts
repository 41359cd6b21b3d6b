import { createHmac } from "node:crypto";
import type { Buffer } from "node:buffer";
import type { Payload } from "./payload.ts";

/**
 * HMAC-SHA256 over `<t>.<raw body>` (platform specification 5.3). The key is the whole secret string, prefix included,
 * as UTF-8 (decisions 6). The body is hashed where it lies, never copied.
 */
export function computeMac(secret: string, timestamp: string, payload: Payload): Buffer {
  return createHmac("sha256", secret).update(`${timestamp}.`).update(payload).digest();
}
