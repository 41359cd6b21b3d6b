import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const { env } = process;

/**
 * Returns the path of a program: the system's, or that of the Debian package, which is unpacked outside the tree once
 * per machine. Returns undefined if neither exists.
 */
export function findProgram(program: string, debianPackage: string): string | undefined {
  if (spawnSync(program, ["--help"], { stdio: "ignore" }).error === undefined) return program;
  if (spawnSync("apt-get", ["--version"], { stdio: "ignore" }).error !== undefined) return undefined;
  const cache = join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "service-tests");
  const folder = join(cache, `debian-${debianPackage}`);
  if (!existsSync(folder)) unpack(debianPackage, folder);
  return join(folder, "usr/bin", program);
}

function unpack(debianPackage: string, folder: string): void {
  process.stderr.write(`Unpacking ${debianPackage} in ${folder} with apt-get\n`);
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  execFileSync("apt-get", ["download", "--quiet=2", debianPackage], {
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
