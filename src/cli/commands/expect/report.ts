import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import { printable } from "../../terminal/printable.ts";
import { escapeXml } from "../../terminal/xml.ts";
import type { Expectation, FailureCode, Near, Observation } from "./expectation.ts";

/** The result as `--json` has it. */
export interface ExpectationReport {
  object: "expectation";
  type: string;
  status: "met" | "failed";
  code: FailureCode | null;
  /** Why the expectation failed. */
  message: string | null;
  events: Event[];
  deliveries: Delivery[];
  nearest: Near | null;
  /** How many events of other types came. */
  others: Record<string, number>;
  duration_ms: number;
}

export function reportOf(
  expectation: Expectation,
  observation: Observation,
  { code, seconds, durationMs }: { code: FailureCode | null; seconds: number; durationMs: number },
): ExpectationReport {
  const { matching, deliveries, nearest, others } = observation;
  return {
    object: "expectation",
    type: expectation.type,
    status: code === null ? "met" : "failed",
    code,
    message: code === null ? null : messageOf(code, expectation, observation, seconds),
    events: matching,
    deliveries,
    nearest: nearest ?? null,
    others: Object.fromEntries(others),
    duration_ms: Math.round(durationMs),
  };
}

function messageOf(code: FailureCode, { type, count }: Expectation, observation: Observation, seconds: number): string {
  const { matching, deliveries } = observation;
  const seen = `${matching.length} matching ${matching.length === 1 ? "event" : "events"}`;
  switch (code) {
    case "event_not_seen":
      return `No matching ${type} within ${seconds} s`;
    case "too_few_events":
      return `${seen} instead of ${count} within ${seconds} s`;
    case "too_many_events":
      return `${seen} instead of ${count}`;
    case "delivery_failed":
      return `A delivery of ${type} failed`;
    case "not_delivered":
      return deliveries.length === 0
        ? `${type} has no delivery: no endpoint or listener received it within ${seconds} s`
        : `${type} was not delivered within ${seconds} s`;
  }
}

/** The hint of a failure: the nearest event, the difference, and the next command. */
export function hintLines({ code, deliveries, nearest, others, events }: ExpectationReport): string[] {
  const lines: string[] = [];
  if (nearest !== null) {
    lines.push(`The nearest event: ${nearest.event.id}`);
    for (const { condition, expected, actual } of nearest.differences) {
      lines.push(`  ${condition}`, `    expected  ${expected}`, `    actual    ${actual ?? "nothing there"}`);
    }
  }
  const came = Object.entries(others).map(([type, count]) => `${count} × ${type}`);
  if (code === "event_not_seen" || code === "too_few_events") {
    if (came.length > 0) lines.push(`Other events that came: ${came.join(", ")}`);
    else if (nearest === null && events.length === 0) lines.push("No events came at all.");
  }
  const failure = deliveries.find(({ status }) => status !== "succeeded");
  const subject = failure?.id ?? (code === "not_delivered" ? events[0]?.id : nearest?.event.id);
  if (subject !== undefined) lines.push(`For details: service why ${subject}`);
  return lines;
}

/** JUnit XML with one test case. */
export function junitOf(title: string, report: ExpectationReport): string {
  const seconds = (report.duration_ms / 1000).toFixed(3);
  const failures = report.status === "failed" ? 1 : 0;
  const counts = `tests="1" failures="${failures}" errors="0" skipped="0" time="${seconds}"`;
  const attributes = `classname="service.expect" name="${escapeXml(title)}" time="${seconds}"`;
  const failure = `<failure type="${report.code ?? ""}" message="${escapeXml(report.message ?? "")}">${escapeXml(hintLines(report).join("\n"))}</failure>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="service expect" ${counts}>`,
    failures === 0
      ? `    <testcase ${attributes}/>`
      : `    <testcase ${attributes}>\n      ${failure}\n    </testcase>`,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

/** The line of one event in a pipe. */
export function eventLine({ id, type, created }: Event): string {
  return [id, type, created].map(printable).join("\t");
}
