// Builds what the package ships: the CLI, the webhooks library and the testing kit (ESM, CommonJS, types).
//
// The CLI is three CommonJS files (the version, what all commands share, the named command), which Node loads in a
// third of the time that a dozen ES modules take; others send requests, draw tables, and run `service serve`. What only
// some commands need (the relay, prompts, color …) is next to them as ES modules that load on demand.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildDashboard } from "./build-dashboard.js";
import { buildTesting } from "./build-testing.js";
import { buildWebhooks } from "./build-webhooks.js";
import { thirdPartyLicenses } from "./third-party-licenses.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const { version, bugs } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Not printed while it is the placeholder that scripts/set-repository.js replaces. */
const issuesUrl = bugs.url.includes("/OWNER/") ? "" : bugs.url;

/** Modules that load on demand, by the name of their file under dist/lazy. */
const LAZY = {
  db: "src/cli/commands/db/run.ts",
  "db-install-driver": "src/cli/database/driver.ts",
  "serve-link": "src/cli/commands/serve/link.ts",
  listen: "src/cli/commands/listen/run.ts",
  demo: "src/cli/commands/demo/run.ts",
  dev: "src/cli/commands/dev/run.ts",
  "dev-init": "src/cli/commands/dev/init.ts",
  "read-project": "src/cli/project/read.ts",
  "project-platform": "src/cli/project/platform.ts",
  login: "src/cli/commands/login/run.ts",
  "check-client": "src/cli/commands/faults/check/run.ts",
  "check-receiver": "src/cli/commands/webhooks/check/run.ts",
  "webhooks-capture": "src/cli/commands/webhooks/capture.ts",
  "webhooks-replay": "src/cli/commands/webhooks/replay.ts",
  "webhooks-send": "src/cli/commands/webhooks/send.ts",
  mcp: "src/cli/commands/mcp/run.ts",
  "mcp-http": "src/cli/mcp/http.ts",
  fixture: "src/cli/triggering/fixture.ts",
  "forward-replay": "src/cli/forwarding/forward-replay.ts",
  "scan-keys": "src/cli/commands/keys/scan/run.ts",
  "refresh-credentials": "src/cli/credentials/refresh.ts",
  "authorization-server": "src/cli/credentials/authorization-server.ts",
  "write-settings": "src/cli/settings/write.ts",
  jq: "src/cli/terminal/jq.ts",
  browser: "src/cli/browser.ts",
  proxy: "src/client/proxy.ts",
  chalk: "chalk",
  ora: "ora",
  "update-notice": "src/cli/update-notice.ts",
  prompts: "@inquirer/prompts",
  ask: "src/cli/ask.ts",
};

/**
 * What all commands share, in one file: each further file costs Node a third of a millisecond. Error classes, thrown in
 * one file and recognized in another, and modules with state must exist once, so other files import them from this one.
 * The table of resources is as large as a command. That of responses, which help does not need, is in two files.
 */
const CORE = {
  run: "src/cli/run.ts",
  cliErrors: "src/cli/errors.ts",
  clientErrors: "src/client/errors.ts",
  commander: "commander",
  command: "src/cli/command.ts",
  helpLayout: "src/cli/help-layout.ts",
  resources: "src/contract/resources.ts",
};

const options = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
  // The pages of the server contain theirs.
  loader: { ".css": "text" },
};
const command = {
  ...options,
  minifySyntax: true,
  minifyWhitespace: true,
  define: { __VERSION__: JSON.stringify(version), __ISSUES_URL__: JSON.stringify(issuesUrl) },
};
const commonJs = { outdir: "dist/cli", format: "cjs", outExtension: { ".js": ".cjs" } };

/** One file per command, as command-table.ts imports them: only that of the named command is read. */
const TABLE = "src/cli/command-table.ts";
const table = await build({ ...options, entryPoints: [TABLE], external: ["./commands/*"], outdir: dist, write: false });
const COMMANDS = Object.fromEntries(
  table.metafile.inputs[TABLE].imports
    .filter(({ kind }) => kind === "dynamic-import")
    .map(({ path }) => [`command-${path.split(/[/.]/)[3]}`, join("src/cli", path)]),
);

