import { expect, vi } from "vitest";
import { Browser } from "../platform/oauth/support/browser.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { startBalancer } from "./balancer.ts";

/** Several processes on one PostgreSQL database, behind a balancer that sends each request to the next process. */
export interface BehindBalancer {
  server: PostgresServer;
  database: string;
  nodes: RunningPlatform[];
  /** The URL that clients use. */
  url: string;
  sandboxKey: string;
  /** Signs the owner in once. */
  signInUrl: string;
  /** The number of requests to each process. */
  served(): number[];
  /** Starts a process that replaces one that has exited. */
  replace(place: number): Promise<void>;
  close(): Promise<void>;
}

export async function startBehindBalancer(count: number): Promise<BehindBalancer> {
  const server = await usePostgres();
  const database = await server.createDatabase();
  const nodes: RunningPlatform[] = [];
  const balancer = await startBalancer(() => nodes.map(({ listenUrl }) => listenUrl));
  const start = () => startNode(database, ["--public-url", balancer.url]);
  const allReady = () => vi.waitFor(() => expect(balancer.ready()).toBe(count), { timeout: 60_000 });
  for (let started = 0; started < count; started++) nodes.push(await start());
  await allReady();
  const { sandboxKey, ready } = nodes[0]!;
  return {
    server,
    database,
    nodes,
    url: balancer.url,
    sandboxKey,
    signInUrl: ready.sign_in_url!,
    served: () => nodes.map(({ listenUrl }) => balancer.served.get(listenUrl) ?? 0),
    async replace(place) {
      nodes[place] = await start();
      await allReady();
    },
    async close() {
      await balancer.close();
      await Promise.all(nodes.map((node) => node.stop()));
      await server.remove();
    },
  };
}

/** Returns a browser with another one's cookies that connects to one process. */
export function browserAt(node: RunningPlatform, other: Browser): Browser {
  const browser = new Browser(node.listenUrl);
  for (const [name, value] of other.cookies) browser.cookies.set(name, value);
  return browser;
}
