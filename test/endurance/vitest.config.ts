import { defineConfig } from "vitest/config";
import { ClosingLine } from "../support/closing-line.ts";

/** Volumes and long runs, at full size: `npm run test:endurance`. One file at a time, as most of them measure. */
export default defineConfig({
  test: {
    include: ["test/endurance/**/*.endurance.ts"],
    testTimeout: 30 * 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: ["test/support/temporary-root.ts"],
    pool: "forks",
    maxWorkers: 1,
    reporters: ["default", new ClosingLine()],
  },
});
