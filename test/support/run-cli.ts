import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The built command, as users run it. */
export const BIN = fileURLToPath(new URL("../../bin/service.js", import.meta.url));

const { env: inherited } = process;

export interface CliResult {
  /** Null where a signal ended the process. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  env?: Readonly<Record<string, string | undefined>>;
  /** What stands on stdin; without it stdin is empty. */
  input?: string | Uint8Array;
  cwd?: string;
}

/** An empty folder for settings; each test that stores something takes its own. */
export function makeConfigDir(): string {
  return mkdtempSync(join(tmpdir(), "service-config-"));
}

/**
 * The environment of a test's processes: nothing of the developer's own settings, a settings folder that is empty unless
 * the test names one, and no question to the package registry.
 */
export function cliEnv(env: CliOptions["env"] = {}): Record<string, string> {
  const { PATH, NODE_V8_COVERAGE, TMPDIR } = inherited;
  const own = { HOME: tmpdir(), SERVICE_CONFIG_DIR: makeConfigDir(), SERVICE_NO_UPDATE_NOTIFIER: "1" };
  const whole = { PATH, NODE_V8_COVERAGE, TMPDIR, ...own, ...env };
  return Object.fromEntries(Object.entries(whole).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Runs `service` with these arguments in pipes, and resolves once it has ended. */
export function runCli(args: readonly string[], { env, input, cwd }: CliOptions = {}): Promise<CliResult> {
  const child = spawn(process.execPath, [BIN, ...args], { env: cliEnv(env), cwd, stdio: "pipe" });
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
    // A command that does not read stdin may have ended already.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
