import { HEADERS, isHeaderName, isHeaderValue } from "../contract/headers.ts";

/** An invalid `--header`; the message names the fix. */
export class ForwardHeaderError extends Error {
  override name = "ForwardHeaderError";
}

/** Set by every delivery of the platform: with other values, a forward would test something else. */
const DELIVERY_HEADERS = new Set([
  "content-type",
  "user-agent",
  HEADERS.signature.toLowerCase(),
  HEADERS.eventId.toLowerCase(),
  HEADERS.deliveryAttempt.toLowerCase(),
  HEADERS.relay.toLowerCase(),
]);

/** These belong to the connection or frame the message: a wrong one breaks the request. */
const CONNECTION_HEADERS = new Set([
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
 * Parses additional headers, each `Name: value`, into a flat list of names and values. `Host` may be given once, for
 * receivers that serve several sites. `reserved` are the headers, in lower case, that the delivery sets itself. Throws
 * ForwardHeaderError.
 */
export function parseForwardHeaders(
  lines: readonly string[],
  reserved: ReadonlySet<string> = DELIVERY_HEADERS,
): string[] {
  const headers: string[] = [];
  let hosts = 0;
  for (const line of lines) {
    const [name, value] = parseHeader(line);
    const lowerName = name.toLowerCase();
    if (reserved.has(lowerName)) {
      throw new ForwardHeaderError(`${name} is set by the delivery: remove it`);
    }
    if (CONNECTION_HEADERS.has(lowerName)) {
      throw new ForwardHeaderError(`${name} belongs to the connection and cannot be set: remove it`);
    }
    if (lowerName === "host" && (hosts += 1) > 1) {
      throw new ForwardHeaderError("Host is given more than once: give it once");
    }
    headers.push(name, value);
  }
  return headers;
}

/** The receiver has a host of its own, and its response is shown, so that it must not be compressed. */
const NOT_SENT_ON = new Set([...CONNECTION_HEADERS, "host", "accept-encoding"]);

/** Returns the headers of a received request that are sent on (RFC 9110 7.6.1), as flat lists of names and values. */
export function endToEndHeaders(headers: readonly string[]): string[] {
  const listed = new Set<string>();
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() !== "connection") continue;
    for (const name of headers[i + 1]!.split(",")) listed.add(name.trim().toLowerCase());
  }
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (!NOT_SENT_ON.has(name) && !listed.has(name)) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}

/** Returns the value of a header in a flat list of names and values: the first with this name in any case. */
export function headerIn(flat: readonly string[], name: string): string | undefined {
  const lowerName = name.toLowerCase();
  for (let i = 0; i + 1 < flat.length; i += 2) if (flat[i]!.toLowerCase() === lowerName) return flat[i + 1];
  return undefined;
}

/** Returns a flat list of names and values as pairs. */
export function headerPairs(flat: readonly string[]): [name: string, value: string][] {
  return flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? ""]] : []));
}

/** Parses `Name: value`. Throws ForwardHeaderError. */
export function parseHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  if (colon === -1) {
    throw new ForwardHeaderError(`"${line.slice(0, 40)}" has no colon: write a header as "Name: value"`);
  }
  const name = line.slice(0, colon).trim();
  const value = line.slice(colon + 1).trim();
  if (!isHeaderName(name)) {
    throw new ForwardHeaderError(`"${name.slice(0, 40)}" is not a valid header name: use letters, digits and -`);
  }
  if (!isHeaderValue(value)) {
    throw new ForwardHeaderError(`the value of ${name} contains characters that are not allowed in a header`);
  }
  return [name, value];
}
