import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral port range, so that no other connection or server on port 0 takes it in the meantime. */
const [FIRST, LAST] = [15_000, 32_000];
/** Two workers never choose the same port before either listens. */
const WORKERS = 8;
const WORKER = Number(process.env["VITEST_POOL_ID"] ?? 0) % WORKERS;
const chosen = new Set<number>();

/** Returns a port of this machine on which nothing listens, each once. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + randomInt((LAST - FIRST) / WORKERS) * WORKERS + WORKER;
    if (chosen.has(port)) continue;
    chosen.add(port);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
