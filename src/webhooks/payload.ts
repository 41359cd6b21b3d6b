import { Buffer, isUtf8 } from "node:buffer";
import type { WebhookEvent } from "./event.ts";
import { SignatureError } from "./signature-error.ts";

/** The request body as it came: a Buffer, a Uint8Array, or the text that its bytes spell in UTF-8. */
export type Payload = Uint8Array | string;

/** Throws SignatureError `payload_not_raw` for anything that is not bytes or text, such as a parsed body. */
export function assertRawPayload(payload: unknown): asserts payload is Payload {
  // isView, not instanceof: bytes from another realm (a test runner's sandbox) are bytes too.
  if (typeof payload === "string" || ArrayBuffer.isView(payload)) return;
  const found =
    payload === null || payload === undefined
      ? "missing"
      : typeof payload === "object"
        ? "an object, perhaps a parsed body"
        : `a ${typeof payload}`;
  throw new SignatureError(
    "payload_not_raw",
    `the payload is ${found}: pass the raw request body as a Buffer, Uint8Array or string`,
  );
}

/** Parses a verified body. Throws SignatureError: `payload_not_json`, `payload_not_event`. */
export function parseEvent(payload: Payload): WebhookEvent {
  let value: unknown;
  try {
    value = JSON.parse(payloadText(payload));
  } catch (cause) {
    throw new SignatureError(
      "payload_not_json",
      "the signature is right, but the payload is not JSON in UTF-8: use verifySignature where it need not be",
      { cause },
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SignatureError(
      "payload_not_event",
      "the signature is right, but the payload is not a JSON object, so it is no event: is the secret used elsewhere?",
    );
  }
  return value as WebhookEvent;
}

function payloadText(payload: Payload): string {
  if (typeof payload === "string") return withoutByteOrderMark(payload);
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  // Decoding would replace stray bytes silently: the event would not say what was signed.
  if (!isUtf8(bytes)) throw new Error("the payload is not UTF-8");
  return withoutByteOrderMark(bytes.toString("utf8"));
}

function withoutByteOrderMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}
