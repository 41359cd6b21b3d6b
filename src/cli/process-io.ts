import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { kindsWith, RESOURCES } from "../contract/resources.ts";
import { shellCommand, shellWord } from "../contract/shell-command.ts";
import { BrokenPipeError, LostOutputError } from "./errors.ts";
import { openTextStream, type TextStream } from "./terminal/text-stream.ts";

/** The process as the program sees it. Tests replace it. */
export interface ProcessIo {
  stdout: TextStream;
  stderr: TextStream;
  /** Node's own streams, opened at their first use: loading them takes several milliseconds. */
  streams: { stdin: () => NodeJS.ReadStream; stderr: () => NodeJS.WriteStream };
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  cwd: string;
  /** Returns text for people, in which commands begin with the words that start this program in their shell. */
  runnable: (text: string) => string;
  /** Aborted by Ctrl-C and termination signals (InterruptedError) and a closed stdout (BrokenPipeError). */
  signal: AbortSignal;
  /** Does what Ctrl-C does, for a terminal in raw mode. A signal to itself would kill the process on Windows. */
  interrupt: () => void;
}

/** The real process; `commands` are those of the program. Aborts the controller once the reader of stdout has closed it. */
export function currentProcessIo(
  controller: AbortController,
  interrupt: () => void,
  commands: readonly string[],
): ProcessIo {
  const { env, platform } = process;
  const cwd = process.cwd();
  let name: string | undefined;
  const stderr = (): NodeJS.WriteStream => process.stderr;
  return {
    stdout: openTextStream({
      descriptor: 1,
      platform,
      open: () => process.stdout,
      onClosed: (error) =>
        controller.abort(
          error.code === "EPIPE" ? new BrokenPipeError("stdout was closed") : new LostOutputError(error),
        ),
    }),
    // If stderr is closed, nobody can be notified.
    stderr: openTextStream({ descriptor: 2, platform, open: stderr, onClosed: () => {} }),
    streams: { stdin: () => process.stdin, stderr },
    env,
    platform,
    cwd,
    runnable(text) {
      name ??= commandName({ env, cwd, platform }, realpathSync(process.argv[1]!));
      return withCommandName(text, name, commands);
    },
    signal: controller.signal,
    interrupt,
  };
}

const NAMES = ["service", "service-cli"] as const;
const PACKAGE = "service-cli";
/** A package manager's shell shim contains the path of the program that it starts. */
const MAX_SHIM_BYTES = 8192;

/** Returns text in which each of these commands, such as `service trigger`, begins with `name`. */
export function withCommandName(text: string, name: string, commands: readonly string[]): string {
  if (name === "service") return text;
  // Not `/etc/service status`; but after the code of a color, which ends with a letter.
  const inText = new RegExp(
    `(?<=\\u001B\\[[\\d;]*m|(?<![\\w./@-]))service(?= (?:${commands.join("|")})\\b| --help\\b| \\[options\\])`,
    "g",
  );
  return text.replace(inText, () => name);
}

const API_COMMANDS = [...kindsWith("command").map((kind) => RESOURCES[kind].command.name), "logs", "why", "whoami"];
/** Matches one of them at the end of a line, where advice has them. */
const ADVISED = new RegExp(
  String.raw`\bservice (?:${API_COMMANDS.join("|")})\b[^\n\u001B\`]*(?<!\.)(?=(?:\u001B\[[\d;]*m)*$)`,
  "gm",
);

/** Returns text in which commands for the API use the environment and the profile of this command line. */
export function withConnection(text: string, args: readonly string[]): string {
  const live = args.includes("--live") ? "--live" : undefined;
  const at = args.findIndex((arg) => /^--profile(=|$)/.test(arg));
  const profile = at < 0 ? undefined : args[at] === "--profile" ? args[at + 1] : args[at]!.slice("--profile=".length);
  const flags = [live, profile && shellCommand`--profile ${profile}`].filter((flag) => flag !== undefined);
  if (flags.length === 0) return text;
  return text.replace(ADVISED, (command, offset: number) => {
    const before = text.slice(text.lastIndexOf("\n", offset) + 1, offset);
    const added = flags.filter((flag) => !(before + command).includes(flag.split(" ", 1)[0]!));
    return [command, ...added].join(" ");
  });
}

/** Where a program runs. */
export type Surroundings = Pick<ProcessIo, "env" | "cwd" | "platform">;

/**
 * Returns the words that start this program in the user's shell: `service`, unless that is another program, as on most
 * Linux systems. Aliases cannot be seen.
 */
function commandName({ env, cwd, platform }: Surroundings, program: string): string {
  if (env["npm_command"] === "exec") return `npx ${PACKAGE}`;
  // npm runs scripts with folders in their PATH that the user's shell does not have.
  const isInPath = (folder: string): boolean => env["npm_lifecycle_event"] === undefined || !folder.endsWith(".bin");
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(isInPath);
  const suffix = platform === "win32" ? ".cmd" : "";
  for (const name of NAMES) {
    const found = folders.map((folder) => join(folder, name + suffix)).find(existsSync);
    if (found !== undefined && startsProgram(found, program)) return name;
  }
  return isInstalledIn(cwd, program) ? `npx ${PACKAGE}` : `node ${shellWord(program)}`;
}

/** Returns true if a file is the program, a link to it, or a shim that starts it. */
function startsProgram(file: string, program: string): boolean {
  if (!existsSync(file)) return false;
  try {
    if (realpathSync(file) === program) return true;
    return readFileSync(file).subarray(0, MAX_SHIM_BYTES).includes(`${PACKAGE}/bin/service.js`);
  } catch {
    return false;
  }
}

/** Returns true if npx finds the program in this folder or one above: in its dependencies, or as the package itself. */
function isInstalledIn(folder: string, program: string): boolean {
  const isHere =
    startsProgram(join(folder, "node_modules", PACKAGE, "bin/service.js"), program) ||
    startsProgram(join(folder, "bin/service.js"), program);
  if (isHere) return true;
  const above = dirname(folder);
  return above !== folder && isInstalledIn(above, program);
}
