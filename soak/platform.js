// The platform of a soak run: one process on SQLite, or two on PostgreSQL behind a balancer.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { Phoenix } from "./processes.js";

const NODES = 2;
const FLAGS = ["serve", "--json", "--allow-private-targets", "--rate-limit=0", "--log-level=warn"];

/** Loads the code that the soak shares with the tests. */
export async function loadTesting() {
  const path = (name) => fileURLToPath(new URL(name, import.meta.url));
  const outfile = path("../dist/soak-testing.mjs");
  await build({
    entryPoints: [path("testing.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  return import(outfile);
}

/**
 * Starts the platform on `sqlite` or `postgres`. `processes` restart when they are killed; `close` removes everything.
 */
export async function startPlatform(kind, testing) {
  const folder = mkdtempSync(join(tmpdir(), "service-soak-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return kind === "postgres" ? startOnPostgres(folder, testing) : startOnSqlite(folder);
}

async function startOnSqlite(folder) {
  const database = join(folder, "platform.db");
  const node = new Phoenix("platform", [...FLAGS, `--port=${await freePort()}`, `--database=${database}`], {
    HOME: folder,
  });
  await node.start();
  const { base_url: baseUrl } = node.ready;
  return { folder, baseUrl, key: keyOf(node), processes: [node], close: async () => {} };
}

async function startOnPostgres(folder, { startPostgres, startBalancer }) {
  const server = await startPostgres(["shared_buffers=256MB", "max_connections=200"]);
  const database = await server.createDatabase();
  const ports = [];
  for (let i = 0; i < NODES; i++) ports.push(await freePort());
  const balancer = await startBalancer(() => ports.map((port) => `http://127.0.0.1:${port}`));
  const processes = ports.map(
    (port, i) =>
      new Phoenix(`node ${i + 1}`, [...FLAGS, `--port=${port}`, `--public-url=${balancer.url}`], {
        HOME: folder,
        SERVICE_DATABASE: database,
        SERVICE_MASTER_KEY: "5a".repeat(32),
      }),
  );
  for (const node of processes) await node.start();
  while (balancer.ready() < NODES) await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    folder,
    baseUrl: balancer.url,
    key: keyOf(processes[0]),
    processes,
    async close() {
      await balancer.close();
      // The server's process keeps nothing alive. Without a timer this one would exit before the folder is removed.
      const alive = setInterval(() => {}, 1000);
      await server.remove();
      clearInterval(alive);
    },
  };
}

function keyOf({ ready }) {
  return JSON.parse(readFileSync(ready.credentials_file, "utf8")).sandbox_key;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
