import { shellCommand } from "../contract/shell-command.ts";
import type { Statistics } from "../contract/schemas/statistics.ts";
import { counted, type Finding, span, waits } from "./finding.ts";
import type { Receiver } from "./receivers.ts";

/** Deliveries that are due start at once, unless the endpoint's earlier ones are still in flight. */
const BACKLOG_SECONDS = 2;

export function isBacklog({ queue }: Statistics): boolean {
  return queue.oldest_due_seconds >= BACKLOG_SECONDS;
}

/** Returns that deliveries wait because their endpoint is slow. */
export function backlog(
  { queue, totals }: Statistics,
  { endpoint, name }: Pick<Receiver, "endpoint" | "name">,
): Finding {
  const { attempts, failed, latency_p50_ms: p50 } = totals;
  // Latencies are counted in ranges, so the median is not exact.
  const median = p50 === null ? undefined : `about ${span(p50 < 1000 ? p50 : Math.round(p50 / 1000) * 1000)}`;
  const speed = median === undefined ? "has not responded yet" : `takes ${median} to respond`;
  return {
    code: "backlog",
    subject: endpoint ?? "",
    summary: `${waits(queue.pending)} for ${name}, the oldest for ${span(queue.oldest_due_seconds * 1000)}, because it ${speed}`,
    evidence:
      median === undefined
        ? "No attempt in the last hour has finished"
        : `${counted(attempts, "attempt")} in the last hour, ${failed} failed; half of them took ${median} or longer`,
    action: "Return 2xx at once: store the event in the receiver and process it later",
    fix: shellCommand`service deliveries list --status pending --endpoint ${endpoint ?? ""}`,
  };
}
