import { spawn } from "@lydell/node-pty";
import { BIN, type CliOptions, cliEnv } from "./run-cli.ts";

/** The command in a real terminal. */
export interface TerminalSession {
  /** All its output, including escape sequences. */
  output(): string;
  /** Its output as text: without colors, cursor movements and erased lines, such as those of a stopped spinner. */
  text(): string;
  /** Resolves once the text matches, even if it is erased later. Rejects if the command exits before. */
  waitFor(pattern: RegExp | string): Promise<void>;
  type(keys: string): void;
  /** Resolves with the exit code. */
  ended: Promise<number>;
}

export const CTRL_C = "\u0003";
export const ENTER = "\r";

const ESCAPES = /\u001b(?:\[[0-9;?]*[A-Za-z]|\][^\u0007]*\u0007|[()][A-Z0-9]|[=>78])/g;
/** Matches the current line from its start, which spinners and progress bars erase. */
const ERASED = /[^\n]*(?:\u001b\[1G\u001b\[0K|\r\u001b\[2K)/g;

/**
 * Runs a command and keeps the terminal open until its output was read: node-pty drops what it has not read 200 ms after
 * the exit. Ctrl-C reaches both processes.
 */
const HELD_OPEN = String.raw`trap : INT; "$@"; printf '\033]exit;%d\007' $?; read -r _`;
const EXITED = /\u001b\]exit;(\d+)\u0007/;

/** node-pty replaces a size of 0. */
const WITHOUT_SIZE = `stty cols 0 rows 0; ${HELD_OPEN}`;

const plain = (written: string): string => written.replace(ESCAPES, "").replaceAll("\r\n", "\n");

/** Returns what a terminal shows of an output: without colors, cursor movements and erased lines. */
export const shownText = (output: string): string => plain(output.replace(ERASED, ""));

/** Runs `service` in a pseudo terminal. With 0 columns, the terminal does not know its size. */
export function runInTerminal(
  args: readonly string[],
  { env, cwd, columns = 100 }: Omit<CliOptions, "input"> & { columns?: number } = {},
): TerminalSession {
  let output = "";
  let done = false;
  const watchers = new Set<() => void>();
  const whole = { TERM: "xterm-256color", ...cliEnv(env) };
  const pty = spawn("/bin/sh", ["-c", columns === 0 ? WITHOUT_SIZE : HELD_OPEN, "sh", process.execPath, BIN, ...args], {
    name: whole["TERM"],
    cols: columns,
    rows: 40,
    cwd: cwd ?? process.cwd(),
    env: whole,
  });
  const ended = new Promise<number>((resolve) => {
    pty.onData((data) => {
      if (done) return;
      output += data;
      const code = EXITED.exec(output.slice(-data.length - 16))?.[1];
      if (code !== undefined) {
        done = true;
        output = output.replace(EXITED, "");
        resolve(Number(code));
        pty.write("\n");
      }
      for (const watch of watchers) watch();
    });
  });
  const text = (): string => shownText(output);
  return {
    output: () => output,
    text,
    ended,
    type: (keys) => pty.write(keys),
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          const found = typeof pattern === "string" ? plain(output).includes(pattern) : pattern.test(plain(output));
          if (!found && !done) return;
          watchers.delete(watch);
          if (found) resolve();
          else reject(new Error(`the command ended without showing ${pattern}:\n${text()}`));
        };
        watchers.add(watch);
        watch();
      }),
  };
}
