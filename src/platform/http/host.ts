import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { ApiError } from "../domain/api-error.ts";

/**
 * Refuses a name that somebody else has pointed to this machine (DNS rebinding): whoever came by the loopback interface
 * named it by address, as localhost, or by the public URL's name. Throws ApiError 421.
 */
export function assertHost({ headers, socket }: IncomingMessage, publicHost: string | undefined): void {
  if (!isLoopback(socket.localAddress ?? "")) return;
  const name = hostName(headers.host ?? "");
  if (name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0 || name === publicHost) return;
  throw new ApiError("misdirected_request", `This server is not ${name.slice(0, 100)}.`);
}

function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\./.test(address) || address === "::1";
}

function hostName(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, "") : host;
}
