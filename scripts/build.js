// Builds what the package ships: the command (ESM, split, so that a command loads only its own code) and the webhooks library (ESM, CommonJS, types).
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

const dist = join(root, "dist");
if (process.argv.includes("--clean")) rmSync(dist, { recursive: true, force: true });
removeStaleChunks(join(dist, "chunks"));

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  sourcemap: false,
  legalComments: "none",
  logLevel: "warning",
};

await Promise.all([
  build({
    ...shared,
    entryPoints: { "cli/main": "src/cli/main.ts" },
    outdir: "dist",
    format: "esm",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    minifySyntax: true,
    minifyWhitespace: true,
    define: { __VERSION__: JSON.stringify(version) },
    // The native SQLite binding stays a package of its own; jq-wasm loads its .wasm file from beside itself.
    external: ["@photostructure/sqlite", "node:sqlite", "jq-wasm"],
    // Bundled CommonJS dependencies call require() for Node's own modules, which an ES module lacks.
    banner: { js: `import{createRequire as $cr}from"node:module";const require=$cr(import.meta.url);` },
  }),
  build({ ...shared, entryPoints: ["src/webhooks/index.ts"], outfile: "dist/webhooks/index.js", format: "esm" }),
  build({ ...shared, entryPoints: ["src/webhooks/index.ts"], outfile: "dist/webhooks/index.cjs", format: "cjs" }),
]);

execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "--project", "src/webhooks/tsconfig.json"], {
  cwd: root,
  stdio: "inherit",
});
writeDeclarations(join(dist, "webhooks"));

/** Chunks of earlier builds stay for an hour: a command that runs may still load them. */
function removeStaleChunks(folder) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > 3_600_000) rmSync(file);
  }
}

/** Makes the emitted declarations point to the files that are shipped, once for `import` and once for `require`. */
function writeDeclarations(folder) {
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!name.endsWith(".d.ts")) continue;
    const text = readFileSync(join(folder, name), "utf8");
    const pointingTo = (extension) => text.replaceAll(/(from "\.[^"]*)\.ts"/g, `$1.${extension}"`);
    writeFileSync(join(folder, name), pointingTo("js"));
    writeFileSync(join(folder, name.replace(/\.d\.ts$/, ".d.cts")), pointingTo("cjs"));
  }
}
