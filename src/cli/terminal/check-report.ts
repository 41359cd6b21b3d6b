import type { CheckResult, ReceiverReport } from "../../receiver-check/run.ts";
import { counted } from "../../contract/words.ts";
import type { TestCase } from "./junit.ts";
import type { Output } from "./output.ts";
import { guidePath } from "../help-layout.ts";
import { printable } from "./printable.ts";
import { foldText } from "./spans.ts";
import type { Styles } from "./styles.ts";
import { viewOf } from "./view.ts";

/** The result of one check of a receiver or a client. */
export type Check = Omit<CheckResult, "group"> & { group: string };

export interface CheckReport extends Pick<ReceiverReport, "passed" | "verdict" | "counts" | "duration_ms"> {
  grade: string;
  checks: readonly Check[];
}

/** What was checked, and the groups of checks in the order of the report. */
interface Checked {
  label: string;
  name: string;
  groups: readonly string[];
}

/** Prints a report. With `isStreamed`, a pipe has its checks already. */
export async function printReport(
  report: CheckReport,
  checked: Checked,
  output: Output,
  { isStreamed = false } = {},
): Promise<void> {
  if (output.json || output.chosen) return await output.object(report, viewOf("report", report));
  if (output.quiet) {
    for (const { id, status } of report.checks) if (status === "failed") output.line(id);
  } else if (output.terminal) {
    for (const line of reportLines(report, checked, output.styles, output.width)) output.line(line);
  } else {
    const { own, left } = splitBlocked(report.checks);
    for (const check of own) if (!isStreamed || check.status === "skipped") output.line(checkLine(check));
    if (left.length > 0) output.line(["CHECK", "skipped", "", counted(left.length, "check"), left[0]!.seen].join("\t"));
    output.line(["GRADE", report.grade, formatCounts(report.counts), report.verdict].join("\t"));
  }
}

const MAX_WIDTH = 120;
const MIN_WIDTH = 16;
const MAX_LINES = 6;

/** Formats a check for a pipe. */
export function checkLine({ status, level, id, seen, explanation, fix }: Check): string {
  const parts = ["CHECK", status, level, id, seen, explanation, fix];
  return parts
    .filter((part) => part !== null)
    .map(printable)
    .join("\t");
}

/** Renders the report on something for a terminal: a line per check, and below a failure its cause and fix. */
function reportLines(
  report: CheckReport,
  { label, name, groups }: Checked,
  styles: Styles,
  terminalWidth: number,
): string[] {
  const width = Math.min(terminalWidth, MAX_WIDTH);
  const titleWidth = Math.max(...report.checks.map(({ title }) => title.length));
  const lines = [`${styles.strong(label)}  ${printable(name)}`];
  const { own, left } = splitBlocked(report.checks);
  let reason = "";
  let failure: Check | undefined;
  for (const group of groups) {
    const shown = own.filter((result) => result.group === group);
    if (shown.length > 0) lines.push("", styles.strong(group));
    for (const result of shown) {
      lines.push(...resultLines(result, { styles, width, titleWidth, reason, failure }));
      if (result.status === "failed") failure = result;
      else if (result.status !== "passed") reason = result.seen;
    }
  }
  if (left.length > 0) {
    const text = `${left.length} more: ${left[0]!.seen}`;
    lines.push("", ...foldText(text, width, MAX_LINES).map((line) => styles.dim(line)));
  }
  const grade = styles.strong(`Grade ${report.grade}`);
  lines.push("", `${report.passed ? styles.good(grade) : styles.bad(grade)}  ${formatCounts(report.counts)}`);
  return [...lines, ...foldText(report.verdict, width, MAX_LINES)];
}

/** Separates the last checks if they were skipped for the same reason: a line for each would hide the reason. */
function splitBlocked(checks: readonly Check[]): { own: readonly Check[]; left: readonly Check[] } {
  const last = checks.at(-1);
  if (last?.status !== "skipped") return { own: checks, left: [] };
  const isBlocked = ({ status, seen }: Check) => status === "not_applicable" || seen === last.seen;
  const start = checks.findLastIndex((result) => !isBlocked(result)) + 1;
  return { own: checks.slice(0, start), left: checks.slice(start).filter(({ status }) => status === "skipped") };
}

