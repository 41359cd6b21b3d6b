import { connect as connectTcp, isIP, type LookupFunction, type Socket, type TcpSocketConnectOpts } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { parseUrl } from "./parse-url.ts";

/**
 * How long one of several addresses of a host may take to connect before the next one is tried, in milliseconds. The
 * 250 of Node.js are too short for slow networks and busy hosts.
 */
export const CONNECT_ATTEMPT_MS = 2500;

export const LOOPBACK = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
const lookupLoopback: LookupFunction = (_hostname, _options, callback) => callback(null, LOOPBACK);

/** Returns true for `localhost` and the names below it, which need no DNS (RFC 6761). */
export function isLocalhost(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost");
}

/** Returns a URL's host name without the brackets of an IPv6 address. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Returns the port of a URL, or the default of its protocol. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}

/** Returns what a connection to a URL's origin is opened to. */
export function addressOf(url: URL): { host: string; port: number } {
  return { host: withoutBrackets(url.hostname), port: portOf(url) };
}

/**
 * Returns true for names and addresses that always mean this machine. An IPv6 address may have brackets, and may be an
 * IPv4 address mapped into IPv6, as sockets report it.
 */
export function isLoopback(hostname: string): boolean {
  const host = withoutBrackets(hostname).toLowerCase();
  const address = host.replace(/^::ffff:/, "");
  return isLocalhost(host) || host === "::1" || /^127(\.\d{1,3}){3}$/.test(address);
}

/** Returns true for two URLs of one platform, which has several names on this machine: `localhost`, `127.0.0.1`. */
export function isSamePlatform(first: string, second: string): boolean {
  const named = (text: string): string => {
    const url = parseUrl(text);
    if (url === undefined) return text;
    if (isLoopback(url.hostname)) url.hostname = "localhost";
    return url.href.replace(/\/$/, "");
  };
  return named(first) === named(second);
}

/**
 * Options of `net.connect`, `tls.connect` and `http.request`: which addresses of a host are tried, and when.
 * `localhost` is 127.0.0.1, or ::1 if that refuses the connection: servers listen on either, and both may be different
 * programs. `limitMs` is the time limit of the whole exchange.
 */
export function connectOptions(hostname: string, limitMs: number) {
  return isLocalhost(hostname)
    ? { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: Math.ceil(limitMs), lookup: lookupLoopback }
    : { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_MS };
}

/** Opens a connection for HTTP/1.1 to the origin of a URL; secure for https, with the `tls` options. */
export function openSocket(url: URL, options: Partial<TcpSocketConnectOpts>, tls: ConnectionOptions = {}): Socket {
  const { host, port } = addressOf(url);
  const address = { host, port, noDelay: true, ...options };
  if (url.protocol !== "https:") return connectTcp(address);
  const name = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ ...address, ALPNProtocols: ["http/1.1"], ...name, ...tls });
}
