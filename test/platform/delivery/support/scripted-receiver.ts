import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { vi } from "vitest";

/** One received request. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The event's ID. */
  event: string;
  /** Arrival time in milliseconds of this process. */
  at: number;
}

/** A receiver with configured responses that records its requests. */
export interface ScriptedReceiver {
  url: string;
  received: Received[];
  /** Returns the requests to one path. */
  at(path: string): Received[];
  /** Resolves after this many requests. */
  until(count: number, path?: string): Promise<void>;
  close(): Promise<void>;
}

export type Script = (request: Received, response: ServerResponse) => void;

/** Starts it. It returns 200 unless the script sends a response. */
export async function startScriptedReceiver(
  script: Script = (_request, response) => void response.end("ok"),
): Promise<ScriptedReceiver> {
  const received: Received[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const event = String(headers["service-event-id"]);
      const entry = {
        method,
        path,
        headers,
        body: Buffer.concat(chunks).toString("utf8"),
        event,
        at: performance.now(),
      };
      received.push(entry);
      script(entry, response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const at = (path: string) => received.filter((request) => request.path === path);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    at,
    until: (count, path) =>
      vi.waitFor(
        () => {
          const found = path === undefined ? received.length : at(path).length;
          if (found < count) throw new Error(`${found} of ${count} requests came`);
        },
        { timeout: 60_000, interval: 5 },
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
