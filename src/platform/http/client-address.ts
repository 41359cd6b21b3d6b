import type { IncomingMessage } from "node:http";
import { type AddressRange, holds, parseAddress } from "../../network/addresses.ts";

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
