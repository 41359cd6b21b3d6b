import { mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { env } = process;

/** A folder in memory on Linux: tests create hundreds of databases, and none must outlive them. */
const MEMORY = "/dev/shm";
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** Redirects the temporary folder of a test run to a separate one, which is removed afterwards. */
export function setup(): () => void {
  const place = env["TMPDIR"] === undefined && isUsable(MEMORY) ? MEMORY : tmpdir();
  const root = mkdtempSync(join(place, "service-test-"));
  env["TMPDIR"] = root;
  return () => rmSync(root, { recursive: true, force: true, maxRetries: 3 });
}

/** Returns true if there is room and programs may run from there. Containers often have little and forbid it. */
function isUsable(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const options = mounts
      .find((line) => line.split(" ")[1] === folder)
      ?.split(" ")[3]
      ?.split(",");
    return bavail * bsize >= ENOUGH_BYTES && options !== undefined && !options.includes("noexec");
  } catch {
    return false;
  }
}
