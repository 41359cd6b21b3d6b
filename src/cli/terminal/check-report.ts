import { escapeXml, printable } from "./printable.ts";
import { foldText } from "./spans.ts";
import type { Styles } from "./styles.ts";

/**
 * `skipped`: the check could not run. `not_applicable`: there is nothing to check. `seen` contains the reason. Only
 * required checks determine the exit code.
 */
export type Status = "passed" | "failed" | "skipped" | "not_applicable";

/** The result of one check of a receiver or a client. */
export interface Check {
  id: string;
  title: string;
  group: string;
  rule: string;
  level: "required" | "advisory";
  status: Status;
  sent: string;
  seen: string;
  /** The meaning of the failure and its fix; null if it passed. */
  explanation: string | null;
  fix: string | null;
  duration_ms: number;
}

/** What all reports have in common. */
export interface CheckReport {
  passed: boolean;
  /** Null if nothing was there to grade. */
  grade: string | null;
  /** The grade in a sentence. */
  verdict: string;
  counts: Record<Status, number>;
  duration_ms: number;
  checks: readonly Check[];
}

/** Counts checks by status. */
export function countsOf(checks: readonly Check[]): CheckReport["counts"] {
  const counts = { passed: 0, failed: 0, skipped: 0, not_applicable: 0 };
  for (const { status } of checks) counts[status] += 1;
  return counts;
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

/** The end of the report in a pipe. */
export function gradeLine({ grade, verdict, counts }: CheckReport): string {
  return ["GRADE", grade ?? "none", formatCounts(counts), verdict].join("\t");
}

/** Renders the report on something for a terminal: a line per check, and below a failure its cause and fix. */
export function reportLines(
  report: CheckReport,
  { label, name, groups }: { label: string; name: string; groups: readonly string[] },
  styles: Styles,
  terminalWidth: number,
): string[] {
  const width = Math.min(terminalWidth, MAX_WIDTH);
  const titleWidth = Math.max(...report.checks.map(({ title }) => title.length));
  const lines = [`${styles.strong(label)}  ${printable(name)}`];
  const blocked = blockedFrom(report.checks);
  let reason = "";
  let failure: Check | undefined;
  for (const group of groups) {
    const shown = report.checks.slice(0, blocked).filter((result) => result.group === group);
    if (shown.length > 0) lines.push("", styles.strong(group));
    for (const result of shown) {
      lines.push(...resultLines(result, { styles, width, titleWidth, reason, failure }));
      if (result.status === "failed") failure = result;
      else if (result.status !== "passed") reason = result.seen;
    }
  }
  const left = report.checks.slice(blocked).filter(({ status }) => status === "skipped");
  if (left.length > 0) {
    const text = `${left.length} more: ${left[0]!.seen}`;
    lines.push("", ...foldText(text, width, MAX_LINES).map((line) => styles.dim(line)));
  }
  const grade = styles.strong(report.grade === null ? "No grade" : `Grade ${report.grade}`);
  lines.push("", `${report.passed ? styles.good(grade) : styles.bad(grade)}  ${formatCounts(report.counts)}`);
  return [...lines, ...foldText(report.verdict, width, MAX_LINES)];
}

/** The start of a group of checks that were skipped for the same reason: a line for each would hide the reason. */
function blockedFrom(checks: readonly Check[]): number {
  const last = checks.at(-1);
  if (last?.status !== "skipped") return checks.length;
  const isBlocked = ({ status, seen }: Check) => status === "not_applicable" || seen === last.seen;
  return checks.findLastIndex((result) => !isBlocked(result)) + 1;
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
    const details = seen === reason ? [] : foldText(seen, width - 6, MAX_LINES);
    return [`  ${mark} ${styles.dim(title)}`, ...details.map((line) => `      ${styles.dim(line)}`)];
  }
  const available = width - titleWidth - 6;
  if (available < MIN_WIDTH) return [`  ${mark} ${title}`];
  const [brief = ""] = foldText(seen, available, 1);
  return [`  ${mark} ${title.padEnd(titleWidth)}  ${styles.dim(brief)}`];
}

function failureLines({ sent, seen, explanation, fix, rule }: Check, layout: Layout): string[] {
  const { styles, width, failure } = layout;
  const parts: [label: string, text: string | null][] = [
    ["Sent", sent],
    ["Seen", seen],
  ];
  if (failure?.explanation === explanation && failure?.fix === fix) parts.push(["Fix", "As above"]);
  else parts.push(["Why", explanation], ["Fix", fix]);
  if (failure?.rule !== rule) parts.push(["Rule", rule]);
  return parts.flatMap(([label, text]) =>
    foldText(text ?? "", Math.max(MIN_WIDTH, width - 12), MAX_LINES).map((line, i) => {
      const shown = label === "Fix" ? line : label === "Seen" ? styles.warn(line) : styles.dim(line);
      return `      ${styles.dim((i === 0 ? label : "").padEnd(4))}  ${shown}`;
    }),
  );
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

/**
 * Renders the report as JUnit XML: a failure for each required check. Failed advisory checks are listed and count as
 * skipped.
 */
export function junitOf({ checks, duration_ms }: CheckReport, name: string): string {
  const failures = checks.filter(isFailure).length;
  const skipped = checks.filter(isSkipped).length;
  const counts = `tests="${checks.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${seconds(duration_ms)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escapeXml(name)}" ${counts}>`,
    ...checks.map(testCase),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(result: Check): string {
  const { id, title, group, seen, duration_ms } = result;
  const attributes = `classname="${escapeXml(`${group}.${id}`)}" name="${escapeXml(title)}" time="${seconds(duration_ms)}"`;
  if (isFailure(result)) {
    return `    <testcase ${attributes}>\n      <failure message="${escapeXml(seen)}">${escapeXml(details(result))}</failure>\n    </testcase>`;
  }
  if (isSkipped(result)) {
    const message = result.status === "failed" ? `advisory: ${seen}` : seen;
    return `    <testcase ${attributes}>\n      <skipped message="${escapeXml(message)}"/>\n    </testcase>`;
  }
  return `    <testcase ${attributes}/>`;
}

function isFailure({ status, level }: Check): boolean {
  return status === "failed" && level === "required";
}

function isSkipped(result: Check): boolean {
  return result.status !== "passed" && !isFailure(result);
}

function details({ sent, seen, explanation, fix, rule }: Check): string {
  return [`Sent: ${sent}`, `Seen: ${seen}`, `Why: ${explanation ?? ""}`, `Fix: ${fix ?? ""}`, `Rule: ${rule}`].join(
    "\n",
  );
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}
