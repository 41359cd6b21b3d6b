import type { Activity } from "../observability/activity.ts";
import { tracedLine } from "../observability/trace-context.ts";
import type { Random } from "../ports.ts";
import type { Transaction } from "../storage/database.ts";
import { type AbandonedLease, recordOutcomes, releaseLeases } from "../storage/delivery-queue.ts";
import { countFailuresInRow, disableEndpoint, type EndpointOutcomes } from "../storage/webhook-endpoints.ts";
import type { Finished } from "./sender.ts";
import { nextAttemptAt } from "./schedule.ts";

const INTERRUPTED = "interrupted: the platform stopped before the attempt finished";

/** Records finished attempts. Returns the endpoints that were disabled because they are gone. */
export async function recordFinished(tx: Transaction, finished: readonly Finished[]): Promise<string[]> {
  await recordOutcomes(
    tx,
    finished.map(({ outcome }) => outcome),
  );
  for (const outcomes of outcomesByEndpoint(finished)) await countFailuresInRow(tx, outcomes);
  const disabled: string[] = [];
  for (const { delivery, endpointId, outcome, goneUrl } of finished) {
    if (goneUrl === undefined) continue;
    const { environment } = delivery;
    const at = outcome.at + outcome.duration_ms;
    if (await disableEndpoint(tx, { environment, id: endpointId, url: goneUrl, at })) disabled.push(endpointId);
  }
  return disabled;
}

/** Attempts that the endpoint had no part in. */
const NOT_SENT = /^(endpoint_deleted|endpoint_disabled|event_expired|expired|interrupted):/;

/** Returns the outcomes of each endpoint, ordered by ID, so that processes never wait for each other in a circle. */
function outcomesByEndpoint(finished: readonly Finished[]): EndpointOutcomes[] {
  const found = new Map<string, EndpointOutcomes>();
  const sent = finished.filter(({ outcome: { error } }) => !NOT_SENT.test(error ?? ""));
  const endOf = ({ outcome: { at, duration_ms: took } }: Finished) => at + took;
  for (const { delivery, endpointId, outcome } of sent.toSorted((a, b) => endOf(a) - endOf(b))) {
    const { environment } = delivery;
    const none = { environment, id: endpointId, succeeded: false, failures: 0, first: null, last: null };
    const before = found.get(endpointId) ?? none;
    found.set(
      endpointId,
      outcome.status === "succeeded"
        ? { ...none, succeeded: true }
        : { ...before, failures: before.failures + 1, first: before.first ?? outcome.at, last: outcome.at },
    );
  }
  return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Releases the claims of a dead process, and records the attempts that it had begun. */
export async function takeOver(
  tx: Transaction,
  leases: readonly AbandonedLease[],
  // `now` is real time.
  context: { now: number; random: Random; mayExpire: boolean },
): Promise<Finished[]> {
  const interrupted: Finished[] = [];
  const notStarted: { id: string; token: string }[] = [];
  for (const lease of leases) {
    if (lease.begun_at === null) notStarted.push({ id: lease.id, token: lease.lease_token });
    else interrupted.push(interrupt(lease, lease.begun_at, context));
  }
  await releaseLeases(tx, notStarted);
  await recordFinished(tx, interrupted);
  return interrupted;
}

/**
 * An attempt whose process died. The receiver is not at fault, so the next attempt is due at once. But if the previous
 * attempt was interrupted too, the delivery itself may crash the process, so it waits as after any failed attempt.
 */
function interrupt(
  lease: AbandonedLease,
  begunAt: number,
  { now, random, mayExpire }: { now: number; random: Random; mayExpire: boolean },
): Finished {
  // A retry requested during the attempt made the delivery due after the attempt began.
  const isOnlyOne = lease.last_error !== INTERRUPTED || lease.next_attempt > begunAt;
  const failed = {
    attempts: lease.attempt_count + 1,
    firstAttempt: lease.first_attempt ?? begunAt,
    endedAt: now + lease.clock_offset,
  };
  const next = isOnlyOne ? lease.next_attempt : nextAttemptAt(failed, random.fraction(), mayExpire);
  return {
    delivery: lease,
    endpointId: lease.endpoint_id,
    outcome: {
      id: lease.id,
      token: lease.lease_token,
      claimed_due: lease.next_attempt,
      status: next === undefined ? "failed" : "pending",
      next_attempt: next ?? null,
      at: begunAt,
      status_code: null,
      error: INTERRUPTED,
      duration_ms: 0,
      request_headers: null,
      response_headers: null,
      response_excerpt: null,
    },
    goneUrl: undefined,
  };
}

/** Reports finished attempts once they are durable. */
export function reportFinished(
  report: (activity: Activity) => void,
  finished: readonly Finished[],
  disabled: readonly string[],
): void {
  for (const { delivery, endpointId, outcome } of finished) {
    report({
      event: "delivery",
      delivery: delivery.id,
      endpoint: endpointId,
      event_id: delivery.event_id,
      event_type: delivery.event_type,
      attempt: delivery.attempt_count + 1,
      status: outcome.status,
      status_code: outcome.status_code,
      error: outcome.error,
      duration_ms: outcome.duration_ms,
      ...tracedLine(delivery.trace),
    });
  }
  for (const endpoint of disabled) {
    report({ event: "warning", message: `The endpoint ${endpoint} responded with 410 Gone and was disabled.` });
  }
}
