import { relative } from "node:path";
import { expect, vi } from "vitest";

// Gives the tests of the files that vitest.config.ts lists as long four times as long as others.
const { LONG_TESTS = "", TEST_SECONDS } = process.env;
const file = relative(process.cwd(), expect.getState().testPath ?? "");
if (LONG_TESTS.split(",").includes(file)) {
  const milliseconds = 4000 * Number(TEST_SECONDS);
  vi.setConfig({ testTimeout: milliseconds, hookTimeout: milliseconds });
}
