import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { ClosingLine } from "../support/closing-line.ts";

/** Test files of the suite that run fewer rounds there: those that import `support/volume.ts`. */
const scaled = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => join("test", name))
  .filter((file) => readFileSync(file, "utf8").includes("support/volume.ts"));

/**
 * Volumes and long runs at full size: `npm run test:endurance`. Runs one file at a time, because many of them measure.
 */
export default defineConfig({
  test: {
    include: ["test/endurance/**/*.endurance.ts", ...scaled],
    env: { VOLUME: "full" },
    testTimeout: 30 * 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: ["test/support/fresh-build.ts", "test/support/temporary-root.ts", "test/support/shared-servers.ts"],
    pool: "forks",
    maxWorkers: 1,
    reporters: ["default", new ClosingLine()],
  },
});
