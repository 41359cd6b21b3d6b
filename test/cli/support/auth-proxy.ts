import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A response that replaces the token endpoint's. */
export interface ReplacedResponse {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

/** A proxy in front of a platform's OAuth server that can change its responses. */
export interface AuthProxy {
  url: string;
  /** The number of requests by path. */
  count(path: string): number;
  /** Changes the metadata of all further responses. */
  rewriteMetadata(change: (metadata: Record<string, unknown>) => object | string): void;
  /**
   * Intercepts each response of a path after the platform has handled the request. Returns the response to send, or
   * undefined for none.
   */
  intercept(
    path: string,
    change: (
      genuine: ReplacedResponse,
      form: URLSearchParams,
    ) => Promise<ReplacedResponse | undefined> | ReplacedResponse | undefined,
  ): void;
  close(): Promise<void>;
}

export async function startAuthProxy(platformUrl: string): Promise<AuthProxy> {
  const counts = new Map<string, number>();
  const changes = new Map<string, Parameters<AuthProxy["intercept"]>[1]>();
  let rewrite: Parameters<AuthProxy["rewriteMetadata"]>[0] = (metadata) => metadata;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url!.split("?")[0]!;
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const reply = await fetch(platformUrl + request.url!, {
      method: request.method!,
      redirect: "manual",
      headers: { "content-type": request.headers["content-type"] ?? "application/json" },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const genuine: ReplacedResponse = {
      status: reply.status,
      headers: { "content-type": reply.headers.get("content-type") ?? "" },
      body: (await reply.text()).replaceAll(platformUrl, url),
    };
    const isMetadata = path === "/.well-known/oauth-authorization-server";
    const changed = isMetadata ? rewrite(JSON.parse(genuine.body) as Record<string, unknown>) : undefined;
    const respond = isMetadata
      ? { ...genuine, body: typeof changed === "string" ? changed : JSON.stringify(changed) }
      : await (changes.get(path) ?? ((same) => same))(genuine, new URLSearchParams(Buffer.concat(chunks).toString()));
    if (respond === undefined) return void response.destroy();
    response.writeHead(respond.status ?? 200, respond.headers ?? { "content-type": "application/json" });
    response.end(respond.body);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((listening) => {
    server.listen(0, "127.0.0.1", listening);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    count: (path) => counts.get(path) ?? 0,
    rewriteMetadata: (change) => {
      rewrite = change;
    },
    intercept: (path, change) => void changes.set(path, change),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
