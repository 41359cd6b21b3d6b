import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackages } from "./support/packages.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const { PATH, NODE_EXTRA_CA_CERTS } = process.env;

/** A package manager: the package that contains it, and how it installs `service-cli` and runs its command. */
interface Manager {
  readonly package: string;
  /** A path below node_modules. The Node.js under test runs a script. */
  readonly program: string;
  /** Undefined if the command itself downloads the program. */
  readonly add?: (tarball: string) => readonly string[];
  readonly run: (tarball: string) => readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}

const npm = {
  program: "npm/bin/npm-cli.js",
  add: (tarball: string) => ["install", tarball],
  run: () => ["exec", "--no", "--", "service-cli"],
};
const npx = {
  program: "npm/bin/npx-cli.js",
  run: (tarball: string) => ["--yes", "--package", tarball, "service-cli"],
};
const pnpm = { add: (tarball: string) => ["add", tarball], run: () => ["exec", "service-cli"] };
const pnpm12: Pick<Manager, "package" | "program"> = {
  package: "@pnpm/exe.linux-x64@12.21.0",
  program: "@pnpm/exe.linux-x64/pnpm",
};
const yarn: Pick<Manager, "package" | "program"> = {
  package: "@yarnpkg/cli-dist@4.18.1",
  program: "@yarnpkg/cli-dist/bin/yarn.js",
};

/** Yarn warns about every package with ES modules that its loader is experimental (YN0092). */
const YARN_SETTINGS = `
nodeLinker: pnp
enableTelemetry: false
enableGlobalCache: false
logFilters: [{ code: YN0092, level: discard }]
`;

const MANAGERS: Readonly<Record<string, Manager>> = {
  "npm 9": { ...npm, package: "npm@9.9.4" },
  "npx 9": { ...npx, package: "npm@9.9.4" },
  "npm 10": { ...npm, package: "npm@10.9.9" },
  "npx 10": { ...npx, package: "npm@10.9.9" },
  "npm 11": { ...npm, package: "npm@11.19.1" },
  "npx 11": { ...npx, package: "npm@11.19.1" },
  "pnpm 10": { ...pnpm, package: "pnpm@10.34.8", program: "pnpm/bin/pnpm.cjs" },
  "pnpm 12": { ...pnpm, ...pnpm12 },
  "pnpm dlx": { ...pnpm12, run: (tarball) => [`--package=${tarball}`, "--silent", "dlx", "service-cli"] },
  "Yarn classic": {
    package: "yarn@1.22.22",
    program: "yarn/bin/yarn.js",
    add: (tarball) => ["add", "--non-interactive", tarball],
    run: () => ["--silent", "run", "service-cli"],
  },
  "Yarn with Plug'n'Play": {
    ...yarn,
    files: { "yarn.lock": "", ".yarnrc.yml": YARN_SETTINGS },
    add: (tarball) => ["add", `service-cli@file:${tarball}`],
    run: () => ["run", "service-cli"],
  },
  Bun: {
    package: "@oven/bun-linux-x64@1.4.5",
    program: "@oven/bun-linux-x64/bin/bun",
    add: (tarball) => ["add", tarball],
    run: () => ["run", "--silent", "service-cli"],
  },
};

/** Some packages contain programs for this system only. */
const BINARIES = process.platform === "linux" && process.arch === "x64";
const AVAILABLE = Object.entries(MANAGERS).filter(([, { program }]) => BINARIES || !program.includes("linux-x64"));

/** The oldest supported Node.js, which does not include SQLite, and the newest. */
const NODE_VERSIONS = ["20.19.0", "26"];
/** Matches a package manager's warnings and prompts. */
const COMPLAINT = /\bwarn|\berror|ignored build|approve|deprecat|\?\s*$/im;

let packed: string;
let tarball: string;

beforeAll(async () => {
  packed = mkdtempSync(join(tmpdir(), "service-managers-"));
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", packed], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  tarball = join(packed, filename);
});
afterAll(() => rmSync(packed, { recursive: true, force: true, maxRetries: 3 }));

/** A project in a home folder without settings, where one package manager runs on one version of Node.js. */
async function createProject(manager: Manager, version: string) {
  const node = join(await installPackages(`node@${version}`), "node_modules/node/bin/node");
  const home = mkdtempSync(join(packed, "home-"));
  const project = join(home, "project");
  mkdirSync(project);
  writeFileSync(
    join(project, "package.json"),
    '{ "name": "project", "version": "1.0.0", "license": "MIT", "private": true }',
  );
  for (const [name, text] of Object.entries(manager.files ?? {})) writeFileSync(join(project, name), text);
  const env: NodeJS.ProcessEnv = {
    PATH: `${dirname(node)}${delimiter}${PATH}`,
    HOME: home,
    NODE_EXTRA_CA_CERTS,
    YARN_NPM_REGISTRY_SERVER: "https://registry.npmjs.org",
    npm_config_registry: "https://registry.npmjs.org/",
    npm_config_update_notifier: "false",
    SERVICE_NO_UPDATE_NOTIFIER: "1",
    NO_COLOR: "1",
  };
  const folder = await installPackages(manager.package);
  const program = join(folder, "node_modules", manager.program);
  const command = /\.c?js$/.test(program) ? [node, program] : [program];
  return { cwd: project, env, command };
}

type Project = Awaited<ReturnType<typeof createProject>>;

/** Resolves with the package manager's output. Rejects if it fails or prompts. */
async function runManager({ command, cwd, env }: Project, args: readonly string[]): Promise<string> {
  const [program = "", ...before] = command;
  const started = run(program, [...before, ...args], { cwd, env, timeout: 300_000 });
  started.child.stdin?.end();
  const { stdout, stderr } = await started;
  return stdout + stderr;
}

/** Starts the platform through the package manager, requests its health, and stops it. */
async function serveOnce({ command, cwd, env }: Project, args: readonly string[]): Promise<unknown> {
  const [program = "", ...before] = command;
  const serve = [...before, ...args, "serve", "--ephemeral", "--port", "0", "--json"];
  const child = spawn(program, serve, { cwd, env, stdio: ["ignore", "pipe", "inherit"], detached: true });
  const closed = once(child, "close");
  try {
    for await (const line of createInterface(child.stdout)) {
      const { base_url: url } = JSON.parse(line) as { base_url: string };
      const response = await fetch(`${url}/healthz`);
      return [response.status, await response.json()];
    }
    throw new Error("service serve printed nothing");
  } finally {
    process.kill(-child.pid!, "SIGTERM");
    child.stdout.resume();
    await closed;
  }
}

describe.each(NODE_VERSIONS)("the packed package on Node %s", (version) => {
  it.each(AVAILABLE)("is installed and run by %s without a warning or prompt", async (_name, manager) => {
    const project = await createProject(manager, version);
    if (manager.add !== undefined) {
      expect(await runManager(project, manager.add(tarball))).not.toMatch(COMPLAINT);
    }
    const service = manager.run(tarball);
    expect(await runManager(project, [...service, "--version"])).toMatch(/^0\.1\.0$/m);
    // Does nothing if Node.js includes SQLite.
    expect(await runManager(project, [...service, "db", "install-driver"])).not.toMatch(COMPLAINT);
    expect(await serveOnce(project, service)).toEqual([200, { status: "ok" }]);
  });
});
