import { defineConfig } from "vitest/config";
import { ClosingLine } from "../support/closing-line.ts";

/** Tests against programs that the lockfile does not install: `npm run test:interop`. */
export default defineConfig({
  test: {
    include: ["test/interop/**/*.interop.ts"],
    testTimeout: 60 * 60_000,
    hookTimeout: 10 * 60_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: ["test/support/fresh-build.ts", "test/support/temporary-root.ts", "test/support/shared-servers.ts"],
    pool: "forks",
    maxWorkers: 1,
    reporters: ["default", new ClosingLine()],
  },
});
