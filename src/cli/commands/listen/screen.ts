import type { Context } from "../../context.ts";
import type { Styles } from "../../terminal/styles.ts";
import type { TextStream } from "../../terminal/text-stream.ts";
import type { LineSink } from "./printer.ts";
import { wrapAfter } from "../../terminal/wrap.ts";

const CLEAR_LINE = "\r\u001b[2K";
const CLEAR_ALL = "\u001b[2J\u001b[3J\u001b[H";

/** Plain lines on a stream. */
export function streamSink(stream: TextStream, styles: Styles): LineSink {
  return {
    styles,
    write: (text) => stream.write(`${text}\n`),
    width: () => (stream.isTTY ? (stream.columns ?? 80) : undefined),
  };
}

/** Where a person watches: lines scroll above one that stays. */
export class Screen implements LineSink {
  readonly styles: Styles;
  readonly #stdout: TextStream;
  #footer = "";

  constructor({ stdout, output }: Context) {
    this.#stdout = stdout;
    this.styles = output.styles;
  }

  write(text: string): void {
    this.#stdout.write(`${this.#footer === "" ? "" : CLEAR_LINE}${text}\n${this.#footer}`);
  }

  /** What would go to stderr: there it would land behind the line that stays. */
  warn(text: string): void {
    this.write(wrapAfter("Warning:", text, { width: this.width(), style: (mark) => this.styles.warn(mark) }));
  }

  width(): number {
    return this.#stdout.columns ?? 80;
  }

  /** Changes the line that stays; an empty text takes it away. */
  setFooter(text: string): void {
    if (text === this.#footer) return;
    this.#footer = text;
    this.#stdout.write(CLEAR_LINE + text);
  }

  clear(): void {
    this.#stdout.write(CLEAR_ALL + this.#footer);
  }
}
