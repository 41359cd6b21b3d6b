import { spawn } from "@lydell/node-pty";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import headless from "@xterm/headless";
import { expect, onTestFinished } from "vitest";
import { cliEnv } from "./run-cli.ts";

/** A program in a terminal that is emulated: what its user sees. */
export interface Screen {
  /** The lines that are shown, without spaces at their ends. */
  lines(): string[];
  /** The lines as one text. */
  text(): string;
  /** True while a program has the terminal to itself. */
  isAlternate(): boolean;
  isCursorHidden(): boolean;
  /** The column, from 0, at which a character of this line is shown; undefined if it is not. */
  columnOf(line: number, character: string): number | undefined;
  /** True if the colors of a character are exchanged. */
  isInverse(line: number, column: number): boolean;
  /** All that was written, escape sequences included. */
  output(): string;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  /** Resolves once the screen shows this. */
  shows(pattern: RegExp | string): Promise<void>;
  pid: number;
  /** Resolves with the exit code. */
  ended: Promise<number>;
}

export interface ScreenOptions {
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  columns?: number;
  rows?: number;
}

const BEGIN_FRAME = "\u001b[?2026h";
const END_FRAME = "\u001b[?2026l";

/** Returns where the output that a terminal shows ends: a frame is shown once it is complete. */
function endOfWholeFrames(output: string, from: number): number {
  const begin = output.lastIndexOf(BEGIN_FRAME);
  if (begin >= from && output.indexOf(END_FRAME, begin) === -1) return begin;
  const last = output.lastIndexOf("\u001b");
  return last >= from && BEGIN_FRAME.startsWith(output.slice(last)) ? last : output.length;
}

/** Runs a program in a pseudo terminal; it is killed when the test ends. */
export function openScreen(program: string, args: readonly string[], options: ScreenOptions = {}): Screen {
  const { env, cwd = process.cwd(), columns = 80, rows = 24 } = options;
  const whole = { TERM: "xterm-256color", LANG: "C.UTF-8", ...cliEnv(env) };
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 10_000 });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  const pty = spawn(program, [...args], { name: whole.TERM, cols: columns, rows, cwd, env: whole });
  let output = "";
  let shown = 0;
  let isOver = false;
  pty.onData((data) => {
    output += data;
    const end = endOfWholeFrames(output, shown);
    terminal.write(output.slice(shown, end));
    shown = end;
  });
  const ended = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      isOver = true;
      // The terminal parses later what it is given.
      terminal.write(output.slice(shown), () => resolve(exitCode));
      shown = output.length;
    });
  });
  onTestFinished(async () => {
    if (!isOver) pty.kill("SIGKILL");
    await ended;
    terminal.dispose();
  });
  const { buffer } = terminal;
  const lineAt = (row: number) => buffer.active.getLine(buffer.active.baseY + row);
  const lines = (): string[] =>
    Array.from({ length: terminal.rows }, (_, row) => lineAt(row)?.translateToString().trimEnd() ?? "");
  const text = (): string => lines().join("\n");
  return {
    lines,
    text,
    isAlternate: () => buffer.active.type === "alternate",
    isCursorHidden: () => output.lastIndexOf("\u001b[?25l") > output.lastIndexOf("\u001b[?25h"),
    columnOf(row, character) {
      const columns = Array.from({ length: terminal.cols }, (_, column) => lineAt(row)?.getCell(column)?.getChars());
      const column = columns.indexOf(character);
      return column === -1 ? undefined : column;
    },
    isInverse: (row, column) => lineAt(row)?.getCell(column)?.isInverse() !== 0,
    output: () => output,
    type: (keys) => pty.write(keys),
    resize(width, height) {
      terminal.resize(width, height);
      pty.resize(width, height);
    },
    async shows(pattern) {
      const isShown = (): boolean => (typeof pattern === "string" ? text().includes(pattern) : pattern.test(text()));
      await expect.poll(() => (isShown() ? "shown" : text()), { message: `shows ${pattern}` }).toBe("shown");
    },
    pid: pty.pid,
    ended,
  };
}
