import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const { env } = process;

/** Installs packages outside the tree, once per machine. Returns the folder that contains their node_modules. */
export async function installPackages(...packages: string[]): Promise<string> {
  const cache = join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "service-tests");
  const folder = join(cache, packages.join("+"));
  if (existsSync(folder)) return folder;
  process.stderr.write(`Installing ${packages.join(", ")} in ${folder} with npm\n`);
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const options = ["--prefix", fresh, "--no-audit", "--no-fund", "--loglevel", "error"];
  await promisify(execFile)("npm", ["install", ...options, ...packages], { cwd: fresh });
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // Another run may have been faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** Installs a package and imports it. */
export async function importPackage<Module>(name: string, version: string): Promise<Module> {
  const folder = await installPackages(`${name}@${version}`);
  const file = createRequire(join(folder, "package.json")).resolve(name);
  return (await import(pathToFileURL(file).href)) as Module;
}
