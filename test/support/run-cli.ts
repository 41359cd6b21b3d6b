import { spawn } from "node:child_process";
import { mkdtempSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type * as cliErrors from "../../src/cli/errors.ts";
import type { runIn } from "../../src/cli/run.ts";
import type { ProcessIo } from "../../src/cli/process-io.ts";
import type { TextStream } from "../../src/cli/terminal/text-stream.ts";

/** The built command, as users run it. */
export const BIN = fileURLToPath(new URL("../../bin/service.js", import.meta.url));

const require = createRequire(import.meta.url);
/** The module that the program loads for everything but `--version`. */
function builtCommand() {
  // Commands that start others start this program.
  process.argv[1] = BIN;
  return require("../../dist/cli/core.cjs") as { run: { runIn: typeof runIn }; cliErrors: typeof cliErrors };
}

const { env: inherited } = process;

export interface CliResult {
  /** Null if a signal ended the process. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The content of stdin, which is empty by default. */
  input?: string | Uint8Array;
  cwd?: string | undefined;
}

/** Options to observe and interrupt a command in this process. */
export interface RunOptions extends CliOptions {
  /** Width of the terminal, for help. */
  columns?: number;
  /** True if both outputs are a terminal without colors. stdin is none. */
  isTerminal?: boolean;
  onStdout?: (text: string) => void;
  onStderr?: (text: string) => void;
  signal?: AbortSignal;
}

/** Creates an empty settings folder. Each test that stores something uses its own. */
export function createConfigDir(): string {
  return mkdtempSync(join(tmpdir(), "service-config-"));
}

let installed: string | undefined;

/** Returns a folder with the command under its name, as an installed package has it. */
function installCommand(): string {
  const folder = mkdtempSync(join(tmpdir(), "service-bin-"));
  symlinkSync(BIN, join(folder, "service"));
  return folder;
}

/**
 * The environment of a test's processes: without the developer's settings, with an empty settings folder unless the
 * test names one, and without requests to the package registry.
 */
export function cliEnv(env: CliOptions["env"] = {}): Record<string, string> {
  const { NODE_V8_COVERAGE, TMPDIR } = inherited;
  installed ??= installCommand();
  const PATH = `${installed}${delimiter}${inherited["PATH"]}`;
  const own = { HOME: tmpdir(), SERVICE_CONFIG_DIR: createConfigDir(), SERVICE_NO_UPDATE_NOTIFIER: "1" };
  const whole = { PATH, NODE_V8_COVERAGE, TMPDIR, ...own, ...env };
  return Object.fromEntries(Object.entries(whole).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/**
 * Runs `service` in this process with these arguments, through the same function as the program. Resolves once it has
 * finished. Uses `spawnCli` if a variable is for Node.js itself.
 */
export async function runCli(args: readonly string[], options: RunOptions = {}): Promise<CliResult> {
  const {
    env,
    input,
    cwd = process.cwd(),
    columns,
    isTerminal = false,
    signal = new AbortController().signal,
  } = options;
  const listeners = { stdout: options.onStdout, stderr: options.onStderr };
  if (isForNode(env)) return await spawnCli(args, options);
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written): TextStream => ({
    isTTY: isTerminal,
    columns,
    rows: undefined,
    getColorDepth: () => 1,
    write(text) {
      written[name] += Buffer.from(text).toString();
      listeners[name]?.(Buffer.from(text).toString());
    },
    makeNonBlocking: async () => async () => {},
  });
  const stdin = Readable.from(input === undefined ? [] : [Buffer.from(input)]) as unknown as NodeJS.ReadStream;
  const io: ProcessIo = {
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    streams: {
      stdin: () => stdin,
      stderr: () => new Writable({ write: (_text, _encoding, done) => done() }) as unknown as NodeJS.WriteStream,
    },
    env: cliEnv(env),
    platform: process.platform,
    cwd,
    runnable: (text) => text,
    signal,
    interrupt: () => {},
  };
  const exitCode = await builtCommand().run.runIn(io, args);
  return { exitCode, ...written };
}

/** Returns whether a variable is for Node.js itself, which needs a process of its own. */
export const isForNode = (env: CliOptions["env"] = {}): boolean =>
  Object.keys(env).some((name) => name.startsWith("NODE_"));

export type InterruptingSignal = cliErrors.InterruptedError["signal"];

/** Aborts the signal of a command in this process like a signal, by default Ctrl-C. */
export const interruption = (signal: InterruptingSignal = "SIGINT"): Error =>
  new (builtCommand().cliErrors.InterruptedError)(signal);

/** Runs `service` in a separate process with pipes. Resolves once it has exited. */
export function spawnCli(args: readonly string[], { env, input, cwd }: CliOptions = {}): Promise<CliResult> {
  const child = spawn(process.execPath, [BIN, ...args], { env: cliEnv(env), cwd, stdio: "pipe" });
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
    // A command that does not read stdin may have exited already.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
