// `npm run docs`: writes docs/commands.md from the program's own declarations; with --check, fails where it is stale.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const reference = join(root, "docs/commands.md");
const folder = mkdtempSync(join(tmpdir(), "service-docs-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const program = join(folder, "command-reference.mjs");
await build({
  entryPoints: [join(root, "scripts/command-reference.ts")],
  outfile: program,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  define: { __VERSION__: '"0"' },
  external: ["@photostructure/sqlite", "jq-wasm"],
  banner: { js: `import{createRequire as $cr}from"node:module";const require=$cr(${JSON.stringify(program)});` },
  logLevel: "warning",
});
const text = execFileSync(process.execPath, [program], { encoding: "utf8" });
const fresh = join(folder, "commands.md");
writeFileSync(fresh, text);
execFileSync(join(root, "node_modules/.bin/oxfmt"), ["-c", join(root, ".oxfmtrc.json"), fresh], { cwd: folder });

if (process.argv.includes("--check")) {
  if (readFileSync(fresh, "utf8") !== readFileSync(reference, "utf8")) {
    console.error("docs/commands.md is not what the program declares: run `npm run docs`");
    process.exitCode = 1;
  }
} else {
  mkdirSync(dirname(reference), { recursive: true });
  writeFileSync(reference, readFileSync(fresh));
}
