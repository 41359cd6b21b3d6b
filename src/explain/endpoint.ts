import { capitalized, counted } from "../contract/words.ts";
import { matchesSubscriptions, typesOfSubscription } from "../contract/event-types.ts";
import type { Attempt, Delivery } from "../contract/schemas/delivery.ts";
import type { Statistics, StatisticsEndpoint, StatisticsFailure } from "../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import { attemptEvidence, attemptsOf, countsByResult, exampleOf, isReal, lastAttempted } from "./attempts.ts";
import { backlog, isBacklog, type Receiver, receiverOfEndpoint } from "./receivers.ts";
import { type Cause, pauseAfter, remedyOf } from "./causes.ts";
import { currentCause, lastAttemptTime, obstacleAt } from "./changes.ts";
import type { Chain } from "./chain.ts";
import { ofDelivery } from "./deliveries.ts";
import { afterRepair, disabled } from "./disabled.ts";
import {
  everyAttempt,
  type Finding,
  givenUp,
  notArrived,
  NOTHING_TO_REPAIR,
  span,
  type TimeFormat,
  waits,
} from "./finding.ts";
import { hasRecovered, isRecoveryReported, newestOf } from "./recovery.ts";
import { MAX_COUNTED } from "./unsent.ts";

/** A cause is over if it did not occur within this time before the newest failure. */
const CURRENT_MILLISECONDS = 600_000;
const HOUR_MILLISECONDS = 3_600_000;

/** What an endpoint's last hour looks like. */
interface State {
  endpoint: WebhookEndpoint;
  statistics: Statistics;
  deliveries: readonly Delivery[];
  receiver: Receiver;
  time: TimeFormat;
  chain: Chain;
}

/** Returns the state of an endpoint: why it receives nothing, fails or is slow, or that all is well. */
export function ofEndpoint(chain: Chain, time: TimeFormat): Finding | undefined {
  const endpoint = chain.endpoints.get(chain.id)!;
  const { statistics, deliveries } = chain;
  if (endpoint.status === "disabled") {
    const gone = deliveries.find(({ last_status_code: status }) => status === 410);
    const evidence = gone === undefined ? null : attemptEvidence(attemptsOf(gone), time);
    const finding = disabled(endpoint, chain, time, statistics?.queue.pending ?? 0);
    const lost = statistics?.endpoints.find(({ endpoint: id }) => id === endpoint.id)?.failed_deliveries ?? 0;
    const unsent = chain.unsent.length;
    const losses = [
      lost > 0 && `${counted(lost, "delivery", "deliveries")} failed`,
      unsent > 0 &&
        `${unsent < MAX_COUNTED ? "" : "at least "}${counted(unsent, "event")} ${unsent === 1 ? "was" : "were"} missed`,
    ].filter(Boolean);
    const broken = failureOf(endpoint, chain, time);
    const enable = broken === undefined ? finding.action! : afterRepair(broken, lowered(finding.action!));
    const replay = unsent > 0 && replayMissed(endpoint, Date.parse(endpoint.disabled_at!));
    return {
      ...finding,
      summary: [finding.summary, losses.join(" and ")].filter(Boolean).join("; "),
      evidence: evidence ?? [broken?.evidence, finding.evidence].filter(Boolean).join(". "),
      action: `${enable}${unsent > 0 ? ", and replay what it missed" : ""}${lost > 0 ? ", then retry what failed" : ""}`,
      fix: [finding.fix, replay, lost > 0 && retryFailed(endpoint)].filter(Boolean).join(" && "),
    };
  }
  if (statistics === undefined) return undefined;
  const state = { endpoint, statistics, deliveries, receiver: receiverOfEndpoint(endpoint), time, chain };
  const unmatched = deliveries.some(isReal) ? undefined : nothingReceived(state);
  if (unmatched !== undefined) return unmatched;
  if (statistics.totals.failed > 0) return hasFailures(state);
  if (isBacklog(statistics)) return backlog(statistics, state.receiver);
  if (statistics.totals.attempts === 0) return quiet(state);
  if (lostOf(state) > 0) return withLost(state);
  return hasJustRecovered(chain) ? recovered(state) : healthy(state);
}

