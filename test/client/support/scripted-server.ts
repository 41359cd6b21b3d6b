import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A request as it arrived. */
export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Respond = (request: SeenRequest, response: ServerResponse) => void;

/** Starts a server that sends the n-th response to the n-th request, and then repeats the last one. */
export async function startServer(...results: Respond[]): Promise<{ url: string; requests: SeenRequest[] }> {
  const requests: SeenRequest[] = [];
  const url = await listen(
    createServer((incoming, response) => {
      let body = "";
      incoming.setEncoding("utf8").on("data", (text: string) => (body += text));
      incoming.on("end", () => {
        const request = { method: incoming.method!, url: incoming.url!, headers: incoming.headers, body };
        const respond = results[Math.min(requests.length, results.length - 1)]!;
        requests.push(request);
        respond(request, response);
      });
    }),
  );
  return { url, requests };
}

/** Listens on a free port of 127.0.0.1 until the test ends. */
export async function listen(server: Server | TlsServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Responds with JSON. A success must be whole if its path is in the contract, unlike that of `/v1/things`. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Respond {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", "request-id": "req_1", ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Responds with problem details. */
export function problem(status: number, code: string, headers: Record<string, string> = {}): Respond {
  const body = { type: "about:blank", title: code, status, detail: `It is ${code}.`, code, request_id: "req_1" };
  return json(status, body, { "content-type": "application/problem+json", ...headers });
}

/** Closes the connection without a response. */
export const hangUp: Respond = (_request, response) => response.destroy();
