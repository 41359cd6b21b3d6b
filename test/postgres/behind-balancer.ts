import { expect, vi } from "vitest";
import { Browser } from "../oauth/support/browser.ts";
import { type RunningPlatform, startNode } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { startBalancer } from "./balancer.ts";

/** Several processes on one PostgreSQL, which clients reach through a balancer that sends every request elsewhere. */
export interface BehindBalancer {
  server: PostgresServer;
  database: string;
  nodes: RunningPlatform[];
  /** The URL that clients use. */
  url: string;
  sandboxKey: string;
  /** Signs the owner in, once. */
  signInUrl: string;
  /** Number of requests to each process. */
  served(): number[];
  /** Starts another process in the place of one that has ended. */
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

/** A browser with another one's cookies that speaks to one process alone. */
export function browserAt(node: RunningPlatform, other: Browser): Browser {
  const browser = new Browser(node.listenUrl);
  for (const [name, value] of other.cookies) browser.cookies.set(name, value);
  return browser;
}
