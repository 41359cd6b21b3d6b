import { createHmac } from "node:crypto";
import { SignatureError } from "../../src/webhooks/index.ts";

export const SECRET = "whsec_dGhlIHdob2xlIHN0cmluZyBpcyB0aGUga2V5IQ0000000";
export const OTHER_SECRET = "whsec_YW5vdGhlciBzZWNyZXQsIGZvciByb3RhdGlvbnM0000000";
export const NOW = 1_700_000_000;

export const EVENT = {
  id: "evt_01HZX3K9Q2W8V7T6R5N4M3",
  object: "event",
  type: "order.completed",
  created: "2026-11-01T12:00:00Z",
  livemode: false,
  data: { object: { id: "ord_1", object: "order", amount: 4200, currency: "EUR", status: "completed" } },
  request: { id: "req_1" },
};
export const PAYLOAD = JSON.stringify(EVENT);

/** The MAC, written down a second time from the specification so that the library is not measured by itself. */
export function macOf(payload: string | Uint8Array, t: string | number = NOW, secret = SECRET): string {
  return createHmac("sha256", Buffer.from(secret, "utf8"))
    .update(Buffer.concat([Buffer.from(`${t}.`), Buffer.from(payload as Uint8Array)]))
    .digest("hex");
}

export function headerOf(payload: string | Uint8Array, t: string | number = NOW, secret = SECRET): string {
  return `t=${t},v1=${macOf(payload, t, secret)}`;
}

/** The SignatureError that `action` throws. Anything else that it throws, or nothing, fails the test. */
export function refusal(action: () => unknown): SignatureError {
  try {
    action();
  } catch (error) {
    if (error instanceof SignatureError) return error;
    throw new Error("threw something other than a SignatureError", { cause: error });
  }
  throw new Error("nothing was thrown");
}
