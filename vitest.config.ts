import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A condition that is waited for may take long on a busy machine; the default is one second.
    expect: { poll: { timeout: 20_000 } },
    globalSetup: ["test/support/temporary-root.ts", "test/support/worker-postgres.ts"],
    pool: "forks",
    maxWorkers: 2,
    reporters: ["default", new ClosingLine()],
  },
});