interface Layout {
  styles: Styles;
  width: number;
  titleWidth: number;
  /** Why the previous check did not run: the same reason is not repeated. */
  reason: string;
  /** The previous failure: the same explanation is not repeated. */
  failure: Check | undefined;
}

function resultLines(result: Check, layout: Layout): string[] {
  const { styles, width, titleWidth, reason } = layout;
  const { status, level, title, seen } = result;
  const mark = markOf(result, styles);
  if (status === "failed") {
    const advisory = level === "advisory" ? styles.dim(" (advisory)") : "";
    return [`  ${mark} ${styles.strong(title)}${advisory}`, ...failureLines(result, layout)];
  }
  if (status === "skipped" || status === "not_applicable") {
    const details = foldText(seen === reason ? "As above" : seen, width - 6, MAX_LINES);
    return [`  ${mark} ${styles.dim(title)}`, ...details.map((line) => `      ${styles.dim(line)}`)];
  }
  const available = width - titleWidth - 6;
  if (available < MIN_WIDTH) return [`  ${mark} ${title}`];
  const lines = foldText(seen, available, MAX_LINES).map((line) => styles.dim(line));
  return lines.map((line, i) => `  ${i === 0 ? mark : " "} ${(i === 0 ? title : "").padEnd(titleWidth)}  ${line}`);
}

function failureLines({ sent, seen, explanation, fix, rule }: Check, layout: Layout): string[] {
  const { styles, width, failure } = layout;
  const parts: [label: string, text: string | null][] = [
    ["Sent", sent],
    ["Seen", seen],
  ];
  if (failure?.explanation === explanation && failure?.fix === fix) parts.push(["Fix", "As above"]);
  else parts.push(["Why", explanation], ["Fix", fix]);
  if (failure?.rule !== rule)
    parts.push(["Rule", rule.startsWith("docs/") ? guidePath(rule.slice("docs/".length)) : rule]);
  return parts.flatMap(([label, text]) => {
    // A path is copied, so that it stays in one piece.
    const folded = foldText(text ?? "", label === "Rule" ? Infinity : Math.max(MIN_WIDTH, width - 12), MAX_LINES);
    return folded.map((line, i) => {
      const shown = label === "Fix" ? line : label === "Seen" ? styles.warn(line) : styles.dim(line);
      return `      ${styles.dim((i === 0 ? label : "").padEnd(4))}  ${shown}`;
    });
  });
}

function markOf({ status, level }: Check, styles: Styles): string {
  if (status === "passed") return styles.good("✓");
  if (status === "skipped" || status === "not_applicable") return styles.dim("–");
  return level === "required" ? styles.bad("✗") : styles.warn("!");
}

function formatCounts({ passed, failed, skipped, not_applicable }: CheckReport["counts"]): string {
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  return not_applicable === 0 ? counts : `${counts}, ${not_applicable} not applicable`;
}

/** Returns a case for each check. Failed advisory checks count as skipped. */
export function testCasesOf({ checks }: CheckReport): TestCase[] {
  return checks.map((check) => {
    const { id, title, group, level, status, seen, duration_ms: milliseconds } = check;
    const one = { classname: `${group}.${id}`, name: title, milliseconds };
    if (status === "passed") return one;
    if (status !== "failed") return { ...one, skipped: seen };
    return level === "required"
      ? { ...one, failure: { message: seen, text: details(check) } }
      : { ...one, skipped: `advisory: ${seen}` };
  });
}

function details({ sent, seen, explanation, fix, rule }: Check): string {
  return [`Sent: ${sent}`, `Seen: ${seen}`, `Why: ${explanation ?? ""}`, `Fix: ${fix ?? ""}`, `Rule: ${rule}`].join(
    "\n",
  );
}