/** Returns what to repair before an endpoint is enabled that someone disabled after its last attempt had failed. */
function failureOf(endpoint: WebhookEndpoint, chain: Chain, time: TimeFormat) {
  const last = lastAttempted(chain.deliveries);
  const failed = last && last.status !== "succeeded" ? attemptsOf(last).at(-1) : undefined;
  if (last === undefined || failed === undefined || endpoint.disabled_reason === "gone") return undefined;
  const outcome = { ...failed, delivery: last.id };
  const cause = currentCause(outcome, lastAttemptTime(failed.at, last), receiverOfEndpoint(endpoint), chain);
  const action = cause.check === undefined ? cause.action : `${cause.action}: \`${cause.check}\``;
  return { action, evidence: `${cause.what}. ${attemptEvidence(attemptsOf(last), time)}` };
}

const lowered = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** Returns true if the endpoint failed before the counted time, and was reported to work again within it. */
function hasJustRecovered({ recovery, outage, now }: Chain): boolean {
  return outage !== undefined && recovery !== undefined && now - Date.parse(recovery.created) <= HOUR_MILLISECONDS;
}

/** Returns the command that replays what an endpoint missed since a time. */
function replayMissed({ id }: WebhookEndpoint, since: number): string {
  // The command excludes the second that it names.
  return shellCommand`service events replay --missed --since ${formatTimestamp(since - 1000)} --endpoint ${id}`;
}

function hasFailures(state: State): Finding {
  const { endpoint, statistics, receiver, chain } = state;
  const { totals, queue, failures } = statistics;
  const counts = countsOf(state);
  const isReported = counts !== undefined && isRecoveryReported(chain.recovery, counts, failures);
  if (!isReported && (counts === undefined || !hasRecovered(endpoint, counts, failures))) return failing(state);
  if (lostOf(state) > 0) return withLost(state);
  if (!isReported && queue.pending === 0 && totals.failed < totals.succeeded) {
    const share = `${totals.failed} of ${counted(totals.attempts, "attempt")} in the last hour failed`;
    return { ...healthy(state), summary: `All deliveries to ${receiver.name} have succeeded, although ${share}` };
  }
  return recovered(state);
}

/** Returns since when an endpoint works again, and since when it had failed, as far as that was reported. */
function recovered(state: State): Finding {
  const { endpoint, statistics, receiver, time, chain } = state;
  const { totals, queue, failures } = statistics;
  const { recovery, outage } = chain;
  const newest = newestOf(failures);
  const isReported = recovery !== undefined && recovery.created >= newest;
  const success = countsOf(state)?.last_success_at;
  const rest = queue.pending > 0;
  const since = isReported ? ` since ${time(recovery.created)}` : `: its last attempt succeeded at ${time(success!)}`;
  const { health } = (outage?.data.object ?? {}) as Partial<WebhookEndpoint>;
  const start =
    isReported && outage !== undefined && outage.created <= recovery.created ? health?.failing_since : undefined;
  const before =
    typeof start === "string"
      ? `every attempt from ${time(start)} on had failed`
      : `${counted(totals.failed, "failed attempt")} in the last hour`;
  const failure = failures.find(({ last_at: at }) => at === newest);
  return {
    code: "endpoint_recovered",
    subject: endpoint.id,
    summary: `${receiver.name} works again${since}, after ${before}; ${rest ? waits(queue.pending, "being retried") : "nothing is waiting"}`,
    evidence: failure === undefined ? lastSuccess(state) : lastFailure(failure, state),
    action: rest ? "Retry the deliveries that did not arrive" : null,
    fix: rest ? resend(state) : null,
  };
}

