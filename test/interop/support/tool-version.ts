import { spawnSync } from "node:child_process";
import { beforeEach } from "vitest";
import { environmentOf } from "./debian.ts";

declare module "vitest" {
  interface TaskMeta {
    /** The version of the program that the test runs, for docs/contributors/compatibility.md. */
    toolVersion?: string;
  }
}

/** Adds the version that a program prints to the results of the tests beside the call. */
export function recordVersion(program: string | undefined, ...args: string[]): void {
  if (program === undefined) return;
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env: environmentOf(program) });
  const [version = ""] = /\d+(\.\d+)+/.exec(stdout + stderr) ?? [];
  beforeEach(({ task }) => {
    task.meta.toolVersion = version;
  });
}
