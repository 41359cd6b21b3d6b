import { isRecord, valueAt } from "../../contract/json.ts";
import { compactJson, prettyJson } from "./json.ts";
import { printable, printableLines, printableOutput } from "./printable.ts";
import { createProgressBar, createSpinner, type ProgressBar, type Spinner } from "./progress.ts";
import { type ColorLevel, loadStyles, type Styles } from "./styles.ts";
import type { TextStream } from "./text-stream.ts";
import {
  assertFields,
  cellText,
  type Column,
  columnsOfFields,
  type FieldNames,
  pickFields,
  pluralOf,
  recordName,
  type ResourceView,
  styled,
  tabSeparated,
  textOf,
  type ViewContext,
} from "./view.ts";
import { wrapAfter, wrapWords } from "./wrap.ts";

interface OutputOptions {
  stdout: TextStream;
  stderr: TextStream;
  colors: { stdout: ColorLevel; stderr: ColorLevel };
  json: boolean;
  quiet: boolean;
  fields: readonly string[] | undefined;
  jq: string | undefined;
  /** True if stderr may show spinners and progress bars. */
  animate: boolean;
  /** Node's own stream, for animations. */
  openStderr: () => NodeJS.WriteStream;
  runnable: (text: string) => string;
  now: () => number;
}

/** The time that ages count from, in Unix milliseconds. */
interface Clock {
  now(): number;
}

/** All output of a command. Data goes to stdout, messages to stderr. */
export class Output {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly terminal: boolean;
  /** Colors for stdout. */
  readonly styles: Styles;
  /** Colors for stderr. */
  readonly noteStyles: Styles;
  readonly spinner: Spinner;
  /** What the command has changed, for the error if the rest of it fails: IDs, the newest last. */
  readonly changes: string[] = [];
  readonly #options: OutputOptions;
  /** The bar that is shown. */
  #bar: ProgressBar | undefined;

  private constructor(options: OutputOptions, styles: Styles, noteStyles: Styles) {
    this.#options = options;
    this.json = options.json;
    this.quiet = options.quiet;
    this.terminal = options.stdout.isTTY;
    this.styles = styles;
    this.noteStyles = noteStyles;
    this.spinner = createSpinner({
      open: options.openStderr,
      enabled: options.animate && !options.quiet,
      colored: options.colors.stderr > 0,
      styles: noteStyles,
    });
  }

  static async create(options: OutputOptions): Promise<Output> {
    const [styles, noteStyles] = await Promise.all([
      loadStyles(options.colors.stdout),
      loadStyles(options.colors.stderr),
    ]);
    return new Output(options, styles, noteStyles);
  }

