import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { spawnListener } from "../support/listener.ts";
import { runCli } from "../support/run-cli.ts";
import { spawnCommand } from "../support/running-command.ts";

const cli = cliOnPlatform();
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const PROGRAM = ["bin/service.js", "dist/cli/core.cjs", "dist/cli/main.cjs"];
/** Imports for the program, once it needs a file that is not among them. */
const IMPORT = "dist/cli/import.cjs";
/** Modules of Node that take long to load. Which others Node loads automatically depends on its version. */
const SLOW = ["child_process", "crypto", "http", "http2", "https", "net", "tls", "worker_threads", "zlib"];

/** Runs a command and returns what it loaded: files of the package, and slow modules of Node. */
async function loadedBy(run: (env: Record<string, string>) => Promise<unknown>) {
  const folder = mkdtempSync(join(tmpdir(), "service-startup-"));
  await run({ NODE_V8_COVERAGE: folder });
  const [file, ...others] = readdirSync(folder).filter((name) => name.startsWith("coverage-"));
  expect(others).toEqual([]);
  const { result } = JSON.parse(readFileSync(join(folder, file!), "utf8")) as { result: { url: string }[] };
  const urls = result.map(({ url }) => url);
  return {
    files: urls
      .filter((url) => url.startsWith("file:"))
      .map((url) => relative(ROOT, fileURLToPath(url)))
      .toSorted(),
    slow: SLOW.filter((name) => urls.includes(`node:${name}`)),
  };
}

it("service --help loads the program, but neither a command nor an HTTP client", async () => {
  const loaded = await loadedBy(async (env) =>
    expect(await runCli(["--help"], { env })).toMatchObject({ exitCode: 0 }),
  );
  expect(loaded).toEqual({ files: PROGRAM, slow: [] });
});

it("service customers list --help also loads its command, and no HTTP client", async () => {
  const loaded = await loadedBy(async (env) =>
    expect(await runCli(["customers", "list", "--help"], { env })).toMatchObject({ exitCode: 0 }),
  );
  expect(loaded).toEqual({ files: [...PROGRAM, "dist/cli/command-objects.cjs"].toSorted(), slow: [] });
});

it("service customers get also loads its command, the client, node:http and node:net, and no other part of the package", async () => {
  const { stdout } = await cli.service(["customers", "create", "--email", "ada@example.com", "-q"]);
  const loaded = await loadedBy(async (env) => {
    const args = ["customers", "get", stdout.trim()];
    expect(await runCli(args, { env: { ...cli.platform.env, ...env } })).toMatchObject({ exitCode: 0 });
  });
  const files = [...PROGRAM, "dist/cli/command-objects.cjs", "dist/cli/connect.cjs"].toSorted();
  expect(loaded).toEqual({ files, slow: ["http", "net"] });
});

it("service listen in a pipe loads only what it needs to relay events", async () => {
  const { files } = await loadedBy(async (env) => {
    const listener = await spawnListener({ ...cli.platform.env, ...env }, ["--forward-to", "9"]);
    expect(await listener.interrupt()).toBe(0);
  });
  const allowed = new Set([...PROGRAM, IMPORT, "dist/cli/command-listen.cjs", "dist/lazy/listen.js"]);
  expect(files.filter((name) => !allowed.has(name) && !name.startsWith("dist/lazy/chunk-"))).toEqual([]);
  // The relay, the WebSocket and what reads flags have 518 kB. A library would exceed this.
  const bytes = files.filter((name) => name.startsWith("dist/")).map((name) => statSync(join(ROOT, name)).size);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(525_000);
});

it("service serve reads the platform from one file", async () => {
  const { files } = await loadedBy(async (env) => {
    const serve = spawnCommand(["serve", "--ephemeral", "--port", "0", "--json"], { env });
    await serve.record(({ event }) => event === "ready");
    expect(await serve.interrupt()).toBe(0);
  });
  expect(files.filter((name) => /^(bin|dist)\//.test(name))).toEqual(
    [...PROGRAM, IMPORT, "dist/cli/command-serve.cjs", "dist/cli/serve.cjs"].toSorted(),
  );
});
