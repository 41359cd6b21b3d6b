import {
  Agent,
  type ClientRequest,
  type ClientRequestArgs,
  type IncomingMessage,
  request as requestByHttp,
  type RequestOptions,
} from "node:http";
import { request as requestByHttps } from "node:https";
import { isIP, isIPv6, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { connectOptions, portOf, withoutBrackets } from "../network/connect-options.ts";
import { failureKindOf } from "../network/failures.ts";
import { NetworkError, ProxyError, TIME_LIMIT_CODE, networkErrorOf } from "./errors.ts";

/** Time limit for the proxy's response; requests have their own. */
const TUNNEL_MILLISECONDS = 15_000;

/** The module that sends requests, and its connections. */
export interface Sender {
  send: (url: URL, options: RequestOptions, onResponse: (response: IncomingMessage) => void) => ClientRequest;
  options: RequestOptions;
  /** Describes failures that are not the server's. */
  explain?: typeof networkErrorOf;
}

/** Sends requests through a proxy to servers of one protocol: full URLs for http, a tunnel for https. */
export function senderThrough(proxy: URL, protocol: string): Sender {
  if (protocol === "https:") return { send: requestByHttps, options: { agent: new TunnelAgent(proxy, protocol) } };
  return {
    send: (url, options, onResponse) => {
      const headers = { Host: new URL(url).host, ...signInOf(proxy), ...(options.headers as Record<string, string>) };
      return requestTo(proxy)({ ...options, ...addressOf(proxy), path: String(url), headers }, onResponse);
    },
    options: {},
    explain: (error, url, timeLimit) =>
      (error as NodeJS.ErrnoException).code === TIME_LIMIT_CODE || error instanceof NetworkError
        ? networkErrorOf(error, url, timeLimit)
        : unreachable(proxy, error as NodeJS.ErrnoException),
  };
}

/** Connections to servers of one protocol, each through a tunnel that the proxy opens (RFC 9110 9.3.6). */
export class TunnelAgent extends Agent {
  // Node.js reads both to decide which requests the agent serves.
  readonly protocol: string;
  readonly defaultPort: number;
  readonly #proxy: URL;

  constructor(proxy: URL, protocol: string) {
    super({ keepAlive: true });
    this.#proxy = proxy;
    this.protocol = protocol;
    this.defaultPort = protocol === "https:" ? 443 : 80;
  }

  override createConnection(options: ClientRequestArgs, give: (error: Error | null, socket?: Duplex) => void) {
    const { host, port } = options as { host: string; port: number };
    openTunnel(this.#proxy, `${isIPv6(host) ? `[${host}]` : host}:${port}`).then(
      (tunnel) => give(null, this.protocol === "http:" ? tunnel : connectTls({ ...tlsNameOf(host), socket: tunnel })),
      (error: Error) => give(error),
    );
    return undefined;
  }
}

function openTunnel(proxy: URL, target: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = requestTo(proxy)({
      ...addressOf(proxy),
      method: "CONNECT",
      path: target,
      headers: { Host: target, ...signInOf(proxy) },
      agent: false,
      timeout: TUNNEL_MILLISECONDS,
    });
    // An interrupted command does not wait for the proxy.
    request.on("socket", (socket) => socket.unref());
    request.on("connect", (response, socket: Socket) => {
      if (response.statusCode === 200) return resolve(socket.ref());
      socket.destroy();
      reject(proxyRejection(proxy, response.statusCode ?? 0));
    });
    request.on("timeout", () => request.destroy(new Error(`no response within ${TUNNEL_MILLISECONDS / 1000} s`)));
    request.on("error", (error) => reject(unreachable(proxy, error)));
    request.end();
  });
}

function requestTo({ protocol }: URL): typeof requestByHttp {
  return protocol === "https:" ? requestByHttps : requestByHttp;
}

function addressOf(proxy: URL) {
  const { host, servername } = tlsNameOf(withoutBrackets(proxy.hostname));
  return {
    protocol: proxy.protocol,
    host,
    hostname: host,
    servername,
    port: portOf(proxy),
    ...connectOptions(host, TUNNEL_MILLISECONDS),
  };
}

/** Addresses are not valid server names in TLS (RFC 6066 3). */
function tlsNameOf(host: string): { host: string; servername: string } {
  return { host, servername: isIP(host) === 0 ? host : "" };
}

function signInOf({ username, password }: URL): Record<string, string> {
  if (username === "") return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "Proxy-Authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

const HINT = "It is set by HTTPS_PROXY or HTTP_PROXY; NO_PROXY lists hosts to reach without it.";

/** Returns the error for a response of the proxy itself. */
export function proxyRejection(proxy: URL, status: number): ProxyError {
  if (status === 407) {
    return new ProxyError(
      "proxy_sign_in",
      `The proxy ${proxy.host} requires a user name and password (407)`,
      "Add them to the proxy variable: http://user:password@host:port",
      { passing: false },
    );
  }
  return new ProxyError("proxy", `The proxy ${proxy.host} rejected the connection (${status})`, HINT, {
    passing: false,
  });
}

function unreachable(proxy: URL, cause: NodeJS.ErrnoException): ProxyError {
  if (failureKindOf(cause) !== "tls") {
    const message = `The proxy ${proxy.host} cannot be reached (${cause.message})`;
    return new ProxyError("proxy", message, HINT, { passing: true, cause });
  }
  return new ProxyError(
    "proxy",
    `The proxy ${proxy.host} cannot be reached over TLS (${cause.code})`,
    "If the proxy speaks plain http, use http:// in the proxy variable. If your network has its own certificate authority, set NODE_EXTRA_CA_CERTS to its file.",
    { passing: false, cause },
  );
}
