import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as sendHttp } from "node:http";
import { connectOptions } from "../network/connect-options.ts";
import { callAfter } from "../network/clock.ts";
import { NetworkError, TIME_LIMIT_CODE, networkErrorOf } from "./errors.ts";
import { type ProxySettings, proxyFor } from "./proxy-settings.ts";
import type { Sender } from "./proxy.ts";

/** One HTTP request and its response, whatever the status. */
interface RawRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
  /** Time limit in seconds, from the connect to the last byte. */
  timeLimit: number;
  /** Maximum size of the response body in bytes (default: 128 MiB, a page of 100 events of the maximum size). */
  maxBytes?: number;
  signal: AbortSignal;
}

export interface RawResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export type Transport = ReturnType<typeof createTransport>;

const MAX_BYTES = 128 * 1024 * 1024;

/**
 * Sends requests over connections that are reused; idle ones do not keep the process alive. Redirects are not followed,
 * since the credential is for one origin. `node:https` and the proxy code are loaded on demand: most commands use plain
 * http to this machine.
 */
export function createTransport(proxies: ProxySettings = {}, agent = new Agent({ keepAlive: true })) {
  const plain: Sender = { send: sendHttp, options: { agent } };
  const others = new Map<string, Promise<Sender>>();

  function senderFor({ protocol }: URL, proxy: URL | undefined): Promise<Sender> | Sender {
    if (protocol === "http:" && proxy === undefined) return plain;
    const name = `${protocol} ${proxy?.href}`;
    const sender = others.get(name) ?? openSender(protocol, proxy);
    others.set(name, sender);
    return sender;
  }

  return {
    async send(request: RawRequest): Promise<RawResponse> {
      const { url, signal } = request;
      const proxy = proxyFor(url, proxies);
      const sender = await senderFor(url, proxy);
      signal.throwIfAborted();
      const response = await exchange(sender, request);
      if (response.status !== 407 || proxy === undefined) return response;
      const { proxyRejection } = await import("./proxy.ts");
      throw proxyRejection(proxy, response.status);
    },
  };
}

async function openSender(protocol: string, proxy: URL | undefined): Promise<Sender> {
  if (proxy !== undefined) return (await import("./proxy.ts")).senderThrough(proxy, protocol);
  const https = await import("node:https");
  return { send: https.request, options: { agent: new https.Agent({ keepAlive: true }) } };
}

function exchange({ send, options, explain = networkErrorOf }: Sender, request: RawRequest): Promise<RawResponse> {
  const { url, body, signal } = request;
  return new Promise((resolve, reject) => {
    // Without a socket, the request emits its end only once it gets one.
    const stop = (error?: Error): void => {
      outgoing.destroy();
      fail(error);
    };
    const abort = (): void => stop();
    const end = (): void => {
      cancelTimeLimit();
      signal.removeEventListener("abort", abort);
    };
    const fail = (error: unknown): void => {
      end();
      reject(signal.aborted ? (signal.reason as Error) : explain(error, url, request.timeLimit));
    };
    const headers = {
      ...request.headers,
      ...(body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) }),
    };
    const outgoing = send(
      url,
      { ...connectOptions(url.hostname, request.timeLimit * 1000), ...options, method: request.method, headers },
      (incoming) => {
        readText(incoming, url, request.maxBytes ?? MAX_BYTES).then((text) => {
          end();
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
        }, fail);
      },
    );
    // From here on, nothing throws synchronously.
    const cancelTimeLimit = callAfter(request.timeLimit * 1000, () =>
      stop(Object.assign(new Error("no response in time"), { code: TIME_LIMIT_CODE })),
    );
    outgoing.on("error", fail);
    signal.addEventListener("abort", abort, { once: true });
    outgoing.end(body);
  });
}

async function readText(incoming: IncomingMessage, { host }: URL, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new NetworkError(
        "not_the_platform",
        `The response of ${host} is larger than ${maxBytes / 1024 / 1024} MiB`,
        "For a list, request fewer items with --limit. Otherwise check the base URL.",
        { passing: false },
      );
    }
    chunks.push(chunk);
  }
  if (!incoming.complete)
    throw new NetworkError("connection_lost", "The response was cut off", "Try again.", { passing: true });
  return Buffer.concat(chunks).toString("utf8");
}
