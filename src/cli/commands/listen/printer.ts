import type { Report } from "../../../relay/report.ts";
import type { Context } from "../../context.ts";
import type { Styles } from "../../terminal/styles.ts";
import { toJsonLine } from "./json-line.ts";
import { layoutFor } from "./layout.ts";
import { linesOf } from "./lines.ts";
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
export function createListenPrinter(context: Context, sink: LineSink, setup: Setup): (report: Report) => void {
  const { output } = context;
  const print = gatherLines(output.json ? (text) => output.line(text) : (text) => sink.write(text));
  if (output.json) return (report) => print(toJsonLine(report, context.now(), setup));
  if (output.quiet) return (report) => (report.event === "received" ? print(report.id) : undefined);
  const { styles } = sink;
  const withoutRepetition = dropRepeatedHints();
  return (report) => {
    const layout = layoutFor(sink.width());
    for (const line of linesOf(withoutRepetition(report), { setup, styles, layout, now: context.now() })) print(line);
  };
}

/** What stands for lines that nobody read. */
export function leftOutLine(lines: number, context: Context): string {
  if (!context.output.json) return `… ${lines} lines that nobody read are left out`;
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
function gatherLines(write: (text: string) => void): (line: string) => void {
  let lines: string[] = [];
  return (line) => {
    if (lines.push(line) > 1) return;
    setImmediate(() => {
      const text = lines.join("\n");
      lines = [];
      write(text);
    });
  };
}