/** Parts of the core that help and completion do not need, a sixth of it. */
const PARTS = {
  connect: "src/cli/connect.ts",
  table: "src/cli/terminal/table.ts",
  explanation: "src/cli/explanation.ts",
};

/** `service serve` with the platform: read from one file, it takes a sixth less processor time than from 80. */
const SERVE = { serve: "src/cli/commands/serve/run.ts" };

// The native SQLite binding stays a separate package; jq-wasm loads its .wasm file from its own folder.
const SQLITE_DRIVER = "@photostructure/sqlite";
const native = [SQLITE_DRIVER, "node:sqlite", "jq-wasm"];

/**
 * commander loads node:child_process for subcommands that are separate programs. There are none, and the module takes a
 * tenth of Node's startup time.
 */
const lateChildProcess = {
  name: "late child_process",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes("/commander/") ? { path: "child-process", namespace: "late" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "late" }, () => ({
      contents: `exports.spawn = (...all) => process.getBuiltinModule("node:child_process").spawn(...all);`,
    }));
  },
};

/** These files are loaded by require: for an import, Node would start its loader of ES modules, which takes longer. */
const required = { ...COMMANDS, ...PARTS, ...SERVE };
const requireFiles = {
  name: "require files",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\// }, ({ path, kind, resolveDir }) => {
      const found = relative(root, join(resolveDir, path));
      const name = Object.keys(required).find((candidate) => required[candidate] === found);
      return kind === "dynamic-import" && name !== undefined ? { path: name, namespace: "file apart" } : undefined;
    });
    onLoad({ filter: /.*/, namespace: "file apart" }, ({ path }) => ({
      contents: `module.exports = require("./${path}.cjs");`,
    }));
    onResolve({ filter: /.*/, namespace: "file apart" }, ({ path }) => ({ path, external: true }));
  },
};

/** Fastify's compilers of schemas, which the app replaces: a sixth of what `serve` reads. */
const withoutCompilers = {
  name: "without compilers",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@fastify\/(ajv|fast-json-stringify)-compiler$/ }, ({ path }) => ({
      path,
      namespace: "unused",
    }));
    onLoad({ filter: /.*/, namespace: "unused" }, () => ({ contents: "" }));
  },
};

if (process.argv.includes("--clean")) rmSync(dist, { recursive: true, force: true });

const builds = await Promise.all([
  build({
    ...command,
    entryPoints: { main: "src/cli/main.ts" },
    ...commonJs,
    plugins: [takeFromCore("./")],
    supported: { "dynamic-import": false },
  }),
  build({
    ...command,
    stdin: {
      contents: Object.entries(CORE)
        .map(([name, path]) => `export * as ${name} from "${path.startsWith("src/") ? `./${path}` : path}";`)
        .join("\n"),
      resolveDir: root,
    },
    ...commonJs,
    outdir: undefined,
    outfile: "dist/cli/core.cjs",
    external: native,
    plugins: [linkTo(LAZY, "../lazy/"), requireFiles, lateChildProcess],
  }),
  build({
    ...command,
    entryPoints: { ...COMMANDS, ...PARTS },
    ...commonJs,
    external: native,
    plugins: [takeFromCore("./"), linkTo(LAZY, "../lazy/"), requireFiles],
  }),
  build({
    ...command,
    entryPoints: SERVE,
    ...commonJs,
    external: native,
    plugins: [takeFromCore("./"), linkTo(LAZY, "../lazy/", "dynamic-import"), withoutCompilers],
    define: { ...command.define, "import.meta.url": "importMetaUrl" },
    banner: { js: `const importMetaUrl=require("node:url").pathToFileURL(__filename).href;` },
  }),
  build({
    ...command,
    entryPoints: LAZY,
    outdir: "dist/lazy",
    format: "esm",
    splitting: true,
    chunkNames: "[name]-[hash]",
    external: native,
    plugins: [takeFromCore("../cli/"), withoutCompilers],
    // Bundled CommonJS dependencies call require() for Node's own modules, which an ES module lacks.
    banner: { js: `import{createRequire as $cr}from"node:module";const require=$cr(import.meta.url);` },
  }),
  buildDashboard(root, join(dist, "dashboard"), { isDevelopment: process.argv.includes("--development") }),
]);
await Promise.all([buildWebhooks(root, join(dist, "webhooks")), buildTesting(root, join(dist, "testing"))]);
writeSqliteDriver(join(dist, "sqlite-driver"));