/** The endpoint works, but no more attempts are made of what failed before. */
function withLost(state: State): Finding {
  const { endpoint, statistics, deliveries, receiver, time } = state;
  const { pending } = statistics.queue;
  const failed = lastAttempted(deliveries.filter(({ status }) => status === "failed"));
  const evidence = failed && attemptEvidence(attemptsOf(failed), time);
  return {
    code: "endpoint_recovered",
    subject: endpoint.id,
    summary: `${receiver.name} works again, but ${notArrived(lostOf(state))}${pending > 0 ? `; ${waits(pending, "being retried")}` : ""}`,
    evidence: evidence == null ? null : `Last failure: ${evidence.replace("Attempt", "attempt")}`,
    action: "Retry the deliveries that did not arrive",
    fix: retryFailed(endpoint),
  };
}

/** Returns how many deliveries failed for good. */
function lostOf(state: State): number {
  return countsOf(state)?.failed_deliveries ?? 0;
}

function retryFailed({ id }: WebhookEndpoint): string {
  return shellCommand`service deliveries retry --failed --endpoint ${id}`;
}

/** Returns the most frequent of the current causes, and which share of the attempts has failed. */
function failing(state: State): Finding {
  const { endpoint, statistics, deliveries, receiver, time, chain } = state;
  const { totals, failures } = statistics;
  const newest = Date.parse(newestOf(failures));
  const failure = failures.find(({ last_at: at }) => newest - Date.parse(at) <= CURRENT_MILLISECONDS)!;
  const example = exampleOf(failure, deliveries);
  const outcome = { ...(example?.attempts?.at(-1) ?? failure), delivery: example?.id };
  const cause = currentCause(outcome, lastAttemptTime(failure.last_at, example), receiver, chain);
  const attempts = counted(totals.attempts, "attempt");
  const results = countsByResult(failures);
  const kinds = results.length > 1 ? ` (${results.join(", ")})` : "";
  const since = endpoint.health.failing_since;
  const isEvery = totals.succeeded === 0;
  const share =
    isEvery && since !== null && results.length === 1
      ? `every attempt since ${time(since)} has failed`
      : `${isEvery ? everyAttempt(totals.attempts) : `${totals.failed} of ${attempts}`} in the last hour failed`;
  return {
    code: cause.code,
    subject: endpoint.id,
    summary: `${cause.what}; ${share}${kinds}${andRest(state)}`,
    evidence: exampleEvidence(failure, state),
    ...adviceOf(cause, failure.last_at, state),
  };
}

function countsOf({ endpoint, statistics }: State): StatisticsEndpoint | undefined {
  return statistics.endpoints.find(({ endpoint: id }) => id === endpoint.id);
}

function adviceOf(cause: Cause, last: string, state: State): Pick<Finding, "action" | "fix"> {
  const { statistics, chain, time } = state;
  const { pending } = statistics.queue;
  const { pause } = cause;
  if (pause !== undefined && pending > 0) {
    const next = chain.nextAttempt;
    const automatic =
      next === undefined
        ? ""
        : Date.parse(next) > chain.now
          ? `; the next attempt is at ${time(next)}`
          : "; the next attempt is due now";
    const deliveries = pending === 1 ? "delivery" : counted(pending, "delivery", "deliveries");
    const { text, isOver } = pauseAfter(pause, last, chain, time);
    const action = isOver
      ? `Retry the ${deliveries} now, or wait: ${text}${automatic}`
      : `${text}${automatic}. Retry the ${deliveries} once it is back`;
    return { action, fix: resend(state) };
  }
  return remedyOf(cause, resend(state));
}

/** Returns how many deliveries wait, the oldest for how long if it should not, and how many failed for good. */
function andRest(state: State): string {
  const { statistics } = state;
  const { pending, oldest_due_seconds: seconds } = statistics.queue;
  const lost = lostOf(state);
  const areQueued = state.deliveries.some(({ status, attempt_count: made }) => status === "pending" && made === 0);
  const rest = isBacklog(statistics)
    ? `${waits(pending)}, the oldest for ${span(seconds * 1000)}`
    : waits(pending, `${areQueued ? "queued or " : ""}being retried`);
  return [pending > 0 && `, and ${rest}`, lost > 0 && `; ${givenUp(lost)}`].filter(Boolean).join("");
}

