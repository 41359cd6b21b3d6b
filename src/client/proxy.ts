import { request as sendHttp } from "node:http";
import { request as sendHttps } from "node:https";
import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { NetworkError } from "./errors.ts";
import type { RawRequest, Sender } from "./transport.ts";

/** How to send one request through a proxy: whole URLs for http, a tunnel for https. */
export async function viaProxy(request: RawRequest, proxy: URL): Promise<Sender> {
  const { url } = request;
  if (url.protocol === "http:") {
    const options = {
      host: proxy.hostname,
      hostname: proxy.hostname,
      port: portOf(proxy),
      path: url.href,
      headers: { Host: url.host, ...proxyHeaders(proxy) },
    };
    return { send: sendHttp, options };
  }
  const tunnel = await openTunnel(request, proxy);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // TLS knows no server name that is an address (RFC 6066 3).
  const servername = isIP(host) === 0 ? host : "";
  return { send: sendHttps, options: { createConnection: () => connectTls({ socket: tunnel, host, servername }) } };
}

function openTunnel({ url, timeLimit, signal }: RawRequest, proxy: URL): Promise<Socket> {
  const target = `${url.hostname}:${url.port || 443}`;
  return new Promise((resolve, reject) => {
    const connect = sendHttp({
      host: proxy.hostname,
      port: portOf(proxy),
      method: "CONNECT",
      path: target,
      headers: { Host: target, ...proxyHeaders(proxy) },
      timeout: timeLimit * 1000,
      signal,
    });
    connect.on("connect", (reply, socket) => {
      if (reply.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(proxyRefusal(proxy, reply.statusCode ?? 0));
    });
    connect.on("timeout", () => connect.destroy(new Error("no answer in time")));
    connect.on("error", (cause) =>
      reject(
        new NetworkError("proxy", `The proxy ${proxy.host} cannot be reached (${cause.message})`, PROXY_HINT, {
          passing: true,
          cause,
        }),
      ),
    );
    connect.end();
  });
}

const PROXY_HINT = "It is named by HTTPS_PROXY or HTTP_PROXY; NO_PROXY lists hosts that are reached without it.";

/** The proxy's own refusal, which is no answer of the platform. */
export function proxyRefusal(proxy: URL, status: number): NetworkError {
  if (status === 407) {
    return new NetworkError(
      "proxy_sign_in",
      `The proxy ${proxy.host} wants a user name and password (407)`,
      "Put them into the proxy variable: http://user:password@host:port",
      { passing: false },
    );
  }
  return new NetworkError("proxy", `The proxy ${proxy.host} refused the connection (${status})`, PROXY_HINT, {
    passing: false,
  });
}

function portOf(proxy: URL): number {
  return Number(proxy.port || (proxy.protocol === "https:" ? 443 : 80));
}

function proxyHeaders(proxy: URL): Record<string, string> {
  if (proxy.username === "") return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "Proxy-Authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}
