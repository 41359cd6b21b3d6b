import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HOURS_AGO = new Date(Date.now() - 7_200_000);

it("a failed build keeps the files that a running command may still load", () => {
  const copy = mkdtempSync(join(tmpdir(), "service-build-"));
  for (const name of ["src", "scripts", "bin", "package.json", "tsconfig.json"]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  writeFileSync(join(copy, "src/cli/commands/version.ts"), "this is no TypeScript");
  const loadedLater = ["dist/cli/main.cjs", "dist/lazy/serve.js", "dist/lazy/chunk-OLD.js"];
  for (const name of loadedLater) {
    const file = join(copy, name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "built earlier");
    utimesSync(file, HOURS_AGO, HOURS_AGO);
  }
  const { status, stderr } = spawnSync(process.execPath, [join(copy, "scripts/build.js")], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("src/cli/commands/version.ts") });
  for (const name of loadedLater) expect(existsSync(join(copy, name)), name).toBe(true);
  expect(readFileSync(join(copy, "dist/lazy/chunk-OLD.js"), "utf8")).toBe("built earlier");
});
