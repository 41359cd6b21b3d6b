// Shared by the benchmarks: processes, medians, and folders that are removed at the end.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** The built command that is measured. */
export const BIN = process.env.BENCH_BIN ?? join(ROOT, "bin/service.js");

/** Returns the median. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

const folders = [];
const children = new Set();
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates a folder that is removed when the benchmark ends. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), "service-bench-"));
  folders.push(folder);
  return folder;
}

/** Leaves no process running, however the benchmark ends. */
export function endWithUs(child) {
  children.add(child);
  child.once("exit", () => children.delete(child));
}

/** Starts a Node process and resolves with its first line of JSON. */
export async function startNode(args, { env = {}, input = "ignore" } = {}) {
  const child = spawn(process.execPath, args, {
    stdio: [input, "pipe", "inherit"],
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...env },
  });
  endWithUs(child);
  const lines = createInterface(child.stdout);
  const ready = await new Promise((resolve, reject) => {
    lines.once("line", (line) => resolve(withCredentials(JSON.parse(line))));
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}`)));
  });
  return { child, ready, lines };
}

/** Returns the first line with the content of the platform's credentials file. */
export function withCredentials(ready) {
  const file = ready.credentials_file;
  return file === undefined ? ready : { ...JSON.parse(readFileSync(file, "utf8")), ...ready };
}

/** Starts the built platform with its defaults: durable, on a file. */
export async function startService(database = ["--database", join(temporaryFolder(), "platform.db")], env = {}) {
  const flags = ["--json", "--port", "0", "--allow-private-targets", "--rate-limit", "0"];
  return startNode([BIN, "serve", ...flags, ...database], { env });
}

/** Calls a running platform's API with its sandbox key. Throws on an error response. */
export function api({ ready }) {
  return async (method, path, body) => {
    const response = await fetch(ready.base_url + path, {
      method,
      headers: { authorization: `Bearer ${ready.sandbox_key}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
}

/** Stops a process and waits for it. */
export async function stop({ child }) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  child.kill("SIGTERM");
  await ended;
}

/** The bundle is outside the project, where the package would not be found by its name. */
const installedSqlite = {
  name: "installed SQLite",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^@photostructure\/sqlite$/ }, ({ path }) => ({
      path: import.meta.resolve(path),
      external: true,
    })),
};

/** Bundles a TypeScript file of the benchmarks into a file that Node can run. */
export async function bundle(name) {
  const outfile = join(temporaryFolder(), `${name}.mjs`);
  await build({
    entryPoints: [join(ROOT, "bench", `${name}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    external: ["node:sqlite"],
    loader: { ".css": "text" },
    plugins: [installedSqlite],
    banner: { js: `import{createRequire as $cr}from"node:module";const require=$cr(${JSON.stringify(BIN)});` },
    logLevel: "warning",
  });
  return outfile;
}
