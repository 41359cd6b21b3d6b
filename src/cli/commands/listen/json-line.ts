import type { Report } from "../../../relay/report.ts";
import { printableJson } from "../../terminal/printable.ts";
import type { Setup } from "./receivers.ts";

/** A report as a line of `listen --json`: names in snake_case, durations in milliseconds. */
export function toJsonLine(report: Report, now: number, setup: Setup): string {
  if (report.event !== "received") return printableJson(JSON.stringify(toRecord(report, now, setup)));
  // The payload is JSON already, and there may be thousands of these a second.
  const { id, type, body } = report;
  return `{"event":"received","id":"${id}","type":"${type}","payload":${printableJson(body)},"time":"${new Date(now).toISOString()}"}`;
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
      const { id, type, attempt, status, location, failure, hint, url, faults, copy } = report;
      const retry_in_ms = report.retryInMs === undefined ? undefined : round(report.retryInMs);
      const body = status !== undefined && status >= 400 ? report.reply : undefined;
      const duration_ms = round(report.durationMs);
      const error = failure === undefined ? undefined : { code: failure.code, message: failure.message };
      return {
        event: "forwarded",
        id,
        type,
        status: status ?? null,
        duration_ms,
        attempt,
        url: url.href,
        retry_in_ms,
        chaos: faults,
        copy,
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
    case "hint":
      return { ...report, time };
    case "summary": {
      const { received, forwarded, failed, duplicates, p50, p99 } = report;
      const timing = { p50_ms: p50 === undefined ? null : round(p50), p99_ms: p99 === undefined ? null : round(p99) };
      return { event: "summary", received, forwarded, failed, duplicates, ...timing, chaos: report.chaos, time };
    }
  }
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
