import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { isLocalhost, isLoopback } from "../../network/connect-options.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { ApiError } from "../domain/api-error.ts";

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