const currentFiles = new Set(builds.flatMap(({ metafile }) => Object.keys(metafile?.outputs ?? {})));
prepareForCodeCache(join(dist, "cli"));
removeStaleChunks(join(dist, "lazy"));
writeFileSync(join(dist, "third-party-licenses.txt"), thirdPartyLicenses(root, builds));

/** Writes what `service db install-driver` has npm install: the driver with its dependencies, digests included. */
function writeSqliteDriver(folder) {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const packages = {};
  const add = (name) => {
    const path = `node_modules/${name}`;
    const { version, integrity, dependencies = {} } = lock.packages[path];
    packages[path] = { version, integrity, dependencies };
    for (const dependency of Object.keys(dependencies)) add(dependency);
  };
  add(SQLITE_DRIVER);
  const manifest = { name: "service-sqlite-driver", private: true };
  manifest.dependencies = { [SQLITE_DRIVER]: packages[`node_modules/${SQLITE_DRIVER}`].version };
  mkdirSync(folder, { recursive: true });
  const write = (name, content) => writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`);
  write("package.json", manifest);
  write("package-lock.json", { lockfileVersion: lock.lockfileVersion, packages: { "": manifest, ...packages } });
}

/** Leaves imports of the listed modules, or only those of a kind, to run time, as separate files in this folder. */
function linkTo(modules, folder, only) {
  return {
    name: `link to ${folder}`,
    setup(pluginBuild) {
      divert(pluginBuild, modules, (name, kind) =>
        only === undefined || kind === only ? { path: `${folder}${name}.js`, external: true } : undefined,
      );
    },
  };
}

/** Imports of what the core contains use the core. */
function takeFromCore(folder) {
  return {
    name: "take from core",
    setup(pluginBuild) {
      divert(pluginBuild, CORE, (member) => ({ path: member, namespace: "core" }));
      pluginBuild.onLoad({ filter: /.*/, namespace: "core" }, ({ path: member }) => ({
        contents: `module.exports = require("${folder}core.cjs").${member};`,
      }));
      pluginBuild.onResolve({ filter: /.*/, namespace: "core" }, ({ path }) => ({ path, external: true }));
    },
  };
}

/** Resolves imports of the listed modules, each a source file or a package, to what `to` returns for their names. */
function divert({ onResolve, resolve }, modules, to) {
  const names = new Map(Object.entries(modules).map(([name, path]) => [path, name]));
  onResolve({ filter: /^[.@a-z]/, namespace: "file" }, async ({ path, kind, importer, resolveDir, pluginData }) => {
    if (pluginData === "resolved" || importer === "") return undefined;
    const found = path.startsWith(".")
      ? await resolve(path, { kind, resolveDir, importer, pluginData: "resolved" })
      : { path };
    const name = names.get(path.startsWith(".") ? relative(root, found.path) : path);
    return name === undefined ? undefined : to(name, kind);
  });
}

/**
 * Prepares the files of a folder for the cache of compiled code in bin/service.js: each ends with its digest, and what
 * they import is imported by a file that is not cached, because an import() in a cached script fails on Node.js 20.
 */
function prepareForCodeCache(folder) {
  for (const output of currentFiles) {
    const file = join(root, output);
    if (dirname(file) !== folder) continue;
    const code = readFileSync(file, "utf8");
    // Another build at the same time has done so.
    if (/\/\/ [0-9a-f]{16}\n$/.test(code)) continue;
    const moved = code.replace(/\bimport\((?="(?:\.\.\/lazy\/|node:|@photostructure\/))/g, "$import(");
    const content = moved === code ? code : `const $import=name=>require("./import.cjs")(name);${moved}`;
    const digest = createHash("sha256").update(content).digest("hex").slice(0, 16);
    writeFileSync(file, `${content}// ${digest}\n`);
  }
  writeFileSync(join(folder, "import.cjs"), "module.exports = (name) => import(name);\n");
}

/** Chunks of earlier builds stay for an hour, because a running command may still load them. */
function removeStaleChunks(folder) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const isOld = Date.now() - statSync(file).mtimeMs > 3_600_000;
    if (isOld && !currentFiles.has(relative(root, file))) rmSync(file);
  }
}
