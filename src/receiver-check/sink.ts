import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Observer } from "./observer.ts";

/** An address that the receiver calls each time it acts. Close it, or the process stays alive. */
export interface Sink extends Observer {
  url: string;
  close(): void;
}

const READ_BYTES = 65_536;
const EVENT_ID = /evt_[0-9A-Za-z]{22}/g;

/**
 * Opens a sink. A call that names an event, in its path or its body, counts for that event; any other counts for all.
 * Rejects if it cannot listen on the address.
 */
export async function openSink({ host, port }: { host: string; port: number }): Promise<Sink> {
  /** The events that each call named. */
  const calls: ReadonlySet<string>[] = [];
  const server = createServer((request, response) => {
    namedEvents(request).then(
      (named) => {
        calls.push(named);
        response.writeHead(204).end();
      },
      () => response.destroy(),
    );
  });
  server.listen(port, host);
  await once(server, "listening");
  const { port: bound } = server.address() as AddressInfo;
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
  return {
    url,
    name: `the sink at ${url}`,
    count: async (ids) => calls.filter((named) => named.size === 0 || ids.some((id) => named.has(id))).length,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function namedEvents(request: IncomingMessage): Promise<Set<string>> {
  let text = request.url ?? "";
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (text.length < READ_BYTES) text += chunk.toString("latin1");
  }
  return new Set(text.match(EVENT_ID));
}