function exampleEvidence(failure: StatisticsFailure, state: State): string {
  const { last_at: at, status_code: status, error } = failure;
  const example = exampleOf(failure, state.deliveries)?.attempts ?? retriedExample(failure, state.deliveries);
  return attemptEvidence(example, state.time) ?? `Last failed attempt at ${state.time(at)}: ${status ?? error}`;
}

/** Returns the newest failed attempt as evidence, which is labeled: the endpoint works. */
function lastFailure(failure: StatisticsFailure, { deliveries, time }: State): string {
  const { last_at: at, status_code: status, error } = failure;
  const attempts = retriedExample(failure, deliveries, (attempt) => attempt.at === at);
  return `Last failure: ${attemptEvidence(attempts, time)?.replace("Attempt", "attempt") ?? `${time(at)}: ${status ?? error}`}`;
}

/** Returns the attempts up to one with a result that a later attempt made up for. */
function retriedExample(
  { status_code: status, error }: StatisticsFailure,
  deliveries: readonly Delivery[],
  fits: (attempt: Attempt) => boolean = () => true,
): Attempt[] {
  for (const { attempts = [] } of deliveries) {
    const index = attempts.findLastIndex(
      (attempt) => attempt.status_code === status && (attempt.error ?? "").startsWith(error ?? "") && fits(attempt),
    );
    if (index !== -1) return attempts.slice(0, index + 1);
  }
  return [];
}

/** Returns the command that sends what an endpoint missed again. */
function resend({ endpoint, statistics }: State): string {
  return statistics.queue.pending > 0
    ? shellCommand`service deliveries retry --pending --endpoint ${endpoint.id}`
    : retryFailed(endpoint);
}

function healthy(state: State): Finding {
  const { endpoint, statistics, receiver, time } = state;
  const { attempts } = statistics.totals;
  const success = countsOf(state)?.last_success_at;
  const when = typeof success === "string" && attempts > 1 ? `, the last one at ${time(success)}` : "";
  return {
    code: "delivered",
    subject: endpoint.id,
    summary: `${capitalized(everyAttempt(attempts))} to ${receiver.name} in the last hour succeeded${when}`,
    evidence: lastSuccess(state),
    action: null,
    fix: null,
  };
}

function lastSuccess({ deliveries, time }: State): string | null {
  const last = lastAttempted(deliveries.filter(({ status }) => status === "succeeded"));
  return attemptEvidence(last?.attempts ?? [], time);
}

/** Nothing was attempted in the last hour: the newest delivery explains it. */
function quiet(state: State): Finding {
  const { endpoint, deliveries, receiver, time, chain } = state;
  const [newest] = deliveries;
  if (newest === undefined) return nothingHappened(endpoint, time);
  const { failing_since: since } = endpoint.health;
  const last = lastAttempted(deliveries)!;
  const failed = attemptsOf(last).at(-1);
  if (last.status !== "succeeded" && since !== null && failed !== undefined) {
    const at = lastAttemptTime(failed.at, last);
    const cause = currentCause({ ...failed, delivery: last.id }, at, receiver, chain);
    return {
      code: cause.code,
      subject: endpoint.id,
      summary: `${cause.what}; every attempt since ${time(since)} has failed${andRest(state)}`,
      evidence: attemptEvidence(attemptsOf(last), time),
      ...adviceOf(cause, failed.at, state),
    };
  }
  if (newest.status !== "succeeded") return { ...ofDelivery(newest, chain, time), subject: endpoint.id };
  if (lostOf(state) > 0) return withLost(state);
  const later = happened(state).filter(({ last_at: at }) => at > newest.created);
  const match = later.find(({ type }) => matchesSubscriptions(endpoint.events, type));
  if (match !== undefined) return missed(match, state);
  const end = newest.attempts?.at(-1)?.at ?? newest.created;
  return {
    code: "delivered",
    subject: endpoint.id,
    summary: `The last delivery to ${receiver.name} succeeded at ${time(end)}; no matching event has happened since`,
    evidence: `It subscribes to ${endpoint.events.join(", ")}${later.length === 0 ? "" : `; since then: ${listOf(later, time)}`}`,
    action: null,
    fix: null,
  };
}

