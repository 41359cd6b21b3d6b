import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { TestProject } from "vitest/node";
import { type OwnPostgresServer, startPostgres } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where this process tells each worker the URL of its PostgreSQL. */
    postgresPort: number;
  }
}

/** Starts a PostgreSQL for each worker of a run, once the first of its files asks for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = new Map<string, Promise<OwnPostgresServer>>();
  const serverOf = (worker: string) => {
    const server = servers.get(worker) ?? startPostgres();
    servers.set(worker, server);
    return server;
  };
  const listener = createServer((socket) => {
    socket.on("error", () => {});
    // One short line: it comes in one piece.
    socket.once("data", (worker) => {
      void serverOf(String(worker))
        .then(({ url }) => url, String)
        .then((answer) => socket.end(answer));
    });
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  project.provide("postgresPort", (listener.address() as AddressInfo).port);
  return async () => {
    listener.close();
    await Promise.all([...servers.values()].map(async (server) => (await server).remove()));
  };
}
