import type { Waiting } from "../../contract/listen.ts";
import { parseJson } from "../../contract/json.ts";
import type { Setup } from "./options.ts";
import {
  type Fold,
  gapText,
  hasFailed,
  layoutFor,
  linesOf,
  recordOf,
  resetText,
  unsentLines,
  waitingLines,
} from "./lines.ts";
import type { Context } from "../context.ts";
import type { EnvironmentClock } from "../environment-time.ts";
import { printable, printableJson } from "../terminal/printable.ts";
import type { Styles } from "../terminal/styles.ts";
import type { Report } from "../../relay/report.ts";
import type { Feed } from "./ui/feed.ts";

/** The output of a run, and the keys that act on it. */
export interface Display {
  print(report: Report): void;
  warn(text: string): void;
  /** Called when the run's clock has been read. */
  clockRead(): void;
  /** Shows a screen from now on, which says that the run is ready; absent if there is none. */
  begin?(feed: Feed): void;
  /** Shows what events wait for, until it is called without. */
  waitUntil?(awaited: Waiting | undefined): void;
  /** Restores the terminal. */
  stop?(): void;
  /** Call this last. Resolves once the output was read, or dropped after a timeout. */
  settle?(): Promise<void>;
}

/** Where lines go. */
export interface LineSink {
  /** One or more lines, without the last line break. */
  write(text: string): void;
  /** Width of the terminal; undefined in a pipe. */
  width(): number | undefined;
  readonly styles: Styles;
}

/**
 * Prints the reports of a run: text for a person, JSON lines, or with `--quiet` the IDs of events. A screen shows by
 * itself what the session is. `records` gets a line for each event and each attempt, so that the sink gets only the rest.
 */
export async function createListenPrinter(
  context: Context,
  sink: LineSink,
  setup: Setup,
  clock: EnvironmentClock,
  { hasScreen = false, records }: { hasScreen?: boolean; records?: LineSink | undefined } = {},
): Promise<(report: Report) => void> {
  const { output } = context;
  const data = records ?? sink;
  const write = output.json ? (text: string) => output.line(text) : (text: string) => data.write(text);
  const { add, flush } = gatherLines(write);
  const notes =
    records === undefined || output.json || output.quiet ? { add, flush } : gatherLines((text) => sink.write(text));
  const fold = sink.width() === undefined ? undefined : (await import("../terminal/spans.ts")).foldText;
  const render = rendererOf(context, sink, { ...setup, fold, isSplit: records !== undefined }, clock);
  return (report) => {
    const lines = render(report);
    if (notes.add !== add && (report.event === "received" || report.event === "forwarded")) {
      add(recordOf(report, context.now(), setup.explains === true));
    }
    if (!hasScreen || report.event !== "ready") for (const line of lines) notes.add(line);
    // Printed after this: the error that explains why the command failed, or the terminal UI.
    if (report.event !== "summary" && report.event !== "ready") return;
    flush();
    notes.flush();
  };
}

/** Returns the lines of a report. */
function rendererOf(
  context: Context,
  sink: LineSink,
  { fold, ...setup }: Setup & { fold: Fold | undefined },
  clock: EnvironmentClock,
): (report: Report) => string[] {
  const { output } = context;
  if (output.json) return (report) => [toJsonLine(report, context.now(), setup)];
  if (output.quiet) {
    return (report) => {
      // Otherwise the list of IDs would have an invisible gap.
      if (report.event === "gap") output.warn(gapText(report));
      if (report.event === "reset" && report.dropped.length > 0) output.warn(resetText(report));
      return report.event === "received" ? [printable(report.id)] : [];
    };
  }
  const { styles } = sink;
  const withoutRepetition = dropRepeatedHints();
  let isReady = setup.credentialSource === undefined;
  let isWaiting = false;
  let isExplained = false;
  /** True once other sessions were mentioned, until the last of them ends. */
  let isShared = false;
  /** Why the connection is lost, as printed. */
  let lostReason: string | undefined;
  let layout = layoutFor(sink.width(), fold);
  return (report) => {
    const width = sink.width();
    if (width !== layout.width) layout = layoutFor(width, fold);
    const line = { setup, styles, layout, now: clock.now() };
    if (report.event === "ready") isReady = true;
    // Before the first connection nothing was lost, and there is nothing to sum up.
    if (!isReady && report.event === "summary") return [];
    if (!isReady && (report.event === "lost" || report.event === "retrying")) {
      if (isWaiting) return [];
      isWaiting = true;
      return waitingLines(report.reason.message, line);
    }
    if (report.event === "joined" && isShared) return [];
    if ("others" in report) isShared = report.others > 0;
    if (report.event === "restored") lostReason = undefined;
    if (report.event === "lost" || report.event === "retrying") {
      // Each attempt to reconnect fails for the same reason.
      if (report.reason.message === lostReason) return [];
      lostReason = report.reason.message;
    }
    const lines = linesOf(withoutRepetition(report), line);
    if (report.event === "summary" && setup.explains !== undefined)
      return [...lines, ...unsentLines(report.unsent, setup).map((text) => output.runnable(text))];
    if (isExplained || report.event !== "forwarded" || !hasFailed(report) || setup.explains === undefined) {
      return lines;
    }
    isExplained = true;
    return [...lines, layout.indent + output.runnable(`to explain it: service why ${printable(report.id)}`)];
  };
}

