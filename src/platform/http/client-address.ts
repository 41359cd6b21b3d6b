import type { IncomingMessage } from "node:http";
import { type AddressRange, holds, parseAddress } from "../domain/addresses.ts";

/** Returns the client's address: the peer, or the address that a trusted proxy reports. */
export type ClientAddress = (request: IncomingMessage) => string | undefined;

/**
 * X-Forwarded-For counts only if the peer is a trusted proxy, and is read from its end: each trusted proxy appends the
 * address that it saw, and anything before may be forged.
 */
export function createClientAddress(proxies: readonly AddressRange[]): ClientAddress {
  const isTrusted = (text: string) => {
    const address = parseAddress(text);
    return address !== undefined && proxies.some((range) => holds(range, address));
  };
  return (request) => {
    let client = request.socket.remoteAddress;
    const addresses = (request.headersDistinct["x-forwarded-for"] ?? []).join(",").split(",");
    while (client !== undefined && isTrusted(client)) {
      const next = addresses.pop()?.trim() ?? "";
      if (parseAddress(next) === undefined) return client;
      client = next;
    }
    return client;
  };
}
