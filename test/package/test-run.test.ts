import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { changedSinceBuild } from "../../scripts/build-state.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "service-test-run-"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text = ""): void {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), text);
}

it("the last line of a test run counts a failed hook, and shows its suite", () => {
  write(
    "vitest.config.ts",
    `import { ClosingLine } from "${ROOT}test/support/closing-line.ts";
     export default { test: { reporters: [new ClosingLine()], include: ["*.test.ts"] } };`,
  );
  write(
    "hook.test.ts",
    `import { beforeAll, describe, it } from "vitest";
     it("passes", () => {});
     describe("a platform", () => {
       beforeAll(() => { throw new Error("did not start"); });
       it("responds", () => {});
     });`,
  );
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const { status, stdout } = spawnSync(process.execPath, [vitest, "run"], { cwd: folder, encoding: "utf8" });
  expect(stdout.trim().split("\n").slice(-2)).toEqual(["✗ hook.test.ts > a platform", "1 passed, 1 failed, 1 skipped"]);
  expect(status).toBe(1);
});

it("a test run reports a source that is newer than the build", () => {
  for (const name of ["src/cli/main.ts", "bin/service.js", "package.json", "package-lock.json", "scripts/build.js"])
    write(name);
  expect(changedSinceBuild(folder)).toBe("dist");
  write("dist/third-party-licenses.txt");
  const later = Date.now() / 1000 + 60;
  utimesSync(join(folder, "dist/third-party-licenses.txt"), later, later);
  expect(changedSinceBuild(folder)).toBeUndefined();
  utimesSync(join(folder, "src/cli/main.ts"), later + 1, later + 1);
  expect(changedSinceBuild(folder)).toBe("src/cli/main.ts");
});
