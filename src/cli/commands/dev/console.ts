import { stripVTControlCharacters } from "node:util";
import type { Context } from "../../context.ts";
import { colorLevel, loadColors } from "../../terminal/styles.ts";
import type { ListenUi } from "../../forwarding/ui/index.ts";
import { Log } from "../../forwarding/ui/log.ts";
import { printableStyled } from "../../terminal/printable.ts";
import { wrapStyled } from "../../terminal/spans.ts";
import type { TextStream } from "../../terminal/text-stream.ts";

/** The parts, in the order in which they start. Each line of output begins with the name of its part. */
const PARTS = ["platform", "seed", "listen", "app", "dev"] as const;
export type PartName = (typeof PARTS)[number];

const NAME_WIDTH = Math.max(...PARTS.map((name) => name.length));
const SEPARATOR = " │ ";
const PREFIX_WIDTH = NAME_WIDTH + SEPARATOR.length;
/** Longer lines are printed in parts, because an app may print an endless line. */
const MAX_LINE_CHARACTERS = 65_536;

/** Escape sequences other than colors could move the cursor out of the part's lines or clear other parts' lines. */
const CONTROL = /\u001b(?:\[[0-9;?]*(?!m)[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78cDEHM])/g;

/** A line that names the error with which a program crashed: `TypeError: …`, `panic: …`. */
const ERROR_LINE = /^(?:Uncaught |Exception in thread "[^"]*" )?[\w.:]*(?:Error|Exception|panic)\b.*/;
const MAX_ERROR = 100;

type Colors = ReadonlyMap<PartName, (text: string) => string>;

/** One terminal for several parts: each line begins with the part's name. With `--json`, each is an object. */
export class Console {
  readonly #context: Context;
  readonly #colors: Colors;
  /** The latest lines, for a screen. */
  readonly log = new Log();
  readonly #unseen = new Log();
  /** While it is shown, lines go to the log only. */
  screen: ListenUi | undefined;

  /** The last line with which the app reported an error. */
  lastError: string | undefined;

  private constructor(context: Context, colors: Colors) {
    this.#context = context;
    this.#colors = colors;
  }

  static async open(context: Context): Promise<Console> {
    const { globals, env, stdout } = context;
    const colors = await loadColors(colorLevel({ flag: globals.color, env, stream: stdout }));
    return new Console(context, new Map(colors.map((color, i) => [PARTS[i]!, color])));
  }

  get hasColor(): boolean {
    return this.#colors.size > 0;
  }

  /** Prints the state of a part: a line for a person, the record with `--json`. */
  say(part: PartName, text: string, record: object): void {
    const { output, stdout } = this.#context;
    if (output.json) stdout.write(`${JSON.stringify({ part, ...record })}\n`);
    else if (!output.quiet) this.#line(part, stdout, output.runnable(text));
  }

  /** Returns a context whose output begins with the name of the part, for requests to this platform. */
  part(part: PartName, baseUrl?: string): Promise<Context> {
    const { globals } = this.#context;
    const streams = { stdout: this.#stream(part, "stdout"), stderr: this.#stream(part, "stderr") };
    return this.#context.partWith({ ...globals, baseUrl: baseUrl ?? globals.baseUrl }, streams);
  }

  /** With `--json`, the lines are JSON. */
  #stream(part: PartName, name: "stdout" | "stderr"): TextStream {
    const stream = this.#context[name];
    const { json, quiet } = this.#context.output;
    const print = (line: string): void => {
      if (json) stream.write(line.startsWith("{") ? `{"part":"${part}",${line.slice(1)}\n` : `${line}\n`);
      else if (line !== "" && (!quiet || name === "stderr")) this.#line(part, stream, line);
    };
    return {
      get isTTY() {
        return stream.isTTY;
      },
      get columns() {
        return stream.columns === undefined ? undefined : Math.max(stream.columns - PREFIX_WIDTH, 20);
      },
      rows: undefined,
      getColorDepth: (env) => stream.getColorDepth(env),
      write: byLine(print).write,
      makeNonBlocking: async () => async () => {},
    };
  }

  /**
   * Returns two functions that print the output of the app: `write` prints complete lines as output arrives, and `end`
   * prints the last, incomplete line.
   */
  appOutput(name: "stdout" | "stderr"): { write: (text: string) => void; end: () => void } {
    const { [name]: stream, output } = this.#context;
    return byLine((line) => {
      const [error] = ERROR_LINE.exec(stripVTControlCharacters(line)) ?? [];
      if (error !== undefined) this.lastError = error.trim().slice(0, MAX_ERROR);
      if (output.json) this.say("app", "", { event: "output", stream: name, text: line });
      else this.#line("app", stream, shown(line));
    });
  }

  /** Prints the last lines that only the screen has shown. */
  repeat(lines: number): void {
    const { stdout } = this.#context;
    stdout.write(
      this.#unseen
        .window(stdout.columns ?? 80, lines, true)
        .map((line) => `${line}\n`)
        .join(""),
    );
  }

  #line(part: PartName, stream: TextStream, text: string): void {
    const name = part.padEnd(NAME_WIDTH);
    const prefix = `${this.#colors.get(part)?.(name) ?? name}${SEPARATOR}`;
    const indent = Math.min(text.search(/\S|$/) + 2, 8);
    const wrapped = (line: string, columns: number): string[] =>
      wrapStyled(line, Math.max(columns - PREFIX_WIDTH, 20), indent).map((part) => prefix + part);
    this.log.add(text.length, (columns) => wrapped(printableStyled(text), columns));
    if (this.screen?.isShown)
      return this.#unseen.add(text.length, (columns) => wrapped(printableStyled(text), columns));
    const lines = stream.isTTY ? wrapped(text, stream.columns ?? 80) : [prefix + text];
    stream.write(lines.map((line) => `${line}\n`).join(""));
  }
}

/** Collects text and calls `print` once per line, or per part of a long line. */
function byLine(print: (line: string) => void): { write: (text: string) => void; end: () => void } {
  let rest = "";
  return {
    write(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) print(line);
      while (rest.length > MAX_LINE_CHARACTERS) {
        const end = partEnd(rest);
        print(rest.slice(0, end));
        rest = rest.slice(end);
      }
    },
    end() {
      if (rest !== "") print(rest);
      rest = "";
    },
  };
}

/** Returns where the first part of a long line ends. A part splits no surrogate pair. */
function partEnd(line: string): number {
  const isPair = line.codePointAt(MAX_LINE_CHARACTERS - 1)! > 0xffff;
  return isPair ? MAX_LINE_CHARACTERS - 1 : MAX_LINE_CHARACTERS;
}

/** A progress bar overwrites its line, so only its last state is shown. */
function shown(line: string): string {
  const [last = ""] = line.replace(/\r+$/, "").split("\r").slice(-1);
  const text = last.replace(CONTROL, "");
  return text.includes("\u001b[") ? `${text}\u001b[0m` : text;
}
