import { validateHeaderName, validateHeaderValue } from "node:http";
import { HEADERS } from "../contract/headers.ts";

export type ForwardHeaderErrorCode = "no_colon" | "invalid_name" | "invalid_value" | "protected" | "duplicate";

/** A header given by the user that cannot be sent; the message names the fix. */
export class ForwardHeaderError extends Error {
  override name = "ForwardHeaderError";
  readonly code: ForwardHeaderErrorCode;

  constructor(code: ForwardHeaderErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What makes a forward the same as a delivery of the platform: a receiver tested with other values is not tested. */
const OF_THE_DELIVERY = new Set([
  "content-type",
  "user-agent",
  HEADERS.signature.toLowerCase(),
  HEADERS.eventId.toLowerCase(),
  HEADERS.deliveryAttempt.toLowerCase(),
  HEADERS.relay.toLowerCase(),
]);

/** These frame the message or belong to the connection: a wrong one breaks the exchange. */
const OF_THE_CONNECTION = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Reads the user's additional headers, each `Name: value`, as a flat list of names and values. `Host` may be given once
 * (for receivers that tell sites apart by it). Throws ForwardHeaderError.
 */
export function parseForwardHeaders(lines: readonly string[]): string[] {
  const headers: string[] = [];
  let hosts = 0;
  for (const line of lines) {
    const [name, value] = parseHeader(line);
    const lowerName = name.toLowerCase();
    if (OF_THE_DELIVERY.has(lowerName)) {
      throw new ForwardHeaderError("protected", `${name} is set by the delivery itself: leave it out`);
    }
    if (OF_THE_CONNECTION.has(lowerName)) {
      throw new ForwardHeaderError("protected", `${name} belongs to the connection and cannot be chosen: leave it out`);
    }
    if (lowerName === "host" && (hosts += 1) > 1) {
      throw new ForwardHeaderError("duplicate", "Host was given more than once: give it once");
    }
    headers.push(name, value);
  }
  return headers;
}

function parseHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  if (colon === -1) {
    throw new ForwardHeaderError("no_colon", `"${line.slice(0, 40)}" has no colon: write a header as "Name: value"`);
  }
  const name = line.slice(0, colon).trim();
  const value = line.slice(colon + 1).trim();
  try {
    validateHeaderName(name);
  } catch {
    throw new ForwardHeaderError("invalid_name", `"${name.slice(0, 40)}" is no header name: use letters, digits and -`);
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    throw new ForwardHeaderError("invalid_value", `the value of ${name} holds characters that a header cannot carry`);
  }
  return [name, value];
}
