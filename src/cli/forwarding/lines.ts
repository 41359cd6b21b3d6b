import { labelOfFailure } from "../../contract/failure-labels.ts";
import { isSuccess } from "../../contract/is-success.ts";
import { isId, lowestIdAt, timeOfId } from "../../contract/ids.ts";
import { problemDetail } from "../../contract/errors.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { counted, listed } from "../../contract/words.ts";
import { typed } from "../../explain/resend.ts";
import type { ChaosSummary, FaultTally } from "../../relay/chaos.ts";
import { isForgery } from "../../relay/chaos-settings.ts";
import type { ForwardedReport, ReceivedReport, Report, Summary } from "../../relay/report.ts";
import { printable } from "../terminal/printable.ts";
import type { Styles } from "../terminal/styles.ts";
import { formatDuration } from "../terminal/time.ts";
import { clockTime, colorStatus } from "../terminal/traffic.ts";
import { wrapList, wrapWords } from "../terminal/wrap.ts";
import type { Receivers, Setup } from "./options.ts";

interface LineContext {
  styles: Styles;
  layout: Layout;
  setup: Setup;
  /** Unix milliseconds. */
  now: number;
}

/** Renders a report for a terminal. */
export function linesOf(report: Report, context: LineContext): string[] {
  const { styles, now } = context;
  switch (report.event) {
    case "ready":
      return readyLines(report, context);
    case "received":
      return receivedLines(report, context);
    case "forwarded":
      return forwardedLines(report, context);
    case "lost":
    case "retrying":
      return notice("! lost", "warn", `${report.reason.message.replace(/\.$/, "")}; reconnecting`, context);
    case "restored":
      return notice("✓ back", "good", restoredText(report), context);
    case "gap":
      return notice("! gap", "bad", gapText(report), context);
    case "reset":
      return notice("! reset", "warn", resetText(report), context);
    case "joined":
      return notice("!", "warn", othersText(report.others), context);
    case "left":
      return [];
    case "duplicate":
      return [`${styles.dim(clockTime(now))} ${styles.dim(`= ${report.type} duplicate dropped`)}`];
    case "hint":
      return hintLines(report.message, context);
    case "summary":
      return summaryLines(report, context);
  }
}

/** Says, once, that the platform cannot be reached yet. */
export function waitingLines(reason: string, context: LineContext): string[] {
  return notice("… wait", "warn", `waiting for the platform: ${reason.replace(/\.$/, "")}`, context);
}

/** Returns true for the last attempt of a delivery that failed. */
export function hasFailed({ status, retryInMs, copy }: ForwardedReport): boolean {
  return retryInMs === undefined && copy === undefined && !isSuccess(status);
}

/** Returns how long the connection was lost, and how many events were missed. */
export function restoredText({ downtimeMs, caughtUp }: Extract<Report, { event: "restored" }>): string {
  const missed = caughtUp === 0 ? "no new events" : `caught up on ${counted(caughtUp, "event")}`;
  return `after ${formatDuration(downtimeMs)}; ${missed}`;
}

export function resetText({ dropped }: Extract<Report, { event: "reset" }>): string {
  return `the sandbox was reset; ${droppedText(dropped)}listening for new events`;
}

function droppedText(dropped: readonly string[]): string {
  if (dropped.length === 0) return "";
  const which =
    dropped.length === 1
      ? "1 waiting event, which no longer exists"
      : `${dropped.length} waiting events, which no longer exist`;
  return `dropped ${which}; `;
}

export function gapText({ from, to, reason, dropped = [] }: Extract<Report, { event: "gap" }>): string {
  if (reason === "reset") {
    return `the sandbox was reset since ${from}; ${droppedText(dropped)}continuing with its first new event`;
  }
  if (from === to) return `event ${to} is corrupt in the platform's database and was not sent`;
  const next = isId("event", to) && to === lowestIdAt("event", timeOfId(to)) ? "new events" : to;
  return `events after ${from} may be missing: the platform no longer stores them; continuing with ${next}`;
}

function readyLines(ready: Extract<Report, { event: "ready" }>, context: LineContext): string[] {
  const { styles, layout, setup } = context;
  const { ending } = setup;
  const lines = [
    `${styles.good("✓")} ${styles.strong("Ready.")} Listening to ${styles.strong(ready.environment)} of ${ready.account}`,
    ...factsOf(ready, setup).flatMap(([label, text]) => labelled(label, text, layout)),
  ];
  if (ready.others > 0) {
    const [first = "", ...rest] = labelled("warning", othersText(ready.others), layout);
    lines.push(first.replace("warning", styles.warn("warning")), ...rest);
  }
  return [...lines, ...(ending === undefined ? [] : [styles.dim(`  ${ending}`)]), ""];
}

