import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Prints the names of failed tests at the end of a run, and a machine-readable line: `N passed, N failed`, with `, N
 * skipped` if there are any. A truncated log still shows both.
 */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    const names: string[] = [];
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      if (module.errors().length > 0) {
        counts.failed += 1;
        names.push(file);
      }
      for (const suite of module.children.allSuites()) {
        if (suite.errors().length === 0) continue;
        counts.failed += 1;
        names.push(`${file} > ${suite.fullName}`);
      }
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== "pending") counts[state] += 1;
        if (state === "failed") names.push(`${file} > ${test.fullName}`);
      }
    }
    const failed = names.map((name) => `✗ ${name}\n`).join("");
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
    process.stdout.write(`\n${failed}${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
  }
}
