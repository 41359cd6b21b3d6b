import type { Delivery, RelayedEvent } from "./delivery.ts";
import type { ForwardResult } from "./exchange.ts";
import { hintForStatus } from "./forward-failure.ts";
import type { ForwardedReport } from "./report.ts";

/** What is told of an attempt that has ended. */
export function forwardedReport(
  { event: { id, type }, attempt, destination: { url }, headers = [], faults, copy }: Delivery<RelayedEvent>,
  { status, failure, durationMs, excerpt, location }: ForwardResult,
  retryInMs: number | undefined,
): ForwardedReport {
  const report: ForwardedReport = { event: "forwarded", id, type, attempt, durationMs, url, headers, reply: excerpt };
  const hint = failure?.hint ?? (status === undefined ? undefined : hintForStatus(status, location));
  // A refused forgery is as it should be: nothing to explain.
  const isForgery = copy === "badsig" || copy === "stale";
  if (status !== undefined) report.status = status;
  if (location !== undefined) report.location = location;
  if (failure !== undefined) report.failure = failure;
  if (hint !== undefined && !isForgery) report.hint = hint;
  if (retryInMs !== undefined) report.retryInMs = retryInMs;
  if (faults.length > 0) report.faults = faults;
  if (copy !== undefined) report.copy = copy;
  return report;
}
