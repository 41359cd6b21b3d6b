import type { Report } from "../../../relay/report.ts";

/** A report as a line of `listen --json`: names in snake_case, durations in milliseconds. */
export function toJsonLine(report: Report, now: number, target: URL | undefined): string {
  if (report.event !== "received") return JSON.stringify(toRecord(report, now, target));
  // The payload is JSON already, and there may be thousands of these a second.
  const { id, type, body } = report;
  return `{"event":"received","id":"${id}","type":"${type}","payload":${body},"time":"${new Date(now).toISOString()}"}`;
}

function toRecord(report: Exclude<Report, { event: "received" }>, now: number, target: URL | undefined): object {
  const time = new Date(now).toISOString();
  switch (report.event) {
    case "ready":
      return { ...report, forward_to: target?.href ?? null, time };
    case "forwarded": {
      const { id, type, attempt, status, location, body, failure, hint } = report;
      const duration_ms = round(report.durationMs);
      const error = failure === undefined ? undefined : { code: failure.code, message: failure.message };
      return {
        event: "forwarded",
        id,
        type,
        status: status ?? null,
        duration_ms,
        attempt,
        location,
        error,
        hint,
        body,
        time,
      };
    }
    case "lost":
      return { event: "lost", reason: report.reason, retry_in_ms: round(report.retryInMs), time };
    case "retrying": {
      const { reason, failures, retryInMs } = report;
      return { event: "retrying", reason, failures, retry_in_ms: round(retryInMs), time };
    }
    case "restored":
      return { event: "restored", downtime_ms: round(report.downtimeMs), caught_up: report.caughtUp, time };
    case "gap":
    case "duplicate":
      return { ...report, time };
    case "summary": {
      const { received, forwarded, failed, duplicates, p50, p99 } = report;
      const timing = { p50_ms: p50 === undefined ? null : round(p50), p99_ms: p99 === undefined ? null : round(p99) };
      return { event: "summary", received, forwarded, failed, duplicates, ...timing, time };
    }
  }
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
