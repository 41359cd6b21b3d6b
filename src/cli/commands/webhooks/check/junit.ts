import { escapeXml } from "../../../terminal/xml.ts";
import type { CheckResult, ReceiverReport } from "../../../../receiver-check/report.ts";

/**
 * Renders the report as JUnit XML: a failure for each required check. Failed advisory checks are listed and count as
 * skipped.
 */
export function junitOf({ url, checks, duration_ms }: ReceiverReport): string {
  const failures = checks.filter(isFailure).length;
  const skipped = checks.filter(isSkipped).length;
  const counts = `tests="${checks.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${seconds(duration_ms)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escapeXml(`webhooks check ${url}`)}" ${counts}>`,
    ...checks.map(testCase),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(result: CheckResult): string {
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

function isFailure({ status, level }: CheckResult): boolean {
  return status === "failed" && level === "required";
}

function isSkipped(result: CheckResult): boolean {
  return result.status !== "passed" && !isFailure(result);
}

function details({ sent, seen, explanation, fix, rule }: CheckResult): string {
  return [`Sent: ${sent}`, `Seen: ${seen}`, `Why: ${explanation ?? ""}`, `Fix: ${fix ?? ""}`, `Rule: ${rule}`].join(
    "\n",
  );
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}