/** Says that other sessions listen to the same events. */
export function othersText(count: number): string {
  const who = count === 1 ? "One other session is listening" : `${count} other sessions are listening`;
  return `${who}; each receives every event`;
}

/** What a user needs to know about a session, each item with its label. */
export function factsOf(
  ready: Extract<Report, { event: "ready" }>,
  { target, routes, secret, secretSource, chaos, credentialSource, where, hiddenSecret }: Setup,
): [label: string, text: string][] {
  const nowhere = "none: events are printed (to forward them, pass --forward-to)";
  const facts: [string, string][] = [
    ["events", ready.subscriptions.join(", ")],
    ...(where === undefined ? [] : [["where", where.join(" and ")] as [string, string]]),
    ...routes.map(({ subscription, url }): [string, string] => ["route", `${subscription} → ${url.href}`]),
    [routes.length === 0 ? "forward" : "others", target?.href ?? nowhere],
    ["secret", secret === undefined ? (hiddenSecret ?? ready.secret) : `from ${secretSource}`],
  ];
  if (credentialSource !== undefined) facts.unshift(["key", `from ${credentialSource}`]);
  if (chaos !== undefined) facts.push(["chaos", chaos]);
  return facts;
}

function receivedLines(report: ReceivedReport, context: LineContext): string[] {
  const { styles, layout, setup } = context;
  if (setup.isSplit) return [];
  const line = eventLine("→", "", report, "", context);
  const { verified } = report;
  if (verified === undefined) return [line];
  if (verified === true) return [`${line} ${styles.good("signature valid")}`];
  return [line, ...indented(`signature invalid: ${verified.message}`, layout).map((text) => styles.bad(text))];
}

function hintLines(hint: string | undefined, { styles, layout }: LineContext): string[] {
  if (hint === undefined) return [];
  const [first = "", ...rest] = indented(`Hint: ${hint}`, layout);
  return [first.replace("Hint:", styles.accent("Hint:")), ...rest];
}

/**
 * Returns an event or an attempt as a line in a pipe: time, status, type, ID, milliseconds, notes and response. If the run
 * retries, the notes say so of each failure.
 */
export function recordOf(report: ReceivedReport | ForwardedReport, now: number, retries: boolean): string {
  const { id, type } = report;
  const start = (status: string): string[] => [new Date(now).toISOString(), status, type, id];
  if (report.event === "received") {
    const { verified } = report;
    const notes = verified === undefined ? "" : verified === true ? "signature valid" : "signature invalid";
    const why = verified === undefined || verified === true ? "" : verified.message;
    return [...start("received"), "", notes, why].map(printable).join("\t");
  }
  const { durationMs, status, failure, excerpt, retryInMs } = report;
  const next = retryInMs !== undefined ? "retrying" : retries && hasFailed(report) ? "gave up" : "";
  const said = acceptedForgery(report) ?? failure?.message ?? problemDetail(excerpt) ?? titleOf(excerpt) ?? excerpt;
  const response = said.trim().slice(0, MAX_RESPONSE_LENGTH);
  return [
    ...start(String(status ?? failure?.code ?? "network")),
    String(Math.round(durationMs)),
    [tagsOf(report), next].filter(Boolean).join(", "),
    response,
  ]
    .map(printable)
    .join("\t");
}

function forwardedLines(report: ForwardedReport, context: LineContext): string[] {
  const { styles, layout, setup } = context;
  if (setup.isSplit) return hintLines(report.hint, context);
  const { status, failure, excerpt, retryInMs } = report;
  const forgery = acceptedForgery(report);
  const lines = [eventLine("←", columnOf(report, layout.narrow), report, formatDuration(report.durationMs), context)];
  if (failure !== undefined) lines.push(...indented(failure.message, layout));
  if (status !== undefined && status >= 400 && !isForgery(report.copy)) {
    lines.push(...excerptLines(excerpt, layout).map((line) => styles.dim(line)));
  }
  if (forgery !== undefined) lines.push(...indented(forgery, layout).map((line) => styles.bad(line)));
  lines.push(...hintLines(report.hint, context));
  if (retryInMs !== undefined) lines.push(...indented(`retrying in ${formatDuration(retryInMs)}`, layout));
  return lines;
}

/** Says that the receiver accepted a delivery which it must reject. */
export function acceptedForgery({ copy, status }: ForwardedReport): string | undefined {
  if (!isForgery(copy) || !isSuccess(status)) return undefined;
  const what = copy === "badsig" ? "a wrong signature" : "an old timestamp";
  return `accepted a delivery with ${what}; it must be rejected`;
}

function columnOf({ status, failure }: ForwardedReport, narrow: boolean): string {
  if (status !== undefined) return String(status);
  return narrow ? "err" : labelOfFailure(failure?.code);
}

