// Installs the packed package as a user does, in an empty folder, and runs the main workflow with the result.
//
//   node scripts/try-install.js [--ignore-scripts] [node-version …]
//
// Without a version: the Node that runs this. With versions: each is installed from the npm package `node`.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import spawnProgram from "cross-spawn";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const flags = process.argv.slice(2);
const installFlags = ["--no-audit", "--no-fund", ...flags.filter((flag) => flag.startsWith("-"))];
const versions = flags.filter((flag) => !flag.startsWith("-"));

const folder = mkdtempSync(join(tmpdir(), "service-install-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
// On Windows npm is a script, which only a shell can start: cross-spawn handles it.
function npm(cwd, args, env = process.env) {
  const { status, stdout, stderr, error } = spawnProgram.sync("npm", args, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw error ?? new Error(`npm ${args.join(" ")} failed:\n${stderr}`);
  return stdout.trim();
}
const npmCache = npm(root, ["config", "get", "cache"]);

npm(root, ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder]);
const tarball = join(folder, `service-cli-${version}.tgz`);
for (const version of versions.length === 0 ? [undefined] : versions) await tryNode(version);

async function tryNode(wanted) {
  const node = wanted === undefined ? process.execPath : installNode(wanted);
  const project = join(folder, `project-${wanted ?? "here"}`);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "receiver", private: true }));
  // The requested Node comes first, so that install scripts run on it too.
  const env = {
    ...(process.platform === "win32" ? { SystemRoot: process.env.SystemRoot } : {}),
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    HOME: folder,
    SERVICE_CONFIG_DIR: join(project, "config"),
    npm_config_cache: npmCache,
  };
  npm(project, ["install", ...installFlags, tarball], { ...process.env, ...env });
  const service = join(project, "node_modules/service-cli/bin/service.js");
  const run = (args, more = {}) =>
    execFileSync(node, [service, ...args], { cwd: project, env: { ...env, ...more }, encoding: "utf8" });

  expect(run(["--version"]).trim() === version, "service --version");
  const [, guide] = /^Guide: .* open docs (.*)$/m.exec(run(["help", "webhooks"]));
  const file = run(["open", "docs", guide, "--base-url", "http://127.0.0.1:9"]).trim();
  expect(existsSync(resolve(project, file)), "service help webhooks names a guide that");
  // Does nothing on a Node with SQLite.
  run(["db", "install-driver"]);
  const platform = await serve(node, service, env);
  try {
    const signedIn = { SERVICE_BASE_URL: platform.ready.base_url, SERVICE_API_KEY: platform.ready.sandbox_key };
    const customer = JSON.parse(run(["customers", "create", "--email", "ada@example.com", "--json"], signedIn));
    expect(customer.email === "ada@example.com", "service customers create");
    run(["trigger", "order.completed", "--quiet"], signedIn);
    const events = JSON.parse(run(["events", "list", "--json"], signedIn));
    expect(
      events.some(({ type }) => type === "order.completed"),
      "service trigger order.completed",
    );
  } finally {
    platform.child.kill("SIGTERM");
    const [code] = await once(platform.child, "exit");
    // Windows has no signals: the process is stopped from outside.
    expect(code === 0 || process.platform === "win32", "service serve exits 0 on SIGTERM");
  }
  const seen = run(["demo", "--once"]);
  expect(/order\.completed/.test(seen), "service demo --once");
  tryLibrary(node, project);
  const { version: real } = JSON.parse(
    execFileSync(node, ["-p", "JSON.stringify({version:process.version})"], { encoding: "utf8" }),
  );
  process.stdout.write(
    `Node ${real}${installFlags.includes("--ignore-scripts") ? ", --ignore-scripts" : ""}: installed, served, delivered, verified\n`,
  );
}

function installNode(version) {
  const home = join(folder, `node-${version}`);
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), "{}");
  npm(home, ["install", "--no-audit", "--no-fund", `node@${version}`]);
  return join(home, "node_modules/node/bin/node");
}

async function serve(node, service, env) {
  const child = spawn(node, [service, "serve", "--ephemeral", "--port", "0", "--json", "--allow-private-targets"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  child.stdout.resume();
  return { child, ready: JSON.parse(line) };
}

/** Tests the library in each kind of project. */
function tryLibrary(node, project) {
  const check = `
    const payload = JSON.stringify({ id: "evt_1", object: "event", type: "order.completed", data: { object: {} } });
    const header = sign({ payload, secrets: "whsec_test" });
    if (verify({ payload, header, secrets: "whsec_test" }).type !== "order.completed") throw new Error("not verified");`;
  writeFileSync(join(project, "module.mjs"), `import { sign, verify } from "service-cli/webhooks";${check}`);
  writeFileSync(join(project, "common.cjs"), `const { sign, verify } = require("service-cli/webhooks");${check}`);
  for (const file of ["module.mjs", "common.cjs"]) execFileSync(node, [join(project, file)], { stdio: "pipe" });
  writeFileSync(join(project, "typed.mts"), `import { sign, verify } from "service-cli/webhooks";${check}`);
  writeFileSync(join(project, "typed.cts"), `import { sign, verify } from "service-cli/webhooks";${check}`);
  const settings = { strict: true, noEmit: true, module: "nodenext", target: "es2022", types: [] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: settings, include: ["typed.*"] }));
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", project], {
    stdio: "pipe",
  });
}

function expect(holds, what) {
  if (!holds) throw new Error(`${what} did not do its work in the installed package`);
}
