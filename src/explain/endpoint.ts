import { matchesSubscriptions, typesOfSubscription } from "../contract/event-types.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { Statistics, StatisticsEndpoint, StatisticsFailure } from "../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { attemptEvidence, attemptsOf, type Cause, type Receiver, receiverOfEndpoint, resultOf } from "./attempts.ts";
import { backlog, isBacklog } from "./backlog.ts";
import { currentCause, lastAttemptTime } from "./changes.ts";
import type { Chain } from "./chain.ts";
import { disabled, ofDelivery } from "./deliveries.ts";
import { hasRecovered, newestOf } from "./recovery.ts";
import { counted, type Finding, span, type TimeFormat, waits } from "./finding.ts";

const MINUTE = 60_000;
/** A cause that did not occur in this time before the newest failure is over. */
const CURRENT_MILLISECONDS = 10 * MINUTE;

/** Returns the state of an endpoint: why it gets nothing, fails or is slow, or that all is well. */
export function ofEndpoint(chain: Chain, time: TimeFormat): Finding[] {
  const endpoint = chain.endpoints.get(chain.id)!;
  const { statistics, deliveries } = chain;
  const waiting = statistics?.queue.pending ?? 0;
  if (endpoint.status === "disabled") {
    const gone = deliveries.find(({ last_status_code: status }) => status === 410);
    return [{ ...disabled(endpoint, time, waiting), evidence: gone ? attemptEvidence(attemptsOf(gone), time) : null }];
  }
  if (statistics === undefined) return [];
  const receiver = receiverOfEndpoint(endpoint);
  const missed = deliveries.some(isReal) ? undefined : noEventFor(endpoint, statistics, time);
  if (missed !== undefined) return [missed];
  const state = { endpoint, statistics, deliveries, receiver, time };
  if (statistics.totals.failed > 0) return failures(state, chain);
  if (isBacklog(statistics)) return [backlog(statistics, receiver)];
  return [statistics.totals.attempts > 0 ? healthy(state) : quiet(state, chain)];
}

/** What the last hour of an enabled endpoint looks like. */
interface State {
  endpoint: WebhookEndpoint;
  statistics: Statistics;
  deliveries: readonly Delivery[];
  receiver: Receiver;
  time: TimeFormat;
}

/** A ping is sent whatever the endpoint subscribes to. */
function isReal({ event_type: type }: Delivery): boolean {
  return type !== "webhook_endpoint.ping";
}

function failures(state: State, chain: Chain): Finding[] {
  const { endpoint, statistics, deliveries, receiver, time } = state;
  const { totals, queue } = statistics;
  const counts = countsOf(state);
  const newest = newestOf(statistics.failures);
  const success = counts?.last_success_at ?? "";
  const { recovery } = chain;
  const isReported = recovery !== undefined && recovery.created >= newest && success >= newest;
  if (isReported || (counts !== undefined && hasRecovered(endpoint, counts, statistics.failures))) {
    const rest = queue.pending > 0 || deliveries.some(({ status }) => status === "failed");
    const count = `${totals.failed} of the ${counted(totals.attempts, "attempt")} of the last hour`;
    if (!isReported && !rest && totals.failed < totals.succeeded) {
      return [{ ...healthy(state), summary: `Everything arrived at ${receiver.name}, although ${count} failed` }];
    }
    const wait = queue.pending === 0 ? "" : `; ${waits(queue.pending)}`;
    return [
      {
        code: "endpoint_recovered",
        subject: endpoint.id,
        summary: `${receiver.name} has recovered: its last attempt succeeded at ${time(success)}, after ${count} failed${wait}`,
        evidence: exampleEvidence(statistics.failures[0]!, state),
        action: rest ? "Retry what has not arrived" : null,
        fix: rest ? resend(state) : null,
      },
    ];
  }
  const current = statistics.failures.filter(
    ({ last_at: at }) => Date.parse(newest) - Date.parse(at) <= CURRENT_MILLISECONDS,
  );
  const findings = current.map((failure) => ofFailure(failure, state, chain));
  const [first] = findings;
  if (first === undefined || new Set(statistics.failures.map(resultOf)).size < 2) return findings;
  return [{ ...first, summary: failsInPart(state) }, ...findings.slice(1)];
}

