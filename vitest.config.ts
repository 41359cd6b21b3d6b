import { availableParallelism, loadavg } from "node:os";
import { relative } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ClosingLine } from "./test/support/closing-line.ts";

/** Files that measure their process, its memory or its processor time, or that replace a module of Node.js in it. */
const ALONE = [
  "test/bad-input/time-budget.test.ts",
  "test/platform/delivery/isolation.test.ts",
  "test/platform/oauth/password-changes.test.ts",
  "test/postgres/transactions.test.ts",
  "test/relay/endurance.test.ts",
  "test/relay/ledger.test.ts",
];

/**
 * Files that take long, for leases, intervals, restarts and builds: their tests may take four times as long as others.
 * They begin first, the longest of them before the others, so that none is left at the end.
 */
const LONG = [
  "test/package/guide.test.ts",
  "test/receiver-check/command.test.ts",
  "test/platform/delivery/bulk-operations.test.ts",
  "test/postgres/faults.test.ts",
  "test/package/webhooks-package.test.ts",
  "test/faults/readiness.test.ts",
  "test/platform/delivery/crash.test.ts",
  "test/receiver-check/receivers.test.ts",
  "test/dashboard/access.test.ts",
  "test/dashboard/layout.test.ts",
  "test/postgres/one-platform.test.ts",
  "test/bad-input/slow-requests.test.ts",
  "test/postgres/log-order.test.ts",
  "test/cli/expect.test.ts",
  "test/postgres/migration-crash.test.ts",
  "test/package/install.test.ts",
  "test/postgres/failover.test.ts",
  "test/platform/reference-page.test.ts",
  "test/postgres/other-listeners.test.ts",
  "test/cli/events-stream.test.ts",
  "test/faults/main-job.test.ts",
  "test/bad-input/http-responses.test.ts",
  "test/cli/refresh.test.ts",
  "test/cli/login-hostile.test.ts",
  "test/cli/unread-output.test.ts",
  "test/platform/fuzz.test.ts",
  "test/postgres/statistics.test.ts",
  "test/bad-input/serve.test.ts",
  "test/postgres/dashboard.test.ts",
  "test/platform/storage/postgres.test.ts",
  "test/package/docs.test.ts",
  "test/cli/login-device.test.ts",
  "test/cli/login.test.ts",
  "test/platform/event-stream.test.ts",
  "test/platform/delivery/descriptors.test.ts",
  "test/package/build.test.ts",
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => {
      const place = LONG.indexOf(relative(project.config.root, moduleId));
      return project.name === "alone" ? -1 : place === -1 ? LONG.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/** After this a test hangs. On a busy machine, which may be ten times as slow, that takes longer to say. */
const isBusy = loadavg()[0]! > availableParallelism();
const seconds = Number(process.env["TEST_SECONDS"] ?? (isBusy ? 300 : 30));
process.env["TEST_SECONDS"] = String(seconds);

process.env["LONG_TESTS"] = LONG.join(",");

const common = {
  setupFiles: "test/support/long-tests.ts",
  testTimeout: seconds * 1000,
  hookTimeout: 2 * seconds * 1000,
  // Less than a test, so that a failure says what it waited for.
  expect: { poll: { timeout: (seconds * 1000 * 2) / 3 } },
  pool: "forks",
} as const;

const isShuffled = process.argv.some((argument) => argument.startsWith("--sequence.shuffle.files"));

export default defineConfig({
  test: {
    globalSetup: ["test/support/fresh-build.ts", "test/support/temporary-root.ts", "test/support/shared-servers.ts"],
    // Three times as many as the smallest machine has processors: much of the time is spent waiting.
    maxWorkers: 6,
    reporters: ["default", new ClosingLine()],
    ...(isShuffled ? {} : { sequence: { sequencer: LongFirst } }),
    projects: [
      { test: { ...common, name: "alone", include: ALONE } },
      // The files of a worker run in one process: to start one and to load the platform takes longer than most files do.
      {
        test: {
          ...common,
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...ALONE],
        },
      },
    ],
  },
});