/** Time, status colored by class, type, duration, ID and notes. */
function eventLine(
  arrow: string,
  status: string,
  event: { id: string; type: string } & Partial<Pick<ForwardedReport, "attempt" | "copy" | "faults">>,
  timing: string,
  { styles, layout, now }: Pick<LineContext, "styles" | "layout" | "now">,
): string {
  const code = Number(status);
  const colored = status === "" ? "" : Number.isNaN(code) ? styles.bad(status) : colorStatus(code, styles);
  const gap = " ".repeat(Math.max(layout.status - status.length, status === "" ? 0 : 1));
  const type = printable(event.type).padEnd(layout.type);
  const line = [
    styles.dim(clockTime(now)) + (layout.narrow ? "" : " "),
    `${styles.dim(arrow)} ${colored}${gap}${type} ${timing.padStart(layout.timing)}`,
    styles.dim(fitId(printable(event.id), type.length, layout)),
  ].join(" ");
  const tags = tagsOf(event);
  if (tags === "") return line;
  const isTight = layout.width !== undefined && layout.width < 110;
  return isTight ? `${line}\n${layout.indent}${styles.warn(tags)}` : `${line} ${styles.warn(tags)}`;
}

export const COPY_TAGS = {
  duplicate: "sent twice",
  badsig: "wrong signature",
  stale: "old timestamp",
  resent: "resent",
} as const;

function tagsOf({
  attempt = 1,
  copy,
  faults = [],
}: Partial<Pick<ForwardedReport, "attempt" | "copy" | "faults">>): string {
  if (copy !== undefined) return COPY_TAGS[copy];
  const own = attempt > 1 ? [`attempt ${attempt}`] : [];
  return [...own, ...faults].join(", ");
}

function notice(label: string, style: keyof Styles, text: string, { styles, layout, now }: LineContext): string[] {
  const mark = layout.narrow || label === "!" ? `${label} ` : `${label.padEnd(6)}  `;
  const [first = "", ...rest] = indented(mark + text, layout);
  const time = styles.dim(clockTime(now)) + (layout.narrow ? "" : " ");
  return [`${time} ${first.trimStart().replace(label, (found) => styles[style](found))}`, ...rest];
}

/** The account, at the end. */
function summaryLines(summary: Summary, { styles, layout: { width }, setup }: LineContext): string[] {
  const {
    received,
    forwarded,
    failed,
    resolved,
    waiting,
    dropped,
    duplicates,
    p50,
    p99,
    chaos,
    filteredOut = 0,
  } = summary;
  const [arrived, left] = setup.isRecorded ? ["read", "sent"] : ["received", "forwarded"];
  const timing =
    p50 === undefined || p99 === undefined
      ? ""
      : `; 2xx responses: p50 ${formatDuration(p50)}, p99 ${formatDuration(p99)}`;
  const counts = [
    `${received} ${arrived}`,
    ...(filteredOut > 0 ? [`${filteredOut} filtered out`] : []),
    `${forwarded} ${left}`,
    `${failed} failed`,
    ...(resolved > 0 ? [`${resolved} resolved by resend`] : []),
    ...(dropped > 0 ? [`${dropped} lost in a reset`] : []),
    ...(waiting > 0 ? [`${waiting} not ${left}`] : []),
    ...(duplicates ? [`${counted(duplicates, "duplicate")} dropped`] : []),
  ];
  const text = `Summary  ${counts.join(", ")}${timing}`;
  const [first = "", ...rest] = width === undefined ? [text] : wrapList(text, width - 9);
  return [
    "",
    first.replace("Summary", styles.strong("Summary")),
    ...rest.map((line) => " ".repeat(9) + line),
    ...(chaos === undefined ? [] : chaosLines(chaos, styles)),
  ];
}

const MAX_NAMED = 5;

/** Names the events that the application has not accepted, and the command that sends them again. */
export function unsentLines(ids: readonly string[], { target, routes }: Receivers): string[] {
  const [first] = ids;
  const url = target ?? routes[0]?.url;
  if (first === undefined || url === undefined) return [];
  const more = ids.length > MAX_NAMED ? [`${ids.length - MAX_NAMED} more`] : [];
  const selection = ids.length === 1 ? [first] : ["--since", formatTimestamp(timeOfId(first))];
  const command = shellCommand`service events replay ${selection} --forward-to ${typed(url.href)}`;
  return [
    `Not delivered: ${listed([...ids.slice(0, MAX_NAMED), ...more], "and")}`,
    ids.length === 1 ? "To send it again:" : "To send these and later events again:",
    `  ${command}`,
  ];
}