  /** Prints one object: JSON with `--json`, its ID with `--quiet`, else a line per detail. */
  async object<Item extends object>(item: Item, view: ResourceView<Item>, clock: Clock = this.#options): Promise<void> {
    const columns = this.#columns(view, view.details);
    if (this.json) return await this.document(item, view);
    if (this.quiet) return this.#id(item, view);
    const block = this.#options.fields === undefined ? view.block : undefined;
    const lines = this.terminal
      ? detailLines(item, columns, block, {
          styles: this.styles,
          view: this.#viewContext(clock),
          terminalWidth: this.width,
        })
      : detailRecords(item, columns, block, this.#viewContext(clock));
    if (lines.length > 0) this.line(lines.join("\n"));
  }

  /**
   * Prints a list: a JSON array with `--json`, IDs with `--quiet`, a table on a terminal, tab-separated lines in a
   * pipe.
   */
  async list<Item extends object>(
    items: Iterable<Item> | AsyncIterable<Item>,
    view: ResourceView<Item>,
    clock: Clock = this.#options,
  ): Promise<void> {
    const columns = this.#columns(view, view.columns);
    if (!this.json && (this.quiet || !this.terminal)) {
      for await (const item of items) {
        if (this.quiet) this.#id(item, view);
        else this.line(tabSeparated(item, columns, this.#viewContext()));
      }
      return;
    }
    const all: Item[] = [];
    for await (const item of items) all.push(item);
    if (this.json) return await this.document(all, view);
    if (all.length === 0) return this.note(`No ${pluralOf(view)}.`);
    const { renderTable } = await import("./table.ts");
    const shown = { styles: this.styles, view: this.#viewContext(clock), terminalWidth: this.width };
    const lines = renderTable(all, columns, shown);
    if (lines.length > 0) this.line(lines.join("\n"));
  }

  /**
   * Prints the items of a continuing list as they arrive: a JSON line with `--json`, the ID with `--quiet`, the result
   * of `draw` on a terminal, a tab-separated line in a pipe.
   */
  stream<Item extends object>(view: ResourceView<Item>, draw: (item: Item) => string): (item: Item) => Promise<void> {
    const { fields } = this.#options;
    const columns = this.#columns(view, view.columns);
    return async (item) => {
      if (this.json) return await this.record(item, view);
      if (this.quiet) return this.#id(item, view);
      this.line(this.terminal && fields === undefined ? draw(item) : tabSeparated(item, columns, this.#viewContext()));
    };
  }

  /** Returns true if `--fields` selects parts of an object. */
  get chosen(): boolean {
    return this.#options.fields !== undefined;
  }

  /** Width of the terminal of stdout. */
  get width(): number {
    return this.#options.stdout.columns ?? 80;
  }

  /** Prints one JSON document on stdout, after `--fields` and `--jq`. */
  async document(value: unknown, view?: FieldNames): Promise<void> {
    const { jq } = this.#options;
    const chosen = Array.isArray(value) ? value.map((item) => this.#picked(item, view)) : this.#picked(value, view);
    if (jq !== undefined) {
      const missing = /^\.(\w+)$/.exec(jq.trim())?.[1];
      if (missing !== undefined && isRecord(chosen) && !Object.hasOwn(chosen, missing)) {
        this.warn(`--jq ${jq}: there is no field "${missing}". Fields: ${Object.keys(chosen).join(", ")}`);
      }
      const { filterWithJq } = await import("./jq.ts");
      return this.#filtered(await filterWithJq(chosen, jq));
    }
    this.line(this.terminal ? prettyJson(chosen, this.styles) : compactJson(chosen));
  }

  /** Prints one line of a JSON stream, after `--fields` and `--jq`. */
  async record(value: object, view?: FieldNames): Promise<void> {
    const { jq } = this.#options;
    const chosen = this.#picked(value, view);
    if (jq === undefined) return this.line(compactJson(chosen));
    const { filterWithJq } = await import("./jq.ts");
    this.#filtered(await filterWithJq(chosen, jq));
  }

  /** Notes that a request has changed something. */
  changed(id: string): void {
    if (this.changes.at(-1) === id) return;
    if (this.changes.push(id) > MAX_CHANGES) this.changes.shift();
  }

  /** Prints a line of data. */
  line(text: string): void {
    this.#write(this.#options.stdout, text);
  }

  /** Returns text for people, in which each command begins with the words that start this program in their shell. */
  runnable(text: string): string {
    return this.#options.runnable(text);
  }

  /** Prints a message on a terminal: nothing in a pipe, with `--quiet` or with `--json`. */
  note(text: string): void {
    const { stderr } = this.#options;
    if (!stderr.isTTY || this.quiet || this.json) return;
    this.#write(stderr, this.#fitted(this.runnable(text)));
  }

  /** Breaks lines between words on a terminal. Indented lines are commands. */
  #fitted(text: string): string {
    const { isTTY, columns = 80 } = this.#options.stderr;
    if (!isTTY) return text;
    const fit = (line: string) => (line.startsWith(" ") ? [line] : wrapWords(line, columns));
    return text.split("\n").flatMap(fit).join("\n");
  }

  /** Prints a notice for users and logs; not with `--quiet`. */
  notice(text: string): void {
    if (this.quiet) return;
    const shown = this.runnable(text);
    this.#write(this.#options.stderr, this.json ? compactJson({ notice: shown }) : this.#fitted(shown));
  }

  /**
   * Prints on stderr what the user has to do, even in a pipe or with `--quiet`, because nothing can continue without it.
   * With `--json` it is the record.
   */
  instruct(lines: readonly string[], record: object): void {
    const text = this.json ? compactJson(record) : this.#fitted(this.runnable(lines.join("\n")));
    this.#write(this.#options.stderr, text);
  }

  /** Prints a note that something was done, with the object's name. */
  success(text: string): void {
    this.note(`${this.noteStyles.good("✓")} ${text}`);
  }

  /** Prints a warning in any case; a JSON line on stderr with `--json`. */
  warn(text: string): void {
    const { stderr } = this.#options;
    const look = { width: stderr.columns, style: (mark: string) => this.noteStyles.warn(mark) };
    const shown = this.runnable(text);
    this.#write(stderr, this.json ? compactJson({ warning: shown }) : wrapAfter("Warning:", shown, look));
  }

  /** A line for `--debug`, on stderr. */
  trace(text: string): void {
    this.#write(this.#options.stderr, this.noteStyles.dim(printable(text)));
  }

  /**
   * Shows a progress bar on stderr for countable work, on a terminal only: not if stdout is a pipe, whose reader may
   * print on the same terminal.
   */
  progress(total: number, label: string): ProgressBar {
    const enabled = this.#options.animate && this.terminal && !this.quiet && total > 1;
    const bar = createProgressBar(this.#options.stderr, {
      enabled,
      styles: this.noteStyles,
      total,
      label,
      now: this.#options.now,
    });
    if (!enabled) return bar;
    const release = this.spinner.hold();
    let isOver = false;
    this.#bar = bar;
    return {
      ...bar,
      end: () => {
        if (isOver) return;
        isOver = true;
        bar.end();
        release();
        this.#bar = undefined;
      },
    };
  }

  /** Says that a request waits for its next attempt, and the limit of requests per second if that is the reason. */
  waiting(reason: string, milliseconds: number, rateLimit: number | undefined): void {
    if (rateLimit !== undefined) this.#bar?.limitTo(rateLimit);
    this.spinner.update(`${reason}; retrying in ${(milliseconds / 1000).toFixed(1)} s`);
  }

  #columns<Item>(view: ResourceView<Item>, standard: readonly Column<Item>[] = []): readonly Column<Item>[] {
    const { fields } = this.#options;
    if (fields === undefined) return standard;
    assertFields(view, fields);
    return columnsOfFields(fields, view);
  }

  #picked(value: unknown, names: FieldNames = { noun: "response", fields: [] }): unknown {
    const { fields, now } = this.#options;
    return fields === undefined ? value : pickFields(value, fields, { names, now: now() });
  }

  /** A jq expression may select nothing. */
  #filtered(text: string): void {
    if (text !== "") this.#options.stdout.write(`${this.terminal ? printableLines(text) : text}\n`);
  }

  /** Any text may contain values from the platform. */
  #write(stream: TextStream, text: string): void {
    stream.write(`${printableOutput(text)}\n`);
  }

  #id(item: object, { key = "id" }: { key?: string }): void {
    const id = textOf(valueAt(item, key));
    if (id !== "") this.line(printable(id));
  }

