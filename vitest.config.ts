import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // How long a test may take says nothing of what it tests: these catch what hangs, on a busy machine too.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: ["test/support/temporary-root.ts", "test/support/shared-servers.ts"],
    pool: "forks",
    maxWorkers: 2,
    reporters: ["default", new ClosingLine()],
  },
});
