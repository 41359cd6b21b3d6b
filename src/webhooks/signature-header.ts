import { fromHex } from "./mac.ts";
import { SignatureError } from "./signature-error.ts";

/** The header's name for lookups: Node, Express, Fastify and Fetch store names in lower case. */
export const SIGNATURE_HEADER = "service-signature";

/** The header's name as it is sent and displayed. */
export const SIGNATURE_HEADER_DISPLAY = "Service-Signature";

/** What frameworks provide for a header. Only a single string can be valid. */
export type SignatureHeaderValue = string | readonly string[] | null | undefined;

export const MAX_SIGNATURES = 10;

export const TIMESTAMP_PATTERN = /^(0|[1-9]\d{0,11})$/;

const MAX_HEADER_LENGTH = 4096;
const SIGNATURE_PATTERN = /^[0-9a-f]{64}$/i;

export interface SignatureHeader {
  /** The text of `t`, which the MAC covers. */
  timestamp: string;
  /** The `v1` values, decoded: 32 bytes each. */
  signatures: Uint8Array[];
}

/** Parses a `Service-Signature` value: `t=<Unix seconds>,v1=<hex>`. Throws SignatureError, whatever `header` is. */
export function parseSignatureHeader(header: unknown): SignatureHeader {
  const text = headerText(header, SIGNATURE_HEADER_DISPLAY);
  let timestamp: string | undefined;
  const signatures: Uint8Array[] = [];
  for (const item of text.split(",")) {
    const pair = trimSpaces(item);
    const equals = pair.indexOf("=");
    if (equals < 1) {
      throw new SignatureError("header_malformed", `the header item ${quote(pair)} is not a name=value pair`);
    }
    const name = pair.slice(0, equals);
    const value = pair.slice(equals + 1);
    if (name === "t") {
      if (timestamp !== undefined) {
        throw new SignatureError("timestamp_repeated", "the header has more than one t: send it once, with one t");
      }
      if (!TIMESTAMP_PATTERN.test(value)) {
        throw new SignatureError(
          "timestamp_malformed",
          `t is ${quote(value)}, not a Unix time: whole seconds, at most 12 digits, no sign, no leading zero`,
        );
      }
      timestamp = value;
    } else if (name === "v1") {
      if (!SIGNATURE_PATTERN.test(value)) {
        throw new SignatureError(
          "signature_malformed",
          `a v1 value is not 64 hex digits (its length is ${value.length}): send the HMAC-SHA256 in hex`,
        );
      }
      if (signatures.length === MAX_SIGNATURES) {
        throw new SignatureError("too_many_signatures", `the header has more than ${MAX_SIGNATURES} v1 values`);
      }
      signatures.push(fromHex(value));
    }
  }
  if (timestamp === undefined) {
    throw new SignatureError("timestamp_missing", "the header has no t: it must read t=<Unix seconds>,v1=<hex HMAC>");
  }
  if (signatures.length === 0) {
    throw new SignatureError("signature_missing", "the header has no v1, the only supported scheme");
  }
  return { timestamp, signatures };
}

/** Returns the single value of a header. Throws SignatureError, whatever `header` is. */
export function headerText(header: unknown, name: string): string {
  if (header === undefined || header === null || header === "") {
    throw new SignatureError(
      "header_missing",
      `the ${name} header is missing. Is this request a delivery? A proxy may have dropped the header`,
    );
  }
  if (typeof header !== "string") {
    const kind = typeof header === "object" ? "an object" : `a ${typeof header}`;
    const found = Array.isArray(header) ? `a list of ${header.length} values` : kind;
    throw new SignatureError("header_not_text", `the ${name} header is ${found}: pass its single value as a string`);
  }
  if (header.length > MAX_HEADER_LENGTH) {
    throw new SignatureError(
      "header_too_long",
      `the header has ${header.length} characters, more than the maximum of ${MAX_HEADER_LENGTH}`,
    );
  }
  return header;
}

/** Strips optional whitespace as HTTP defines it (RFC 9110, 5.6.3): spaces and tabs. */
export function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Returns the beginning of a foreign text for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}…` : text);
}
