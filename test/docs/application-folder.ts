import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PACKAGES = ["express", "fastify", "hono", "koa", "@photostructure/sqlite", "stripe"];

/** Creates a folder with these files, like an application that has this package installed. */
export async function makeApplicationFolder(files: ReadonlyMap<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "service-docs-"));
  for (const [name, text] of [["package.json", '{ "type": "module" }'] as const, ...files]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const name of PACKAGES) {
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  symlinkSync(root, join(folder, "node_modules/service-cli"));
  mkdirSync(join(folder, "node_modules/.bin"));
  symlinkSync(join(root, "bin/service.js"), join(folder, "node_modules/.bin/service-cli"));
  await build({
    entryPoints: [fileURLToPath(new URL("children/serve-fetch.ts", import.meta.url))],
    outfile: join(folder, "serve-fetch.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  return folder;
}