/** Returns how many attempts failed, and how many of them for which reason. */
function failsInPart({ statistics, receiver: { name } }: State): string {
  const { totals, failures } = statistics;
  const results = new Map<string, number>();
  for (const failure of failures) {
    results.set(resultOf(failure), (results.get(resultOf(failure)) ?? 0) + failure.count);
  }
  const kinds = [...results].map(([result, count]) => `${count} × ${result}`).join(", ");
  const attempts = counted(totals.attempts, "attempt");
  const share =
    totals.succeeded === 0
      ? `All ${attempts} of the last hour to ${name} failed`
      : `${name} fails in part: ${totals.failed} of the ${attempts} of the last hour failed`;
  return `${share} (${kinds})${andWaits(statistics)}`;
}

function countsOf({ endpoint, statistics }: State): StatisticsEndpoint | undefined {
  return statistics.endpoints.find(({ endpoint: id }) => id === endpoint.id);
}

/** Returns a cause of failures, and what share of the attempts it has. */
function ofFailure(failure: StatisticsFailure, state: State, chain: Chain): Finding {
  const { endpoint, statistics, receiver, time } = state;
  const { totals } = statistics;
  const example = exampleOf(failure, state);
  const attempt = example?.attempts?.at(-1);
  const at = lastAttemptTime(failure.last_at, example);
  const cause = currentCause(attempt ?? failure, at, receiver, endpoint, chain);
  const since = endpoint.health.failing_since;
  const isAll = failure.count === totals.attempts;
  const share =
    since !== null && isAll
      ? `every attempt since ${time(since)} failed`
      : isAll
        ? `${totals.attempts === 1 ? "the only attempt" : `all ${counted(totals.attempts, "attempt")}`} of the last hour failed`
        : `${failure.count} of the ${counted(totals.attempts, "attempt")} of the last hour failed`;
  return {
    code: cause.code,
    subject: endpoint.id,
    summary: `${cause.what}; ${share}${andWaits(statistics)}`,
    evidence: exampleEvidence(failure, state),
    ...adviceOf(cause, state),
  };
}

function adviceOf({ action, fix, isToWait = false }: Cause, state: State): Pick<Finding, "action" | "fix"> {
  if (isToWait && state.statistics.queue.pending > 0) return { action: "Wait for the next attempts", fix: null };
  return { action, fix: fix === undefined ? resend(state) : fix };
}

/** Returns how many deliveries wait, and the longest for how long if it should not. */
function andWaits(statistics: Statistics): string {
  const { pending, oldest_due_seconds: seconds } = statistics.queue;
  const oldest = isBacklog(statistics) ? `, one of them for ${span(seconds * 1000)}` : "";
  return pending === 0 ? "" : `, and ${waits(pending)}${oldest}`;
}

function exampleOf({ status_code: status, error }: StatisticsFailure, { deliveries }: State): Delivery | undefined {
  return deliveries.find(
    ({ last_status_code: lastStatus, last_error: lastError }) =>
      lastStatus === status && (lastError ?? "").startsWith(error ?? ""),
  );
}

function exampleEvidence(failure: StatisticsFailure, state: State): string {
  const { last_at: at, status_code: status, error } = failure;
  const evidence = attemptEvidence(exampleOf(failure, state)?.attempts ?? [], state.time);
  return evidence ?? `Last failed attempt at ${state.time(at)}: ${status ?? error}`;
}

/** Returns the command that sends again what an endpoint did not get. */
function resend({ endpoint, statistics }: State): string {
  return statistics.queue.pending > 0
    ? shellCommand`service deliveries retry --pending --endpoint ${endpoint.id}`
    : shellCommand`service deliveries retry --failed --endpoint ${endpoint.id}`;
}

function healthy(state: State): Finding {
  const { endpoint, statistics, deliveries, receiver, time } = state;
  const { attempts } = statistics.totals;
  const success = countsOf(state)?.last_success_at;
  const all = attempts === 1 ? "The only attempt" : `All ${counted(attempts, "attempt")}`;
  const when = typeof success !== "string" ? "" : `, the last one at ${time(success)}`;
  const last = deliveries.find(({ status }) => status === "succeeded");
  return {
    code: "delivered",
    subject: endpoint.id,
    summary: `${all} of the last hour to ${receiver.name} succeeded${attempts === 1 ? "" : when}`,
    evidence: attemptEvidence(last?.attempts ?? [], time),
    action: null,
    fix: null,
  };
}