  #viewContext(clock: Clock = this.#options): ViewContext {
    return { now: clock.now(), terminal: this.terminal };
  }
}

/** A command may make millions of changes. */
const MAX_CHANGES = 10;
const MIN_WIDTH = 20;

type Block<Item> = ResourceView<Item>["block"];

/** Renders one object for a terminal: a line per detail, labels aligned. */
function detailLines<Item>(
  item: Item,
  columns: readonly Column<Item>[],
  block: Block<Item>,
  { styles, view, terminalWidth }: { styles: Styles; view: ViewContext; terminalWidth: number },
): string[] {
  const width = Math.max(...columns.map(({ label }) => label.length));
  const lines = columns.flatMap((column) => {
    const label = `${styles.dim(column.label.padEnd(width))}  `;
    const text = cellText(column, item, view);
    if (text === "") return [label + styles.dim("–")];
    const style = (line: string): string => styled(column, line, item, styles);
    const available = Math.max(MIN_WIDTH, terminalWidth - width - 2);
    return wrapWords(text, available).map((line, i) => (i === 0 ? label : " ".repeat(width + 2)) + style(line));
  });
  if (block === undefined) return lines;
  return [...lines, "", styles.dim(block.label), prettyJson(block.value(item), styles)];
}

/** Renders one object for a pipe: name and value, separated by a tab. */
function detailRecords<Item>(
  item: Item,
  columns: readonly Column<Item>[],
  block: Block<Item>,
  view: ViewContext,
): string[] {
  const records = columns.map((column) => `${recordName(column.label)}\t${tabSeparated(item, [column], view)}`);
  return block === undefined ? records : [...records, `${recordName(block.label)}\t${compactJson(block.value(item))}`];
}
