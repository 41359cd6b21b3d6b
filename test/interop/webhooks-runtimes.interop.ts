import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, type BuildOptions } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../support/free-port.ts";
import { expectedOutcomes, type RuntimeOutcomes } from "../webhooks/runtime-checks.ts";
import { installPackages } from "./support/packages.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** The packages of these runtimes contain their programs for this system, so that their installation runs no script. */
const BINARIES = process.platform === "linux" && process.arch === "x64";

/** A project with the packed library installed, like an application. */
let project: string;

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "service-runtimes-"));
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: join(root, "dist/webhooks"),
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(project, filename)], { cwd: project });
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Bundles a program that has access to `library` and `checkRuntime`, and writes it to the project. */
async function writeProgram(name: string, source: string, options: BuildOptions): Promise<string> {
  const file = join(project, name);
  await build({
    stdin: {
      contents: `
        import * as library from "service-webhooks";
        import { checkRuntime } from ${JSON.stringify(join(root, "test/webhooks/runtime-checks.ts"))};
        ${source}`,
      resolveDir: project,
      loader: "ts",
    },
    bundle: true,
    outfile: file,
    logLevel: "warning",
    ...options,
  });
  return file;
}

/** The runtime resolves the import of the library. */
const IMPORTING: BuildOptions = { format: "esm", platform: "neutral", external: ["service-webhooks"] };
const PRINT = "console.log(JSON.stringify(await checkRuntime(library)));";

async function outcomesOf(program: string, args: string[]): Promise<RuntimeOutcomes> {
  const { stdout } = await run(program, args, { cwd: project, env: { HOME: project, NO_COLOR: "1" } });
  return JSON.parse(stdout) as RuntimeOutcomes;
}

describe("the webhooks library", () => {
  it.each([20, 22, 24, 26])("works on Node %d", async (version) => {
    const folder = await installPackages(`node@${version}`);
    const file = await writeProgram("node.mjs", PRINT, IMPORTING);
    expect(await outcomesOf(join(folder, "node_modules/node/bin/node"), [file])).toEqual(expectedOutcomes(true));
  });

  it.skipIf(!BINARIES)("works on Bun", async () => {
    const folder = await installPackages("@oven/bun-linux-x64@1.4.5");
    const file = await writeProgram("bun.mjs", PRINT, IMPORTING);
    const bun = join(folder, "node_modules/@oven/bun-linux-x64/bin/bun");
    expect(await outcomesOf(bun, ["run", file])).toEqual(expectedOutcomes(true));
  });

  it.skipIf(!BINARIES)("works on Deno", async () => {
    const folder = await installPackages("@deno/linux-x64-glibc@2.9.6");
    const file = await writeProgram("deno.mjs", PRINT, IMPORTING);
    const deno = join(folder, "node_modules/@deno/linux-x64-glibc/deno");
    const args = ["run", "--no-remote", "--node-modules-dir=manual", "--allow-read", file];
    expect(await outcomesOf(deno, args)).toEqual(expectedOutcomes(true));
  });

  it("works on EdgeVM, a local runtime for edge functions", async () => {
    const folder = await installPackages("@edge-runtime/vm@5.0.0");
    const { EdgeVM } = createRequire(join(folder, "package.json"))("@edge-runtime/vm") as {
      EdgeVM: new () => { evaluate(code: string): unknown };
    };
    const vm = new EdgeVM();
    const source = "globalThis.outcomes = checkRuntime(library).then(JSON.stringify);";
    const options: BuildOptions = { format: "iife", platform: "browser", conditions: ["edge-light"] };
    vm.evaluate(readFileSync(await writeProgram("edge.js", source, options), "utf8"));
    const outcomes = await (vm.evaluate("outcomes") as Promise<string>);
    expect(JSON.parse(outcomes)).toEqual(expectedOutcomes(false));
  });

  it.skipIf(!BINARIES).each([
    ["without Node's modules", "2024-01-01", [], false],
    ["with nodejs_compat", "2026-11-01", ["nodejs_compat"], true],
  ])("works on workerd %s", async (_name, date, flags, synchronous) => {
    const folder = await installPackages("@cloudflare/workerd-linux-64@1.20261117.1");
    const source = "export default { fetch: async () => Response.json(await checkRuntime(library)) };";
    await writeProgram("worker.mjs", source, { format: "esm", platform: "browser", conditions: ["workerd", "worker"] });
    const port = await freePort();
    writeFileSync(
      join(project, "config.capnp"),
      `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (
        services = [(name = "main", worker = (
          modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
          compatibilityDate = "${date}",
          compatibilityFlags = ${JSON.stringify(flags)},
        ))],
        sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
      );`,
    );
    const program = join(folder, "node_modules/@cloudflare/workerd-linux-64/bin/workerd");
    const child = spawn(program, ["serve", "config.capnp"], { cwd: project, stdio: ["ignore", "inherit", "pipe"] });
    let complaints = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
    try {
      const response = await vi.waitFor(async () => fetch(`http://127.0.0.1:${port}/`), { timeout: 60_000 });
      const text = await response.text();
      expect(response.status, `${text}\n${complaints}`).toBe(200);
      expect(JSON.parse(text)).toEqual(expectedOutcomes(synchronous));
    } finally {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
  });
});
