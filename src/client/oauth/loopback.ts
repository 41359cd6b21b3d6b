import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { CALLBACK_PAGE_HEADERS } from "./callback-pages.ts";

/** The one redirect that the authorization server sends back. */
export interface Callback {
  url: URL;
  /** Shows the browser how it ended; resolves once it has read the page, or has gone. */
  answer(status: number, page: string): Promise<void>;
}

/** A listener on this machine that takes one callback and nothing else (RFC 8252 7.3). */
export interface Loopback {
  /** `http://127.0.0.1:<port>/callback`. */
  redirectUri: string;
  /** Takes the callback that carries this state. To be called once. */
  callback(state: string): Promise<Callback>;
  close(): void;
}

export interface LoopbackOptions {
  path: string;
  /** 0 takes a free one. */
  port: number;
  /** Told of each request that was turned away for what it carried: somebody may be trying something. */
  onRefusal: (reason: string) => void;
}

const HEADER_BYTES = 8 * 1024;
const REQUEST_MILLISECONDS = 4000;
const CHECK_MILLISECONDS = 500;
const ANSWERS = ["code", "error", "state", "iss"];

/** Listens on 127.0.0.1, or on [::1] where there is no IPv4. Rejects with the system's error, such as EADDRINUSE. */
export async function openLoopback({ path, port, onRefusal }: LoopbackOptions): Promise<Loopback> {
  let expected: string | undefined;
  let take: ((callback: Callback) => void) | undefined;
  let taken = false;
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: REQUEST_MILLISECONDS,
    requestTimeout: REQUEST_MILLISECONDS,
    connectionsCheckingInterval: CHECK_MILLISECONDS,
  });
  const origin = await listen(server, port);

  server.on("request", (request, response) => {
    const url = new URL(origin + (request.url?.startsWith("/") === true ? request.url : "/"));
    const refusal = taken ? { status: 410, reason: "This sign-in is over" } : refusalOf(request, url);
    if (refusal === undefined && take !== undefined) {
      taken = true;
      return take({ url, answer: (status, page) => answer(response, status, page) });
    }
    const { status, reason } = refusal ?? { status: 400, reason: "Nobody is signing in" };
    if (status === 400) onRefusal(reason);
    response.writeHead(status, {
      "Content-Type": "text/plain; charset=utf-8",
      Connection: "close",
      ...(status === 405 ? { Allow: "GET" } : {}),
    });
    response.end(`${reason}.\n`);
  });

  function refusalOf(request: IncomingMessage, url: URL): { status: number; reason: string } | undefined {
    // A name that was made to point to this machine is no way in.
    if (request.headers.host !== new URL(origin).host) return { status: 421, reason: "This is another host" };
    if (url.pathname !== path) return { status: 404, reason: "Nothing is here" };
    if (request.method !== "GET") return { status: 405, reason: "Only GET" };
    const mode = request.headers["sec-fetch-mode"];
    if (mode !== undefined && mode !== "navigate") return { status: 403, reason: "Only by navigating here" };
    const parameters = url.searchParams;
    if (ANSWERS.some((name) => parameters.getAll(name).length > 1)) {
      return { status: 400, reason: "A parameter stands there twice" };
    }
    if (!sameSecret(parameters.get("state") ?? "", expected ?? "")) {
      return { status: 400, reason: "This is not the answer to the sign-in that waits here" };
    }
    if (parameters.has("code") === parameters.has("error")) return { status: 400, reason: "This is no answer" };
    return undefined;
  }

  return {
    redirectUri: origin + path,
    callback(state) {
      expected = state;
      return new Promise((resolve) => {
        take = resolve;
      });
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listen(server: Server, port: number): Promise<string> {
  try {
    await bind(server, port, "127.0.0.1");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRNOTAVAIL" && code !== "EAFNOSUPPORT") throw error;
    await bind(server, port, "::1");
  }
  const { address, port: bound } = server.address() as AddressInfo;
  // As browsers write it: port 80 goes without saying.
  return new URL(`http://${address.includes(":") ? `[${address}]` : address}:${bound}`).origin;
}

async function bind(server: Server, port: number, host: string): Promise<void> {
  server.listen({ port, host, exclusive: true });
  await once(server, "listening");
}

async function answer(response: ServerResponse, status: number, page: string): Promise<void> {
  const closed = once(response, "close");
  response.writeHead(status, { ...CALLBACK_PAGE_HEADERS, Connection: "close" });
  response.end(page);
  await closed;
}

/** Compares in constant time, whatever the lengths. */
function sameSecret(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
