import type { IncomingMessage } from "node:http";
import { type AddressRange, holds, parseAddress } from "../domain/addresses.ts";

/** Whose request it is: the peer, or what a trusted proxy says of whoever it speaks for. */
export type ClientAddress = (request: IncomingMessage) => string | undefined;

/**
 * X-Forwarded-For counts only where the peer is a trusted proxy, and then from its end: each trusted proxy adds the
 * address that it saw, and what stands before is whatever the sender liked.
 */
export function createClientAddress(proxies: readonly AddressRange[]): ClientAddress {
  const isTrusted = (text: string) => {
    const address = parseAddress(text);
    return address !== undefined && proxies.some((range) => holds(range, address));
  };
  return (request) => {
    let client = request.socket.remoteAddress;
    const seen = (request.headersDistinct["x-forwarded-for"] ?? []).join(",").split(",");
    while (client !== undefined && isTrusted(client)) {
      const next = seen.pop()?.trim() ?? "";
      if (parseAddress(next) === undefined) return client;
      client = next;
    }
    return client;
  };
}
