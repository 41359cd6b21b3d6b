import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LIBRARIES = "/usr/lib";
const NEEDED = "libfaketime is needed to set a process's clock: install the Debian package faketime";

/** A wall clock for test processes that can be set while they run. */
export interface FakeTime {
  /** The environment variables that a process needs to use it. */
  env: Record<string, string>;
  /** Sets its offset from the machine's clock: `+31d`, `-1d`, `+1h`, `+0`. */
  set(distance: string): void;
}

/**
 * Creates a clock that matches the machine's until it is set. Monotonic clocks and file times are not affected. If
 * libfaketime is missing, it installs Debian's package where possible, and throws otherwise.
 */
export function createFakeTime(): FakeTime {
  const library = find() ?? install();
  const file = join(mkdtempSync(join(tmpdir(), "service-clock-")), "distance");
  const set = (distance: string) => writeFileSync(file, `${distance}\n`);
  set("+0");
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    },
    set,
  };
}

function find(): string | undefined {
  if (process.platform !== "linux") throw new Error(`${NEEDED}, on Linux`);
  return readdirSync(LIBRARIES)
    .map((name) => join(LIBRARIES, name, "faketime", "libfaketimeMT.so.1"))
    .find((path) => existsSync(path));
}

function install(): string {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) throw new Error(NEEDED);
  process.stderr.write("libfaketime was not found: installing the package faketime with apt-get\n");
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "faketime"]]) {
    execFileSync("apt-get", args, { stdio: ["ignore", "ignore", "pipe"] });
  }
  const installed = find();
  if (installed === undefined) throw new Error(NEEDED);
  return installed;
}
