import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as sendHttp,
  type RequestOptions,
} from "node:http";
import { NetworkError } from "./errors.ts";
import { networkErrorOf, TIME_LIMIT_CODE } from "./network-failures.ts";
import { type ProxySettings, proxyFor } from "./proxy-settings.ts";

/** One HTTP exchange as bytes; no meaning is given to its status. */
export interface RawRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
  /** Seconds, from the connect to the last byte. */
  timeLimit: number;
  signal: AbortSignal;
}

export interface RawReply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Transport {
  send(request: RawRequest): Promise<RawReply>;
}

/** What sends a request, and over which connection. */
export interface Sender {
  send: typeof sendHttp;
  options: RequestOptions;
}

/**
 * Sends requests over connections that stay open between them; idle ones never keep the process alive. Redirects are not
 * followed: the credential is for one origin. `node:https` and the proxy code are loaded where they are needed, since
 * most commands speak plain http to this machine.
 */
export function createTransport(proxies: ProxySettings = {}): Transport {
  const plain: Sender = { send: sendHttp, options: { agent: new Agent({ keepAlive: true }) } };
  let secure: Promise<Sender> | undefined;

  async function sendDirectly(request: RawRequest): Promise<RawReply> {
    if (request.url.protocol === "http:") return await exchange(plain, request);
    secure ??= openSecure();
    return await exchange(await secure, request);
  }

  async function sendThrough(proxy: URL, request: RawRequest): Promise<RawReply> {
    const { proxyRefusal, viaProxy } = await import("./proxy.ts");
    const sender = await viaProxy(request, proxy).catch((error: unknown) => {
      throw request.signal.aborted ? request.signal.reason : networkErrorOf(error, request.url, request.timeLimit);
    });
    const reply = await exchange(sender, request);
    if (reply.status === 407) throw proxyRefusal(proxy, reply.status);
    return reply;
  }

  return {
    async send(request) {
      const proxy = proxyFor(request.url, proxies);
      return proxy === undefined ? await sendDirectly(request) : await sendThrough(proxy, request);
    },
  };
}

async function openSecure(): Promise<Sender> {
  const https = await import("node:https");
  return { send: https.request, options: { agent: new https.Agent({ keepAlive: true }) } };
}

function exchange({ send, options }: Sender, request: RawRequest): Promise<RawReply> {
  const { url, body, signal } = request;
  return new Promise((resolve, reject) => {
    const abort = (): unknown => outgoing.destroy();
    const end = (): void => {
      clearTimeout(timeLimit);
      signal.removeEventListener("abort", abort);
    };
    const fail = (error: unknown): void => {
      end();
      reject(signal.aborted ? (signal.reason as Error) : networkErrorOf(error, url, request.timeLimit));
    };
    const headers = {
      ...(options.headers as Record<string, string> | undefined),
      ...request.headers,
      ...(body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) }),
    };
    const outgoing = send(url, { ...options, method: request.method, headers }, (incoming) => {
      readText(incoming).then((text) => {
        end();
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text });
      }, fail);
    });
    // What cannot be sent has thrown by now, and leaves nothing behind.
    const timeLimit = setTimeout(
      () => outgoing.destroy(Object.assign(new Error("no answer in time"), { code: TIME_LIMIT_CODE })),
      request.timeLimit * 1000,
    );
    outgoing.on("error", fail);
    signal.addEventListener("abort", abort, { once: true });
    outgoing.end(body);
  });
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  if (!incoming.complete)
    throw new NetworkError("connection_lost", "The answer broke off", "Try again.", { passing: true });
  return Buffer.concat(chunks).toString("utf8");
}