/** Replaces lines that the reader was too slow to receive. */
export function omittedLine(lines: number, context: Context): string {
  if (!context.output.json) return `… ${lines} unread lines omitted`;
  return JSON.stringify({ event: "left_out", lines, time: new Date(context.now()).toISOString() });
}

/** A receiver that is down fails many events. The hint is printed once, not for each event. */
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

/**
 * Writes the lines of one turn of the event loop at once: a separate write for each line would cost more than relaying
 * the events.
 */
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

/** Returns a report as a line of `listen --json`: names in snake_case, durations in milliseconds. */
function toJsonLine(report: Report, now: number, setup: Setup): string {
  if (report.event !== "received") return printableJson(JSON.stringify(toRecord(report, now, setup)));
  const { id, type, body, verified } = report;
  const time = new Date(now).toISOString();
  const isValid = verified === undefined ? undefined : verified === true;
  const reason = verified === true ? undefined : verified;
  const start = JSON.stringify({ event: "received", id, type, verified: isValid, reason });
  return printableJson(`${start.slice(0, -1)},"payload":${payloadOf(body)},"time":"${time}"}`);
}

/** Returns a body as one line of JSON with its exact numbers; one that is not JSON becomes a string. */
function payloadOf(body: string): string {
  if (parseJson(body) === undefined) return JSON.stringify(body);
  // Valid JSON contains these characters only between its tokens.
  return body.replaceAll(/[\t\n\r]/g, " ");
}

function toRecord(
  report: Exclude<Report, { event: "received" }>,
  now: number,
  { target, routes, secret, chaos, credentialSource }: Setup,
): object {
  const time = new Date(now).toISOString();
  switch (report.event) {
    case "ready":
      return {
        ...report,
        secret: secret ?? report.secret,
        forward_to: target?.href ?? null,
        routes: routes.map(({ subscription, url }) => ({ events: subscription, forward_to: url.href })),
        chaos,
        credential_source: credentialSource,
        time,
      };
    case "forwarded": {
      const { event, id, type, attempt, status, location, failure, hint, url, faults, copy, excerpt } = report;
      const retry_in_ms = report.retryInMs === undefined ? undefined : round(report.retryInMs);
      const sent = { event, id, type, status: status ?? null, duration_ms: round(report.durationMs), attempt };
      const error = failure && { code: failure.code, message: failure.message };
      const body = status !== undefined && status >= 400 ? excerpt : undefined;
      return { ...sent, url: url.href, retry_in_ms, chaos: faults, copy, location, error, hint, body, time };
    }
    case "gap":
    case "reset":
      return { ...report, dropped: report.dropped?.length, time };
    case "summary": {
      const { event, received, filteredOut, forwarded, failed, resolved, waiting, dropped, duplicates } = report;
      const { p50, p99, chaos } = report;
      const sent = { forwarded, failed, resolved, not_forwarded: waiting };
      const counts = { received, filtered_out: filteredOut, ...sent, dropped, duplicates };
      const [p50_ms, p99_ms] = [p50, p99].map((duration) => (duration === undefined ? null : round(duration)));
      return { event, ...counts, p50_ms, p99_ms, chaos, time };
    }
    default:
      return { ...inSnakeCase(report), time };
  }
}

function inSnakeCase(report: object): object {
  const members = Object.entries(report).map(([name, value]: [string, unknown]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name.endsWith("Ms") ? round(value as number) : value,
  ]);
  return Object.fromEntries(members) as object;
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
