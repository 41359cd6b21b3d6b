import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

const { env } = process;

/**
 * Returns the path of a program: the system's, or that of the Debian packages (its own and its libraries), which are
 * unpacked outside the tree once per machine. Returns undefined if neither exists.
 */
export function findProgram(program: string, ...debianPackages: string[]): string | undefined {
  if (spawnSync(program, ["--help"], { stdio: "ignore" }).error === undefined) return program;
  if (spawnSync("apt-get", ["--version"], { stdio: "ignore" }).error !== undefined) return undefined;
  const cache = join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "service-tests");
  const folder = join(cache, `debian-${debianPackages.join("+")}`);
  if (!existsSync(folder)) unpack(debianPackages, folder);
  return ["usr/bin", "usr/sbin"].map((place) => join(folder, place, program)).find(existsSync);
}

/** Returns the environment in which a program from `findProgram` finds its libraries. */
export function environmentOf(program: string): NodeJS.ProcessEnv {
  const libraries = join(program, "../../lib");
  if (!isAbsolute(program) || !existsSync(libraries)) return env;
  const folders = readdirSync(libraries).map((name) => join(libraries, name));
  return { ...env, LD_LIBRARY_PATH: folders.join(":") };
}

function unpack(debianPackages: readonly string[], folder: string): void {
  process.stderr.write(`Unpacking ${debianPackages.join(", ")} in ${folder} with apt-get\n`);
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  execFileSync("apt-get", ["download", "--quiet=2", ...debianPackages], {
    cwd: fresh,
    stdio: ["ignore", "ignore", "pipe"],
  });
  for (const file of readdirSync(fresh)) execFileSync("dpkg-deb", ["--extract", join(fresh, file), fresh]);
  try {
    renameSync(fresh, folder);
  } catch (error) {
    // Another run may have been faster.
    if (!existsSync(folder)) throw error;
  }
}
