import type http from "node:http";
import { Readable } from "node:stream";

export type FetchHandler = (request: Request) => Response | Promise<Response>;

/** Serves a Fetch handler from a Node.js server: a minimal Fetch server. */
export function listenerOf(handle: FetchHandler): http.RequestListener {
  return (incoming, outgoing) => {
    respond(handle, incoming, outgoing).catch(() => outgoing.writeHead(500).end());
  };
}

async function respond(
  handle: FetchHandler,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
): Promise<void> {
  const response = await handle(requestOf(incoming));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
  incoming.resume();
}

function requestOf(incoming: http.IncomingMessage): Request {
  const { method = "GET" } = incoming;
  const body = method === "GET" || method === "HEAD" ? null : (Readable.toWeb(incoming) as ReadableStream);
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Request(`http://receiver${incoming.url}`, { method, headers, body, duplex: "half" });
}
