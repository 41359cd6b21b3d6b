import type { ForwardedReport, Report, Summary } from "../../../relay/report.ts";
import type { Context } from "../../context.ts";
import { printable } from "../../terminal/printable.ts";
import type { Styles } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import { clockTime, colorStatus } from "../../terminal/traffic.ts";
import { toJsonLine } from "./record.ts";

const BODY_SHOWN = 4096;
const TYPE_WIDTH = 24;
const TIMING_WIDTH = 9;

/** Prints what a session reports: lines for a person, or one JSON object a line. */
export function createListenPrinter(context: Context, target: URL | undefined): (report: Report) => void {
  const { output } = context;
  const print = gatherLines((text) => output.line(text));
  if (output.json) return (report) => print(toJsonLine(report, context.now(), target));
  return (report) => {
    for (const line of linesOf(report, target, output.styles, context.now())) print(line);
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

function linesOf(report: Report, target: URL | undefined, styles: Styles, now: number): string[] {
  const time = styles.dim(clockTime(now));
  switch (report.event) {
    case "ready":
      return readyLines(report, target, styles);
    case "received":
      return [
        `${time}  ${styles.dim("→")}       ${report.type.padEnd(TYPE_WIDTH)} ${"".padEnd(TIMING_WIDTH)} ${styles.dim(report.id)}`,
      ];
    case "forwarded":
      return forwardedLines(report, styles, time);
    case "lost":
      return [`${time}  ${styles.warn("! lost")}  ${report.reason.message}; trying again`];
    case "retrying":
      return [
        `${time}  ${styles.warn("! lost")}  ${report.reason.message}; attempt ${report.failures}, the next in ${formatDuration(report.retryInMs)}`,
      ];
    case "restored": {
      const caughtUp = report.caughtUp === 1 ? "1 event" : `${report.caughtUp} events`;
      return [
        `${time}  ${styles.good("✓ back")}  after ${formatDuration(report.downtimeMs)}; caught up on ${caughtUp}`,
      ];
    }
    case "gap":
      return [
        `${time}  ${styles.bad("! gap")}   events behind ${report.from} are no longer kept; going on at ${report.to}`,
      ];
    case "duplicate":
      return [
        `${time}  ${styles.dim(`=       ${report.type.padEnd(TYPE_WIDTH)} came again and was dropped  ${report.id}`)}`,
      ];
    case "summary":
      return summaryLines(report, styles);
  }
}

function readyLines(ready: Extract<Report, { event: "ready" }>, target: URL | undefined, styles: Styles): string[] {
  const lines = [
    `${styles.good("✓")} ${styles.strong("Ready.")} Listening to ${styles.strong(ready.environment)} of ${ready.account}`,
    `  events   ${ready.subscriptions.join(", ")}`,
    `  forward  ${target?.href ?? "nowhere: events are printed (--forward-to sends them on)"}`,
    `  secret   ${ready.secret}`,
  ];
  if (ready.others > 0) {
    const who = ready.others === 1 ? "One other session listens" : `${ready.others} other sessions listen`;
    lines.push(`  ${styles.warn("note")}     ${who} too; each gets every event`);
  }
  return [...lines, styles.dim("  Ctrl-C ends"), ""];
}

function forwardedLines(report: ForwardedReport, styles: Styles, time: string): string[] {
  const { status, failure, hint, body } = report;
  const shown = status === undefined ? styles.bad(failure?.code ?? "failed") : colorStatus(status, styles);
  const width = status === undefined ? (failure?.code ?? "failed").length : 3;
  const timing = formatDuration(report.durationMs).padStart(TIMING_WIDTH);
  const lines = [
    `${time}  ${styles.dim("←")} ${shown}${" ".repeat(Math.max(1, 6 - width))}${report.type.padEnd(TYPE_WIDTH)} ${timing} ${styles.dim(report.id)}`,
  ];
  const indent = " ".repeat(18);
  if (failure !== undefined) lines.push(indent + printable(failure.message));
  if (body !== undefined && body !== "") lines.push(indent + styles.dim(printable(body.slice(0, BODY_SHOWN))));
  if (hint !== undefined) lines.push(`${indent}${styles.accent("hint")} ${printable(hint)}`);
  return lines;
}

function summaryLines({ received, forwarded, failed, duplicates, p50, p99 }: Summary, styles: Styles): string[] {
  const timing =
    p50 === undefined || p99 === undefined ? "" : `; p50 ${formatDuration(p50)}, p99 ${formatDuration(p99)}`;
  return [
    "",
    `${styles.strong("Summary")}  ${received} received, ${forwarded} forwarded, ${failed} failed, ${duplicates} duplicates dropped${timing}`,
  ];
}