/** Renders how the receiver responded to each kind of fault, and whether that was correct. */
function chaosLines({ seed, faults }: ChaosSummary, styles: Styles): string[] {
  const rows = Object.entries(faults).map(([fault, counts]) => {
    const right = isForgery(fault) ? "reject it with 400" : "accept it with 2xx";
    const isRight = counts.right === counts.sent;
    const mark = counts.sent === 0 ? styles.dim("–") : isRight ? styles.good("✓") : styles.bad("✗");
    const wrong = isRight ? "" : styles.bad(`; ${right}`);
    return `  ${mark} ${fault.padEnd(9)} ${String(counts.sent).padStart(5)} sent  ${outcomes(counts)}${wrong}`;
  });
  return [`${styles.strong("Chaos")}    seed=${seed} repeats the same faults`, ...rows];
}

function outcomes({ accepted, refused, failed }: FaultTally): string {
  const parts = Object.entries({ accepted, rejected: refused, failed }).filter(([, count]) => count > 0);
  return parts.map(([name, count]) => `${count} ${name}`).join(", ");
}

/** From this width on an event's line has room for everything. */
const WIDE = 80;
const MAX_RESPONSE_LENGTH = 4096;

/** Widths of the columns of a line. */
type Layout = ReturnType<typeof layoutFor>;

/** `foldText`, which only a terminal needs: its measurement of text takes long to load. */
export type Fold = (text: string, width: number, maxLines: number) => string[];

/** `indent` is that of details below a line. */
const FULL = { narrow: false, status: 8, type: 22, timing: 9, indent: " ".repeat(20) };
const NARROW = { narrow: true, status: 4, type: 19, timing: 7, indent: " ".repeat(9) };

/** Returns the layout for a terminal of this width; undefined in a pipe, where lines are not cut. */
export function layoutFor(width: number | undefined, fold: Fold | undefined) {
  return { ...(width !== undefined && width < WIDE ? NARROW : FULL), width, fold };
}

/** Returns an event's ID, without its middle if there is no room next to its type: the end distinguishes events. */
function fitId(id: string, typeLength: number, { narrow, status, timing, width = Infinity }: Layout): string {
  const available = width - (narrow ? 8 : 9) - 5 - status - typeLength - timing;
  return id.length > available ? `${id.slice(0, 4)}…${id.slice(-Math.max(available - 5, 4))}` : id;
}

function indented(text: string, { indent, width }: Layout): string[] {
  const safe = printable(text);
  const lines = width === undefined ? [safe] : wrapWords(safe, Math.max(width - indent.length, 20));
  return lines.map((line) => indent + line);
}

/** The first lines of a response below its event; a page of HTML would fill the terminal. */
const MAX_RESPONSE_LINES = 3;

/** Returns the title of an HTML page. */
function titleOf(excerpt: string): string | undefined {
  return /^\s*<(?:!doctype|html)/i.test(excerpt) ? /<title[^>]*>([^<]*)/i.exec(excerpt)?.[1]?.trim() : undefined;
}

/** Returns the title of an HTML page or the first lines of a response, and how much more there is. */
function excerptLines(body: string, layout: Layout): string[] {
  const excerpt = problemDetail(body) ?? body;
  if (layout.fold === undefined) return responseLines(excerpt, layout);
  const title = titleOf(excerpt);
  if (title === undefined && responseLines(excerpt, layout).length <= MAX_RESPONSE_LINES)
    return responseLines(excerpt, layout);
  const shown = responseLines(title ?? excerpt, layout).slice(0, MAX_RESPONSE_LINES);
  const size = excerpt.length < 1024 ? `${excerpt.length} characters` : `${Math.round(excerpt.length / 1024)} KB`;
  const whole = title === undefined ? size : `HTML page of ${size}`;
  return [...shown, `${layout.indent}… (cut; ${whole}, --json shows all)`];
}

/** Returns the beginning of a response as indented lines, with its own line breaks on a terminal. */
export function responseLines(excerpt: string, { indent, width, fold }: Layout): string[] {
  const shown = excerpt.slice(0, MAX_RESPONSE_LENGTH);
  if (shown.trim() === "") return [];
  if (width === undefined || fold === undefined) {
    return shown
      .trimEnd()
      .split(/\r?\n/)
      .map((line) => indent + printable(line));
  }
  const available = Math.max(width - indent.length, 20);
  return fold(shown, available, MAX_RESPONSE_LENGTH).map((line) => indent + line);
}

/** Returns a name and the text after it, further lines aligned with the text. */
export function labelled(label: string, text: string, { width }: Layout): string[] {
  const start = `  ${label.padEnd(9)}`;
  const lines = width === undefined ? [text] : wrapWords(text, Math.max(width - start.length, 20));
  return lines.map((line, i) => (i === 0 ? start : " ".repeat(start.length)) + line);
}
