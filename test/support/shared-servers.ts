import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { startBrowserServer } from "./browser-server.ts";
import { makePostgresTemplate, type PostgresTemplate, startPostgres } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Set if the process of the run provides shared servers. */
    sharedServersUrl: string;
  }
}

/** A server that this process has started. */
interface SharedServer {
  /** Its address for tests. */
  url: string;
  remove(): Promise<void>;
}

/**
 * Starts servers that test files share, each at the first request: `/postgres/N` is the PostgreSQL server of worker N,
 * `/browser` one Chromium for all. Responds with the server's address, for `/postgres-template` with the folder of a
 * server's initial data, and with 503 and the reason if there is none.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = new Map<string, Promise<SharedServer>>();
  let template: PostgresTemplate | undefined;
  const start = async (path: string): Promise<SharedServer> => {
    if (path === "/browser") return startBrowserServer();
    template ??= makePostgresTemplate();
    if (path === "/postgres-template") return { url: JSON.stringify(template), remove: async () => {} };
    return startPostgres(undefined, template);
  };
  const listener = createServer((request, response) => {
    const path = request.url ?? "";
    const server = servers.get(path) ?? start(path);
    servers.set(path, server);
    server.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(503).end((error as Error).message),
    );
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  project.provide("sharedServersUrl", `http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
  return async () => {
    listener.closeAllConnections();
    listener.close();
    await Promise.allSettled([...servers.values()].map(async (server) => (await server).remove()));
  };
}
