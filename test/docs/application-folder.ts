import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { blocksOf, packagesIn } from "./pages.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Creates a folder with these files, like an application that installed what the pages install, and nothing else. */
export async function makeApplicationFolder(
  pages: string | readonly string[],
  files: ReadonlyMap<string, string>,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "service-docs-"));
  for (const [name, text] of [["package.json", '{ "type": "module" }'] as const, ...files]) writeIn(folder, name, text);
  for (const page of [pages].flat()) install(folder, blocksOf(page).flatMap(packagesIn));
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

export function writeIn(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** Installs packages from this repository, as npm would from its registry. Throws for one that the tests do not have. */
export function install(folder: string, packages: readonly string[]): void {
  for (const name of packages) {
    const source = name === "service-cli" ? root : join(root, "node_modules", name);
    if (!existsSync(source)) throw new Error(`The tests have no package ${name}`);
    link(source, join(folder, "node_modules", name));
    const { bin } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as {
      bin?: string | Record<string, string>;
    };
    const commands = typeof bin === "string" ? { [name]: bin } : (bin ?? {});
    for (const [command, file] of Object.entries(commands))
      link(join(source, file), join(folder, "node_modules/.bin", command));
  }
}

function link(source: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  symlinkSync(source, path);
}
