import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import type { FileCheck } from "../../../platform/storage/sqlite/file-health.ts";

/** Failures of the command that tell of the file. */
const FILE_FAILURES = new Set(["not_a_database", "log_mismatch", "missing"]);
/** Gives way to the platform: a lower priority than processes have by default. */
const BACKGROUND = 10;

/**
 * Runs `service db check --quick` on a file in a process of its own: SQLite reads all of a file in one go, which would
 * hold up every request here. Rejects where the process gave no result.
 */
export const checkFile: FileCheck = (file, signal) =>
  new Promise((resolve, reject) => {
    const args = [process.argv[1]!, "db", "check", "--quick", "--json", "--database", file];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], signal });
    if (child.pid !== undefined) giveWay(child.pid);
    const printed = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => (printed[name] += text));
    }
    child.once("error", reject);
    child.once("close", () => {
      const problems = readReport(printed.stdout || printed.stderr);
      if (problems !== undefined) resolve(problems);
      else reject(new Error(`service db check printed no report: ${printed.stderr.trim()}`));
    });
  });

/** Undefined where the text is neither a report nor a failure to open the file. */
function readReport(text: string): readonly string[] | undefined {
  try {
    const report = JSON.parse(text) as { problems?: string[]; code?: string; detail?: string };
    if (report.problems !== undefined) return report.problems;
    return report.detail !== undefined && FILE_FAILURES.has(report.code ?? "") ? [report.detail] : undefined;
  } catch {
    return undefined;
  }
}

/** Where the system has no priorities, the check runs at the usual one. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, BACKGROUND);
  } catch {
    // Or the process has ended already.
  }
}
