import { createHmac } from "node:crypto";
import { SignatureError } from "../../src/webhooks/index.ts";
import { NOW, SECRET } from "./deliveries-data.ts";

export { EVENT, NOW, OTHER_SECRET, PAYLOAD, SECRET } from "./deliveries-data.ts";

/** Returns the MAC in hex, computed independently of the library. */
export function macOf(payload: string | Uint8Array, t: string | number = NOW, secret = SECRET): string {
  return createHmac("sha256", Buffer.from(secret, "utf8"))
    .update(Buffer.concat([Buffer.from(`${t}.`), Buffer.from(payload as Uint8Array)]))
    .digest("hex");
}

export function headerOf(payload: string | Uint8Array, t: string | number = NOW, secret = SECRET): string {
  return `t=${t},v1=${macOf(payload, t, secret)}`;
}

/** Returns the SignatureError that `action` throws. Throws if there is none, or another error. */
export function rejection(action: () => unknown): SignatureError {
  try {
    action();
  } catch (error) {
    if (error instanceof SignatureError) return error;
    throw new Error("threw something other than a SignatureError", { cause: error });
  }
  throw new Error("nothing was thrown");
}
