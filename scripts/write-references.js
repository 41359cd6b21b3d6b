// `npm run docs`: writes the files that are generated from the source; with --check, fails if one of them is stale.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const PAGES = [
  { page: "src/platform/storage/migrations/index.ts", source: "scripts/migration-list.ts" },
  // The commands know the members of each resource from the shapes.
  { page: "src/client/response-shapes.ts", source: "scripts/response-shapes.ts" },
  { page: "docs/authentication.md", source: "scripts/scope-table.ts" },
  { page: "docs/commands.md", source: "scripts/command-reference.ts" },
  { page: "docs/concepts.md", source: "scripts/object-table.ts" },
  { page: "docs/errors.md", source: "scripts/error-reference.ts" },
  { page: "docs/mcp.md", source: "scripts/mcp-reference.ts" },
  { page: "docs/service.schema.json", source: "scripts/project-schema.ts" },
  { page: "src/webhooks/event-objects.ts", source: "scripts/event-objects.ts" },
  { page: "src/testing/event-samples.json", source: "scripts/event-samples.ts" },
];

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "service-docs-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

for (const { page, source } of PAGES) {
  const fresh = await print(source, extname(page));
  if (readFileSync(join(root, page), "utf8") === fresh) continue;
  if (!process.argv.includes("--check")) {
    writeFileSync(join(root, page), fresh);
  } else {
    console.error(`${page} is not what the source says: run \`npm run docs\``);
    process.exitCode = 1;
  }
}

/** Runs a program that prints a page, and formats its output. */
async function print(source, extension) {
  const program = join(folder, "program.mjs");
  await build({
    entryPoints: [join(root, source)],
    outfile: program,
    bundle: true,
    platform: "node",
    loader: { ".css": "text" },
    format: "esm",
    target: "node20.19",
    define: { __VERSION__: '"0"', __ISSUES_URL__: '""' },
    external: ["@photostructure/sqlite", "jq-wasm"],
    banner: { js: `import{createRequire as $cr}from"node:module";const require=$cr(${JSON.stringify(program)});` },
    logLevel: "warning",
  });
  const fresh = join(folder, `page${extension}`);
  writeFileSync(fresh, execFileSync(process.execPath, [program], { cwd: root, encoding: "utf8" }));
  execFileSync(join(root, "node_modules/.bin/oxfmt"), ["-c", join(root, ".oxfmtrc.json"), fresh], { cwd: folder });
  return readFileSync(fresh, "utf8");
}
