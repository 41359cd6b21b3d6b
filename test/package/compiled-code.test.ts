import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FIRST_LINE = "Build and test webhook integrations on your own machine";
/** As long as the other, because V8 compares the lengths of a source and of the one that was compiled. */
const CHANGED = "BUILD AND TEST webhook integrations on your own machine";

/** A copy of the command with a home folder of its own. */
let copy: string;
let home: string;
let kept: string;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "service-compiled-"));
  for (const folder of ["bin", "dist/cli"]) cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
  home = join(copy, "home");
  kept = join(home, ".cache/service-cli");
  mkdirSync(join(home, ".cache"), { recursive: true });
});

function firstLine(env: Record<string, string> = {}): string {
  const args = [join(copy, "bin/service.js"), "--help"];
  const output = execFileSync(process.execPath, args, { env: { HOME: home, ...env }, encoding: "utf8" });
  return output.split("\n")[0]!;
}

/** Changes a text of the program but not its digest, so that the output tells which code ran. */
function changeProgram(): void {
  const file = join(copy, "dist/cli/core.cjs");
  const source = readFileSync(file, "utf8");
  expect(source).toContain(FIRST_LINE);
  writeFileSync(file, source.replace(FIRST_LINE, CHANGED));
}

function keptCore(): string {
  return join(
    kept,
    readdirSync(kept).find((name) => name.startsWith("core.cjs-"))!,
  );
}

it("the command runs the compiled code that an earlier start kept in the cache folder, readable by its user alone", () => {
  expect(firstLine()).toBe(FIRST_LINE);
  expect(statSync(kept).mode & 0o777).toBe(0o700);
  expect(statSync(keptCore()).mode & 0o777).toBe(0o600);
  changeProgram();
  expect(firstLine()).toBe(FIRST_LINE);
  expect(firstLine({ NODE_DISABLE_COMPILE_CACHE: "1" })).toBe(CHANGED);
});

it("the command compiles again what was kept in part", () => {
  firstLine();
  const { size } = statSync(keptCore());
  truncateSync(keptCore(), size / 2);
  changeProgram();
  expect(firstLine()).toBe(CHANGED);
  expect(statSync(keptCore()).size).toBeGreaterThan(size / 2);
});

it("the command does not run compiled code from a folder that others can write to", () => {
  firstLine();
  changeProgram();
  chmodSync(kept, 0o777);
  expect(firstLine()).toBe(CHANGED);
});

it("the command keeps nothing without a cache folder", () => {
  const other = join(copy, "other");
  mkdirSync(other);
  expect(firstLine({ HOME: other })).toBe(FIRST_LINE);
  expect(readdirSync(other)).toEqual([]);
  expect(existsSync(kept)).toBe(false);
});
