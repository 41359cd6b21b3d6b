import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { type AddressRange, holds, parseAddress } from "../../network/addresses.ts";
import { isLocalhost, isLoopback } from "../../network/connect-options.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { ApiError } from "../domain/api-error.ts";

/** Returns the client's address: the peer, or the address that a trusted proxy reports. */
export type ClientAddress = (request: IncomingMessage) => string | undefined;

/** Returns a test for addresses of trusted proxies. */
export function trustOf(proxies: readonly AddressRange[]): (address: string | undefined) => boolean {
  if (proxies.length === 0) return () => false;
  return (text = "") => {
    const address = parseAddress(text);
    return address !== undefined && proxies.some((range) => holds(range, address));
  };
}

/**
 * X-Forwarded-For counts only if the peer is a trusted proxy, and is read from its end: each trusted proxy appends the
 * address that it saw, and anything before may be forged.
 */
export function createClientAddress(proxies: readonly AddressRange[]): ClientAddress {
  const isTrusted = trustOf(proxies);
  return (request) => {
    let client = request.socket.remoteAddress;
    if (!isTrusted(client)) return client;
    const addresses = (request.headersDistinct["x-forwarded-for"] ?? []).join(",").split(",");
    while (client !== undefined && isTrusted(client)) {
      const next = addresses.pop()?.trim() ?? "";
      if (parseAddress(next) === undefined) return client;
      client = next;
    }
    return client;
  };
}

/**
 * Protects from DNS rebinding: returns an error if a request over the loopback interface names a host that is not an
 * address, localhost, this machine or the public URL's host. A page of another site sends its own host name.
 */
export function problemOfHost({ headers, socket }: IncomingMessage, publicHost: string | undefined) {
  const host = headers.host ?? "";
  // Most requests, which need no URL to be parsed.
  const plain = host.replace(/:\d*$/, "");
  if (plain === "localhost" || isIP(plain) !== 0) return undefined;
  if (!isLoopback(socket.localAddress ?? "")) return undefined;
  const name = hostName(host);
  if (isLocalhost(name) || isIP(name) !== 0 || name === publicHost) return undefined;
  if (name === hostname().toLowerCase()) return undefined;
  return new ApiError(
    "misdirected_request",
    `This server is not ${name.slice(0, 100)}. Use localhost or an address, or start it with --public-url.`,
  );
}

function hostName(host: string): string {
  return parseUrl(`http://${host}`)?.hostname.replace(/^\[|\]$/g, "") ?? host;
}
