import { isId, lowestIdAt, timeOfId } from "../../../contract/ids.ts";
import type { ForwardedReport, Report } from "../../../relay/report.ts";
import { printable } from "../../terminal/printable.ts";
import type { Styles } from "../../terminal/styles.ts";
import { formatDuration } from "../../terminal/time.ts";
import { clockTime, colorStatus } from "../../terminal/traffic.ts";
import { fitId, indented, labelled, type Layout, replyLines } from "./layout.ts";
import type { Setup } from "./receivers.ts";
import { summaryLines } from "./summary-lines.ts";

export interface LineContext {
  styles: Styles;
  layout: Layout;
  setup: Setup;
  /** Unix milliseconds. */
  now: number;
}

/** A report as a person reads it. */
export function linesOf(report: Report, context: LineContext): string[] {
  const { styles, now } = context;
  switch (report.event) {
    case "ready":
      return readyLines(report, context);
    case "received":
      return [eventLine("→", "", report, "", context)];
    case "forwarded":
      return forwardedLines(report, context);
    case "lost":
      return notice(styles.warn("! lost"), `${report.reason.message.replace(/\.$/, "")}; reconnecting`, context);
    case "retrying": {
      const { reason, failures, retryInMs } = report;
      const text = `${reason.message}; attempt ${failures}, next in ${formatDuration(retryInMs)}`;
      return notice(styles.warn("! lost"), text, context);
    }
    case "restored": {
      const caughtUp = report.caughtUp === 1 ? "1 event" : `${report.caughtUp} events`;
      const text = `after ${formatDuration(report.downtimeMs)}; caught up on ${caughtUp}`;
      return notice(styles.good("✓ back"), text, context);
    }
    case "gap": {
      return notice(styles.bad("! gap "), gapText(report), context);
    }
    case "duplicate":
      return [`${styles.dim(clockTime(now))} ${styles.dim(`= ${report.type} duplicate dropped`)}`];
    case "hint":
      return indented(report.message, context.layout).map((line, i) => (i === 0 ? hinted(line, styles) : line));
    case "summary":
      return summaryLines(report, styles, context.layout);
  }
}

/** What a gap means for whoever listens. */
export function gapText({ from, to }: Extract<Report, { event: "gap" }>): string {
  if (from === to) return `event ${to} is corrupt in the platform's database and was not sent`;
  const next = isId("event", to) && to === lowestIdAt("event", timeOfId(to)) ? "new events" : to;
  return `events after ${from} may be missing: the platform no longer stores them; continuing with ${next}`;
}

function readyLines(ready: Extract<Report, { event: "ready" }>, context: LineContext): string[] {
  const { styles, layout } = context;
  const { target, routes, secret, chaos, credentialSource, ending } = context.setup;
  const nowhere = "none: events are printed (to forward them, pass --forward-to)";
  const lines = [
    `${styles.good("✓")} ${styles.strong("Ready.")} Listening to ${styles.strong(ready.environment)} of ${ready.account}`,
    ...(credentialSource === undefined ? [] : labelled("key", `from ${credentialSource}`, layout)),
    ...labelled("events", ready.subscriptions.join(", "), layout),
    ...routes.flatMap(({ subscription, url }) => labelled("route", `${subscription} → ${url.href}`, layout)),
    ...labelled(routes.length === 0 ? "forward" : "otherwise", target?.href ?? nowhere, layout),
    ...labelled("secret", secret === undefined ? ready.secret : "from --secret", layout),
    ...(chaos === undefined ? [] : labelled("chaos", chaos, layout)),
  ];
  if (ready.others > 0) {
    const who = ready.others === 1 ? "One other session is listening" : `${ready.others} other sessions are listening`;
    const [first = "", ...rest] = labelled("warning", `${who}; each receives every event`, layout);
    lines.push(first.replace("warning", styles.warn("warning")), ...rest);
  }
  return [...lines, ...(ending === undefined ? [] : [styles.dim(`  ${ending}`)]), ""];
}

function forwardedLines(report: ForwardedReport, context: LineContext): string[] {
  const { styles, layout } = context;
  const { status, failure, hint, reply, retryInMs } = report;
  const isForgery = report.copy === "badsig" || report.copy === "stale";
  const lines = [eventLine("←", statusOf(report, layout.narrow), report, formatDuration(report.durationMs), context)];
  if (failure !== undefined) lines.push(...indented(failure.message, layout));
  if (status !== undefined && status >= 400 && !isForgery) {
    lines.push(...replyLines(reply, layout).map((line) => styles.dim(line)));
  }
  if (isForgery && status !== undefined && status < 300) {
    const what = report.copy === "badsig" ? "a wrong signature" : "an old timestamp";
    const words = indented(`accepted a delivery with ${what}; it must be rejected`, layout);
    lines.push(...words.map((line) => styles.bad(line)));
  }
  if (hint !== undefined) {
    const [first = "", ...rest] = indented(`hint ${hint}`, layout);
    lines.push(first.replace("hint", styles.accent("hint")), ...rest);
  }
  if (retryInMs !== undefined) lines.push(...indented(`retrying in ${formatDuration(retryInMs)}`, layout));
  return lines;
}

function statusOf({ status, failure }: ForwardedReport, narrow: boolean): string {
  if (status !== undefined) return String(status);
  return narrow ? "err" : (failure?.code ?? "failed");
}

/** Time, status colored by class, type, duration, id, and what is special about it. */
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
    styles.dim(fitId(event.id, layout)),
  ].join(" ");
  const tags = tagsOf(event);
  if (tags === "") return line;
  const isTight = layout.width !== undefined && layout.width < 110;
  return isTight ? `${line}\n${layout.indent}${styles.warn(tags)}` : `${line} ${styles.warn(tags)}`;
}

const COPY_TAGS = {
  duplicate: "sent twice",
  badsig: "wrong signature",
  stale: "old timestamp",
  resent: "resent manually",
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

function notice(label: string, text: string, { styles, layout, now }: LineContext): string[] {
  const [first = "", ...rest] = indented(text, layout);
  const time = styles.dim(clockTime(now)) + (layout.narrow ? "" : " ");
  if (layout.narrow) return [`${time} ${label}`, first, ...rest];
  return [`${time} ${label}  ${first.trimStart()}`, ...rest];
}

function hinted(line: string, styles: Styles): string {
  const text = line.trimStart();
  return `${line.slice(0, line.length - text.length)}${styles.accent("hint")} ${text}`;
}
