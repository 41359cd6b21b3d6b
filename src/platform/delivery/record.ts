import type { RequestContext } from "../domain/request-context.ts";
import type { With } from "../tools.ts";
import { disableGoneEndpoint, isReportable, reportHealth } from "../domain/webhook-endpoints.ts";
import type { Activity } from "../observability/activity.ts";
import type { BackgroundTask } from "../observability/background-work.ts";
import { tracedLine } from "../observability/trace-context.ts";
import type { Random } from "../ports.ts";
import { tenantOf } from "../storage/accounts.ts";
import type { PartOf, Transaction } from "../storage/database.ts";
import {
  type AbandonedLease,
  findLapsed,
  leaseTime,
  lockLeases,
  recordOutcomes,
  releaseLeases,
} from "../storage/delivery-queue.ts";
import { countFailuresInRow, type EndpointOutcomes } from "../storage/webhook-endpoints.ts";
import { abandon, type Finished } from "./sender.ts";
import { nextAttemptAt } from "./retry-schedule.ts";

const INTERRUPTED = "interrupted: the platform stopped before the attempt finished";

export type EmitTools = With<"time" | "versions">;

/** Records deliveries that finished without a request. They do not count for the health of the endpoint. */
export async function recordFinished(tx: Transaction, finished: readonly Finished[]): Promise<number> {
  return recordOutcomes(
    tx,
    finished.map(({ outcome }) => outcome),
  );
}

/** Another process has taken over the lease of an attempt, or an uncertain commit has recorded its outcome. */
class LateOutcomesError extends Error {
  override name = "LateOutcomesError";
}

/**
 * Writes a unit of work that records finished attempts. If some are late, the unit is rolled back and runs again without
 * them, so that they change nothing at all.
 */
export async function writeAttempts<Result>(
  { background, database }: With<"background" | "database">,
  task: BackgroundTask,
  finished: readonly Finished[],
  unit: (tx: Transaction, partOf: PartOf, finished: readonly Finished[]) => Promise<Result>,
): Promise<Result> {
  const options = { isolation: "read committed" } as const;
  try {
    return await background.write(task, database, (tx, partOf) => unit(tx, partOf, finished), options);
  } catch (error) {
    if (!(error instanceof LateOutcomesError)) throw error;
  }
  const ids = finished.map(({ outcome }) => outcome.id);
  const write = async (tx: Transaction, partOf: PartOf) => {
    const tokens = await lockLeases(tx, ids);
    const inTime = finished.filter(({ outcome }) => tokens.get(outcome.id) === outcome.token);
    return unit(tx, partOf, inTime);
  };
  return background.write(task, database, write, options);
}

/** Records attempts in a unit of `writeAttempts`, with events about health. Returns endpoints disabled as gone. */
export async function recordAttempts(tx: Transaction, finished: readonly Finished[], tools: EmitTools, partOf: PartOf) {
  const byEndpoint = outcomesByEndpoint(finished);
  // Sent together; they are executed in order.
  const [recorded, ...mayHaveChanged] = await Promise.all([
    recordFinished(tx, finished),
    ...byEndpoint.map((outcomes) => countFailuresInRow(tx, outcomes)),
  ]);
  if (recorded < finished.length) throw new LateOutcomesError(`${finished.length - recorded} outcomes are late.`);
  for (const [index, { mayReport, ...outcomes }] of byEndpoint.entries()) {
    if (mayHaveChanged[index] !== true || !mayReport) continue;
    const context = () => contextOf(tx, outcomes.environment, tools);
    await partOf(`health of ${outcomes.id}`, () => reportHealth(tx, context, outcomes));
  }
  const disabled: string[] = [];
  for (const { delivery, endpointId: id, outcome, goneUrl: url } of finished) {
    if (url === undefined || disabled.includes(id)) continue;
    const { environment } = delivery;
    const gone = { environment, id, url, at: outcome.at + outcome.duration_ms };
    const isDisabled = await partOf(`health of ${id}`, () =>
      disableGoneEndpoint(tx, () => contextOf(tx, environment, tools), gone),
    );
    if (isDisabled === true) disabled.push(id);
  }
  return disabled;
}

/** The platform itself causes these changes, at the time of their environment. */
async function contextOf(tx: Transaction, environment: number, { time, versions }: EmitTools): Promise<RequestContext> {
  const tenant = await tenantOf(tx, environment);
  return { tx, tenant, requestId: null, versions, ...(await time.read(tx, tenant)) };
}

/** Outcomes, and whether an event may report the resulting health. */
type ReportedOutcomes = EndpointOutcomes & { mayReport: boolean };

/** Returns the outcomes of each endpoint, ordered by ID, so that processes never wait for each other in a circle. */
function outcomesByEndpoint(finished: readonly Finished[]): ReportedOutcomes[] {
  const found = new Map<string, ReportedOutcomes>();
  const endOf = ({ outcome: { at, duration_ms: took } }: Finished) => at + took;
  for (const { delivery, endpointId, outcome } of finished.toSorted((a, b) => endOf(a) - endOf(b))) {
    const { environment, event_type: type } = delivery;
    const none = { environment, id: endpointId, succeeded: false, failures: 0, first: null, last: null };
    const before = found.get(endpointId) ?? { ...none, mayReport: false };
    const mayReport = before.mayReport || isReportable(type);
    found.set(
      endpointId,
      outcome.status === "succeeded"
        ? { ...none, succeeded: true, mayReport }
        : { ...before, failures: before.failures + 1, first: before.first ?? outcome.at, last: outcome.at, mayReport },
    );
  }
  return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const MAX_TAKE_OVER = 500;

/** Takes over the deliveries of dead processes once their leases have expired. Returns the attempts that had begun. */
export async function takeOverLapsed(
  tx: Transaction,
  { owner, clock, clockTrust, random }: With<"clock" | "clockTrust" | "random"> & { owner: string },
): Promise<Finished[]> {
  const now = await leaseTime(tx, clock.now);
  const lapsed = await findLapsed(tx, now, owner, MAX_TAKE_OVER);
  return takeOver(tx, lapsed, { now, random, mayExpire: clockTrust.isTrusted() });
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
  const then = next === undefined ? {} : ({ status: "pending", next_attempt: next } as const);
  return abandon(lease, lease.endpoint_id, lease.lease_token, begunAt, INTERRUPTED, then);
}

/** Reports finished attempts once what they changed is durable, even if they were too late to change anything. */
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