/** Nothing was attempted in the last hour: the newest delivery explains it. */
function quiet(state: State, chain: Chain): Finding {
  const { endpoint, statistics, deliveries, receiver, time } = state;
  const [newest] = deliveries;
  if (newest === undefined) return nothingHappened(endpoint, time);
  const { failing_since: since } = endpoint.health;
  const failed = newest.attempts?.at(-1);
  if (newest.status !== "succeeded" && since !== null && failed !== undefined) {
    const cause = currentCause(failed, lastAttemptTime(failed.at, newest), receiver, endpoint, chain);
    const summary = `${cause.what}; every attempt since ${time(since)} failed${andWaits(statistics)}`;
    const evidence = attemptEvidence(newest.attempts ?? [], time);
    return { code: cause.code, subject: endpoint.id, summary, evidence, ...adviceOf(cause, state) };
  }
  if (newest.status !== "succeeded") return { ...ofDelivery(newest, chain, time), subject: endpoint.id };
  const after = happened(endpoint, statistics).filter(({ last_at: at }) => at > newest.created);
  const match = after.find(({ type }) => matchesSubscriptions(endpoint.events, type));
  if (match !== undefined) return missed(endpoint, match, time);
  const last = newest.attempts?.at(-1)?.at ?? newest.created;
  return {
    code: "delivered",
    subject: endpoint.id,
    summary: `The last delivery to ${receiver.name} succeeded at ${time(last)}, and nothing that it subscribes to has happened since`,
    evidence: `It subscribes to ${endpoint.events.join(", ")}${after.length === 0 ? "" : `; since then: ${listOf(after, time)}`}`,
    action: null,
    fix: null,
  };
}

type Happened = Statistics["event_types"][number];

/** Returns the types that happened since the endpoint exists. Those about endpoints are not sent to every endpoint. */
function happened({ created }: WebhookEndpoint, { event_types: types }: Statistics): Happened[] {
  return types.filter(({ type, last_at: at }) => !type.startsWith("webhook_endpoint.") && at >= created);
}

function listOf(types: readonly Happened[], time: TimeFormat): string {
  return types.map(({ type, last_at: at }) => `${type} (${time(at)})`).join(", ");
}

/** Returns why an endpoint never got an event. */
function noEventFor(endpoint: WebhookEndpoint, statistics: Statistics, time: TimeFormat): Finding | undefined {
  const types = happened(endpoint, statistics);
  if (types.length === 0) return statistics.totals.attempts > 0 ? undefined : nothingHappened(endpoint, time);
  const match = types.find(({ type }) => matchesSubscriptions(endpoint.events, type));
  if (match !== undefined) return missed(endpoint, match, time);
  const { name } = receiverOfEndpoint(endpoint);
  const events = [...endpoint.events, ...types.map(({ type }) => type)].join(",");
  return {
    code: "no_matching_event",
    subject: endpoint.id,
    summary: `Nothing that ${name} subscribes to has happened since it was created: ${endpoint.events.join(", ")}`,
    evidence: `Events of other types happened: ${listOf(types, time)}`,
    action: "Let the endpoint subscribe to these types too",
    fix: shellCommand`service endpoints update ${endpoint.id} --events ${events}`,
  };
}

/** An event that the endpoint subscribes to has no delivery. */
function missed(endpoint: WebhookEndpoint, { type, last_at: at }: Happened, time: TimeFormat): Finding {
  const { name } = receiverOfEndpoint(endpoint);
  return {
    code: "no_matching_event",
    subject: endpoint.id,
    summary: `${name} got no delivery of ${type}, which last happened at ${time(at)}: it was disabled then, or did not subscribe to it`,
    evidence: `It subscribes to ${endpoint.events.join(", ")} now`,
    action: "Replay the events since then",
    fix: shellCommand`service events replay --since ${at} --type ${type} --endpoint ${endpoint.id}`,
  };
}

function nothingHappened(endpoint: WebhookEndpoint, time: TimeFormat): Finding {
  const { id, events, created, livemode } = endpoint;
  const { name } = receiverOfEndpoint(endpoint);
  const type = events.flatMap(typesOfSubscription).find((name) => !name.startsWith("webhook_endpoint."));
  return {
    code: "no_event",
    subject: id,
    summary: `No event has happened since ${name} was created at ${time(created)}`,
    evidence: `It subscribes to ${events.join(", ")}`,
    ...(livemode || type === undefined
      ? { action: "Send a ping", fix: shellCommand`service endpoints ping ${id}` }
      : { action: "Trigger an event that it subscribes to", fix: shellCommand`service trigger ${type}` }),
  };
}
