import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const { env } = process;

export const hasPip = spawnSync("python3", ["-m", "pip", "--version"]).status === 0;

/** Installs packages of Python outside the tree, once per machine. Returns the environment in which Python finds them. */
export function pythonWith(...packages: string[]): NodeJS.ProcessEnv {
  const cache = join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "service-tests");
  const folder = join(cache, `pip-${packages.join("+")}`);
  if (!existsSync(folder)) {
    const args = ["-m", "pip", "install", "--quiet", "--target", folder, ...packages];
    execFileSync("python3", args, { stdio: ["ignore", "ignore", "pipe"] });
  }
  return { ...env, PYTHONPATH: folder };
}
