import type { Context } from "../context.ts";
import { type Key, KeyReader } from "./keys.ts";

/** The size of a terminal, in characters. */
export interface Size {
  columns: number;
  rows: number;
}

// The alternate screen, no cursor, no line wrap, and marks around pasted text, so that it is not taken for keys.
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h\u001b[2J";
const LEAVE = "\u001b[?2004l\u001b[?7h\u001b[0m\u001b[?25h\u001b[?1049l";
// Terminals that know these show a frame only once it is complete; others ignore them.
const BEGIN_FRAME = "\u001b[?2026h";
const END_FRAME = "\u001b[?2026l";
/** The rest of a sequence arrives in less time, even over a slow connection. */
const ESCAPE_MS = 50;

interface FullScreenOptions {
  onKey(key: Key): void;
  /** The screen must be repainted: its size has changed, or another program has used it. */
  onChange(): void;
}

/** The terminal while one program uses all of it. It is restored however the process ends, except by SIGKILL. */
export class FullScreen {
  readonly #context: Context;
  readonly #options: FullScreenOptions;
  readonly #keys = new KeyReader();
  #escape: NodeJS.Timeout | undefined;
  #shown: readonly string[] = [];
  #active = false;

  constructor(context: Context, options: FullScreenOptions) {
    this.#context = context;
    this.#options = options;
  }

  get active(): boolean {
    return this.#active;
  }

  get size(): Size {
    const { columns = 80, rows = 24 } = this.#context.stdout;
    return { columns, rows };
  }

  enter(): void {
    if (this.#active) return;
    const { stdin, stdout, platform } = this.#context;
    this.#active = true;
    this.#shown = [];
    stdout.write(ENTER);
    // A closed terminal reports errors. The SIGHUP that accompanies them ends the command.
    stdin.off("error", ignore).on("error", ignore);
    stdin.setEncoding("utf8");
    stdin.on("data", this.#onData);
    stdin.setRawMode(true);
    stdin.resume();
    process.on("SIGWINCH", this.#onResize);
    process.on("exit", this.leave);
    // The stack trace of a crash must appear on the normal screen.
    process.on("uncaughtExceptionMonitor", this.leave);
    if (platform === "win32") return;
    process.on("SIGTSTP", this.#onSuspend);
    process.on("SIGCONT", this.#onContinue);
  }

  /** Restores the terminal. */
  readonly leave = (): void => {
    process.off("SIGCONT", this.#onContinue);
    if (!this.#active) return;
    const { stdin, stdout } = this.#context;
    this.#active = false;
    clearTimeout(this.#escape);
    this.#keys.flush();
    process.off("SIGWINCH", this.#onResize);
    process.off("exit", this.leave);
    process.off("uncaughtExceptionMonitor", this.leave);
    process.off("SIGTSTP", this.#onSuspend);
    stdin.off("data", this.#onData);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(LEAVE);
  };

  /** Shows these printable lines from the top, each at most as wide as the screen. Writes only those that have changed. */
  paint(lines: readonly string[]): void {
    if (!this.#active) return;
    const changes: string[] = [];
    for (const [row, line] of lines.entries()) {
      if (line !== this.#shown[row]) changes.push(`\u001b[${row + 1};1H${line}`);
    }
    if (changes.length === 0) return;
    this.#shown = [...lines];
    this.#context.stdout.write(BEGIN_FRAME + changes.join("") + END_FRAME);
  }

  /** Sends a sequence that does not move the cursor. */
  send(sequence: string): void {
    this.#context.stdout.write(sequence);
  }

  readonly #onData = (data: string): void => {
    clearTimeout(this.#escape);
    for (const key of this.#keys.push(data)) this.#press(key);
    if (!this.#keys.isWaiting) return;
    this.#escape = setTimeout(() => {
      for (const key of this.#keys.flush()) this.#press(key);
    }, ESCAPE_MS);
  };

  /** Does what the terminal would do on a signal key, which it does not in raw mode. */
  #press(key: Key): void {
    if (!this.#active) return;
    if (key.name === "ctrl-c") this.#context.interrupt();
    else if (key.name !== "ctrl-z") this.#options.onKey(key);
    // Like the terminal, sends it to all processes of the foreground job.
    else if (this.#context.platform !== "win32") process.kill(0, "SIGTSTP");
  }

  readonly #onResize = (): void => {
    this.#shown = [];
    this.#context.stdout.write("\u001b[2J");
    this.#options.onChange();
  };

  readonly #onSuspend = (): void => {
    this.leave();
    process.on("SIGCONT", this.#onContinue);
    process.kill(process.pid, "SIGSTOP");
  };

  readonly #onContinue = (): void => {
    // SIGSTOP cannot be handled, so the shell may have changed the terminal in the meantime.
    this.leave();
    this.enter();
    this.#options.onChange();
  };
}

function ignore(): void {}
