import type { Report } from "../../../relay/report.ts";
import type { Context } from "../../context.ts";
import type { Styles } from "../../terminal/styles.ts";
import { toJsonLine } from "./json-line.ts";
import { type Fold, layoutFor } from "./layout.ts";
import { gapText, linesOf } from "./lines.ts";
import type { Setup } from "./receivers.ts";

/** Where lines go. */
export interface LineSink {
  /** One or more lines, without the last line end. */
  write(text: string): void;
  /** Columns of the terminal; undefined in a pipe. */
  width(): number | undefined;
  readonly styles: Styles;
}

/** Prints what a session reports: lines for a person, one JSON object a line, or with `--quiet` the ids of events. */
export async function createListenPrinter(
  context: Context,
  sink: LineSink,
  setup: Setup,
): Promise<(report: Report) => void> {
  const { output } = context;
  const write = output.json ? (text: string) => output.line(text) : (text: string) => sink.write(text);
  const { add, flush } = gatherLines(write);
  const fold = sink.width() === undefined ? undefined : (await import("../../terminal/fold.ts")).foldText;
  const render = rendererOf(context, sink, { ...setup, fold });
  return (report) => {
    for (const line of render(report)) add(line);
    // Nothing comes after it but why the command failed, and that has the last word.
    if (report.event === "summary") flush();
  };
}

/** A report as the lines that it is printed as. */
function rendererOf(
  context: Context,
  sink: LineSink,
  { fold, ...setup }: Setup & { fold: Fold | undefined },
): (report: Report) => string[] {
  const { output } = context;
  if (output.json) return (report) => [toJsonLine(report, context.now(), setup)];
  if (output.quiet) {
    return (report) => {
      // The list of IDs has a hole that nothing else would show.
      if (report.event === "gap") output.warn(gapText(report));
      return report.event === "received" ? [report.id] : [];
    };
  }
  const { styles } = sink;
  const withoutRepetition = dropRepeatedHints();
  let layout = layoutFor(sink.width(), fold);
  return (report) => {
    const width = sink.width();
    if (width !== layout.width) layout = layoutFor(width, fold);
    return linesOf(withoutRepetition(report), { setup, styles, layout, now: context.now() });
  };
}

/** What stands for lines that nobody read. */
export function omittedLine(lines: number, context: Context): string {
  if (!context.output.json) return `… ${lines} unread lines omitted`;
  return JSON.stringify({ event: "left_out", lines, time: new Date(context.now()).toISOString() });
}

/** A receiver that is down fails many events: what to do about it need not be said for each. */
function dropRepeatedHints(): (report: Report) => Report {
  let last: string | undefined;
  return (report) => {
    if (report.event !== "forwarded") return report;
    const { hint, ...rest } = report;
    const isRepeated = hint !== undefined && hint === last;
    last = hint;
    return isRepeated ? rest : report;
  };
}

/** Writes the lines of one turn of the event loop at once: a write each would cost more than relaying the events. */
function gatherLines(write: (text: string) => void): { add: (line: string) => void; flush: () => void } {
  let lines: string[] = [];
  function flush(): void {
    if (lines.length === 0) return;
    const text = lines.join("\n");
    lines = [];
    write(text);
  }
  return {
    add(line) {
      if (lines.push(line) === 1) setImmediate(flush);
    },
    flush,
  };
}