type Happened = Statistics["event_types"][number];

/** Returns the types that happened since the endpoint exists. Those about endpoints are not sent to every endpoint. */
function happened({ endpoint, statistics }: State): Happened[] {
  return statistics.event_types.filter(({ type, last_at: at }) => !isOfEndpoint(type) && at >= endpoint.created);
}

function isOfEndpoint(type: string): boolean {
  return type.startsWith("webhook_endpoint.");
}

function listOf(types: readonly Happened[], time: TimeFormat): string {
  return types.map(({ type, last_at: at }) => `${type} (${time(at)})`).join(", ");
}

/** Returns why an endpoint never got an event. */
function nothingReceived(state: State): Finding | undefined {
  const { endpoint, statistics, receiver, time } = state;
  const types = happened(state);
  if (types.length === 0) return statistics.totals.attempts > 0 ? undefined : nothingHappened(endpoint, time);
  const match = types.find(({ type }) => matchesSubscriptions(endpoint.events, type));
  if (match !== undefined) return missed(match, state);
  return {
    code: "no_matching_event",
    subject: endpoint.id,
    summary: `${receiver.name} subscribes to ${endpoint.events.join(", ")}, and no such event has happened since it was created`,
    evidence: `Other events happened: ${listOf(types, time)}`,
    ...testOf(endpoint),
  };
}

/** An event that the endpoint subscribes to has no delivery. */
function missed({ type, last_at: at }: Happened, { endpoint, receiver: { name }, time, chain }: State): Finding {
  const last = Date.parse(at);
  const obstacle = obstacleAt(endpoint, { type, time: last }, chain);
  const subscriptions = endpoint.events.join(", ");
  const until = obstacle && time(formatTimestamp(obstacle.until.time));
  const [why, evidence] =
    obstacle === undefined
      ? [`and was not delivered to ${name}`, `It subscribes to ${subscriptions} now`]
      : obstacle.why === "disabled"
        ? [`while ${name} was disabled`, `It was enabled at ${until}, and subscribes to ${subscriptions}`]
        : [`before ${name} subscribed to it`, `It has subscribed to ${subscriptions} since ${until}`];
  const since = obstacle?.since?.time ?? last;
  return {
    code: "no_matching_event",
    subject: endpoint.id,
    summary: `The last ${type} happened at ${time(at)}, ${why}`,
    evidence,
    action: `Replay what it missed since ${time(formatTimestamp(since))}`,
    fix: replayMissed(endpoint, since),
  };
}

function nothingHappened(endpoint: WebhookEndpoint, time: TimeFormat): Finding {
  const { id, events, created } = endpoint;
  const { name } = receiverOfEndpoint(endpoint);
  return {
    code: "no_event",
    subject: id,
    summary: `No event has happened since ${name} was created at ${time(created)}`,
    evidence: `It subscribes to ${events.join(", ")}`,
    ...testOf(endpoint),
  };
}

/** Returns what shows whether an endpoint works that got nothing, although nothing is wrong. */
function testOf({ id, events, livemode }: WebhookEndpoint): Pick<Finding, "action" | "fix"> {
  const type = livemode ? undefined : events.flatMap(typesOfSubscription).find((name) => !isOfEndpoint(name));
  const how = type === undefined ? "send a ping" : "trigger an event that it subscribes to";
  return {
    action: `${NOTHING_TO_REPAIR}. To test the endpoint, ${how}`,
    fix: type === undefined ? shellCommand`service endpoints ping ${id}` : shellCommand`service trigger ${type}`,
  };
}
