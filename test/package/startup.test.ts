import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { startListener } from "../support/listener.ts";
import { runCli } from "../support/run-cli.ts";

const cli = cliOnPlatform();
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Node loads these itself, or for a stdout that is a pipe. */
const NODE = new Set([
  "buffer",
  "events",
  "fs",
  "net",
  "path",
  "process",
  "stream",
  "stream/promises",
  "string_decoder",
  "timers",
]);
const PROGRAM = ["bin/service.js", "dist/cli/main.cjs", "dist/cli/core.cjs"];
const HTTP = ["diagnostics_channel", "http", "os"];

/** Runs a command and returns what it loaded: files of the package, and public modules of Node. */
async function loadedBy(run: (env: Record<string, string>) => Promise<unknown>): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "service-startup-"));
  await run({ NODE_V8_COVERAGE: folder });
  const [file, ...others] = readdirSync(folder).filter((name) => name.startsWith("coverage-"));
  expect(others).toEqual([]);
  const { result } = JSON.parse(readFileSync(join(folder, file!), "utf8")) as { result: { url: string }[] };
  return result.flatMap(({ url }) => {
    if (url.startsWith("file:")) return [relative(ROOT, fileURLToPath(url))];
    const name = url.replace(/^node:/, "");
    return /^(internal\/|_)/.test(name) || NODE.has(name) ? [] : [name];
  });
}

it("service --help loads the program, but neither a command nor an HTTP client", async () => {
  const loaded = await loadedBy(async (env) =>
    expect(await runCli(["--help"], { env })).toMatchObject({ exitCode: 0 }),
  );
  expect(loaded.filter((name) => name !== "os").toSorted()).toEqual(PROGRAM.toSorted());
});

it("service customers get also loads its command and node:http, and no other part of the package", async () => {
  const { stdout } = await cli.service(["customers", "create", "--email", "ada@example.com", "-q"]);
  const loaded = await loadedBy(async (env) => {
    const args = ["customers", "get", stdout.trim()];
    expect(await runCli(args, { env: { ...cli.platform.env, ...env } })).toMatchObject({ exitCode: 0 });
  });
  const allowed = new Set([...PROGRAM, "dist/cli/command-resource.cjs", ...HTTP]);
  expect(loaded.filter((name) => !allowed.has(name))).toEqual([]);
  expect(loaded).toContain("http");
});

it("service listen in a pipe loads only what it needs to relay events", async () => {
  const loaded = await loadedBy(async (env) => {
    const listener = await startListener({ ...cli.platform.env, ...env }, ["--forward-to", "9"]);
    expect(await listener.interrupt()).toBe(0);
  });
  const modules = "child_process crypto dgram fs/promises https module perf_hooks tls url util zlib".split(" ");
  const allowed = new Set([...PROGRAM, "dist/cli/command-listen.cjs", "dist/lazy/listen.js", ...HTTP, ...modules]);
  const isAllowed = (name: string): boolean => allowed.has(name) || name.startsWith("dist/lazy/chunk-");
  expect(loaded.filter((name) => !isAllowed(name))).toEqual([]);
  // The relay, the WebSocket and what reads flags have 427 kB. A library would exceed this.
  const bytes = loaded.filter((name) => name.startsWith("dist/")).map((name) => statSync(join(ROOT, name)).size);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(480_000);
});
