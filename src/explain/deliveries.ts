import { capitalized, counted } from "../contract/words.ts";
import { matchesSubscriptions } from "../contract/event-types.ts";
import { kindOfId, timeOfId } from "../contract/ids.ts";
import { isSuccess } from "../contract/is-success.ts";
import { LIMITS } from "../contract/limits.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { Event } from "../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { attemptEvidence, attemptsOf, chaosIn, endingOf, lastAttempted, lastNumber, resultOf } from "./attempts.ts";
import { groupByReceiver, inWords, type ReceiverState, stateOf } from "./states.ts";
import { backlog, isBacklog, isSameReceiver, type Receiver, receiverOf, receiverOfEndpoint } from "./receivers.ts";
import { causeOf, pauseAfter, remedyOf } from "./causes.ts";
import { currentCause, disabledAt, lastAttemptTime, OF_SECRET } from "./changes.ts";
import type { Chain } from "./chain.ts";
import { afterRepair, disabled } from "./disabled.ts";
import { atStart, everyAttempt, type Finding, span, type TimeFormat } from "./finding.ts";
import { flagOf, forwardOf, isListened, isSentAgain, sendAgain, sessionsOf, undelivered } from "./listeners.ts";
import { forwardTo, replayOf } from "./resend.ts";

/** A delivery is late if it arrives more than this after its event. */
const LATE_MILLISECONDS = 5000;
const SECOND = 1000;
const DAY = 86_400;

type Answer = Pick<Finding, "code" | "summary" | "action" | "fix">;

/**
 * Returns what happened to the deliveries of an event: how many receivers it reached, then those without a successful
 * one, then the others.
 */
export function ofDeliveries(chain: Chain, time: TimeFormat): Finding[] {
  const { deliveries, listed, event } = chain;
  const receivers = groupByReceiver(listed.length === 0 ? deliveries : listed).filter(
    ([newest]) => !isSentAgain(newest!, chain),
  );
  const got = receivers.flatMap((own) => own.findLast(isSucceeded) ?? []);
  const findings: Finding[] = [];
  const ofDeletedEndpoints: Finding[] = [];
  const missed: ReceiverState[] = [];
  // Those that are not retried any more come first.
  const isFailed = ([newest]: readonly Delivery[]) => Number(newest!.status === "failed");
  for (const own of [...receivers].sort((a, b) => isFailed(b) - isFailed(a))) {
    if (own.some(isSucceeded)) continue;
    const newest = deliveries.find(({ id }) => id === own[0]!.id);
    const isDeleted = isOfDeleted(own[0]!, chain);
    if (!isDeleted) missed.push(stateOf(own[0]!));
    if (newest !== undefined) (isDeleted ? ofDeletedEndpoints : findings).push(ofDelivery(newest, chain, time));
  }
  const held = undelivered(chain, time);
  findings.push(...held);
  missed.push(...held.map(({ code }): ReceiverState => (code === "listener_disconnected" ? "failed" : "retrying")));
  const unsent = event === undefined ? [] : disabledAt(event, chain);
  missed.push(...unsent.filter(({ status }) => status === "disabled").map((): ReceiverState => "missed"));
  const areEndpoints = receivers.every(([one]) => one!.endpoint !== null) && findings.every(isOfDelivery);
  const noun = areEndpoints ? "endpoints" : "receivers";
  // As lists count them.
  const number = got.length + missed.length;
  if (findings.length > 0 && number > 1) {
    const type = event?.type ?? "The event";
    const which = got.length === 0 ? `any of ${number}` : `${missed.length} of ${number}`;
    const unreached = `${type} did not reach ${which} ${noun}: ${inWords(missed)}`;
    const [first, ...others] = findings;
    if (others.length > 0) findings.unshift(severalFailed(unreached, findings, chain));
    else {
      const reached = `${type} reached ${got.length} of ${number} ${noun}`;
      first!.summary += `. ${missed.length === 1 ? reached : unreached}`;
    }
  }
  const notSent = unsent.length === 0 ? "" : `; not sent to ${unsent.map(nameOf).join(", ")}, disabled at the time`;
  if (findings[0]?.code === "undelivered") findings[0].evidence += notSent;
  // A deleted endpoint needs no action, so endpoints that still fail come first.
  findings.push(...ofDeletedEndpoints);
  if (got.length === 1) {
    const finding = delivered(got[0]!, chain, time);
    findings.push({ ...finding, summary: finding.summary + (findings.length === 0 ? notSent : "") });
  } else if (got.length > 1 && findings.length === 0) {
    findings.push({
      code: "delivered",
      subject: event?.id ?? chain.id,
      summary: `Delivered to ${got.length === 2 ? "both" : `all ${got.length}`} ${noun}${notSent}`,
      evidence: lastArrival(got, chain, time),
      action: null,
      fix: null,
    });
  }
  return [...findings, ...unsent.map((endpoint) => notSentTo(endpoint, event!, chain, time))];
}

/** Returns the evidence of the delivery that arrived last, with its receiver if it took more than one attempt. */
function lastArrival(got: readonly Delivery[], chain: Chain, time: TimeFormat): string | null {
  const whole = got.map((delivery) => wholeOf(delivery, chain)).filter(({ attempts }) => attempts !== undefined);
  // Times are known to the second only.
  const last = lastAttempted(whole.toSorted((a, b) => b.attempt_count - a.attempt_count));
  const evidence = last === undefined ? null : attemptEvidence(attemptsOf(last), time);
  if (last === undefined || evidence === null || last.attempt_count === 1) return evidence;
  const { name } = receiverOf(last, chain.endpoints.get(last.endpoint ?? ""));
  return `Last to ${name}: ${evidence.replace(/^Attempt/, "attempt")}`;
}

const nameOf = (endpoint: WebhookEndpoint) => receiverOfEndpoint(endpoint).name;

/** Returns that an event has no delivery to an endpoint that was disabled. */
function notSentTo(endpoint: WebhookEndpoint, { id }: Event, chain: Chain, time: TimeFormat): Finding {
  const isDisabled = endpoint.status === "disabled";
  const { summary, evidence } = disabled(endpoint, chain, time, 0);
  const replay = shellCommand`service events replay ${id} --endpoint ${endpoint.id}`;
  return {
    code: "endpoint_disabled",
    subject: endpoint.id,
    summary: isDisabled
      ? `Not sent to ${nameOf(endpoint)}: ${summary.slice(nameOf(endpoint).length).replace(/^ was/, "it was")}`
      : `Not sent to ${nameOf(endpoint)}: it was disabled when the event happened, and is enabled now`,
    evidence: isDisabled ? evidence : `It subscribes to ${endpoint.events.join(", ")}`,
    action: isDisabled ? "Enable the endpoint, then replay the event to it" : "Replay the event to it",
    fix: isDisabled ? `${shellCommand`service endpoints enable ${endpoint.id}`} && ${replay}` : replay,
  };
}

/** A listener that still has the event has no delivery of it. */
function isOfDelivery({ subject }: Finding): boolean {
  return kindOfId(subject) === "delivery" || kindOfId(subject) === "webhook_endpoint";
}

/** Returns that several receivers did not get an event, whose findings begin with their names from now on. */
function severalFailed(
  summary: string,
  failed: readonly Finding[],
  { id, event, deliveries, endpoints }: Chain,
): Finding {
  const names: string[] = [];
  for (const finding of failed) {
    const delivery = deliveries.find((one) => one.id === finding.subject);
    const receiver = delivery && receiverOf(delivery, endpoints.get(delivery.endpoint ?? ""));
    // Several listeners have several applications.
    const name = delivery?.target?.replace(/^https?:\/\/|\/$/g, "") ?? receiver?.name ?? "your application";
    const host = receiver?.host ?? name;
    names.push(name);
    finding.summary = finding.summary.replace(/^Your application(?= )/, name);
    // A name that was not given is the URL without its scheme.
    const known = name.startsWith(host) ? host : name;
    if (!finding.summary.toLowerCase().includes(known.toLowerCase()))
      finding.summary = atStart(`${name}: ${finding.summary}`);
  }
  const others = [...new Set(names)];
  const last = others.pop();
  const evidence = `Not delivered to ${[others.join(", "), last].filter(Boolean).join(" and ")}`;
  return { code: "undelivered", subject: event?.id ?? id, summary, evidence, action: null, fix: null };
}

function isOfDeleted({ endpoint }: Delivery, { endpoints, missingScopes }: Chain): boolean {
  const isUnknown = missingScopes.includes("webhook_endpoints:read");
  return endpoint !== null && endpoints.get(endpoint) === undefined && !isUnknown;
}

const isSucceeded = ({ status }: Delivery) => status === "succeeded";

/** Returns a listed delivery with its attempts, if it is shown. */
function wholeOf(delivery: Delivery, { deliveries }: Chain): Delivery {
  return deliveries.find(({ id }) => id === delivery.id) ?? delivery;
}

/** Returns what happened to one delivery. */
export function ofDelivery(delivery: Delivery, chain: Chain, time: TimeFormat): Finding {
  if (isSucceeded(delivery)) return delivered(delivery, chain, time);
  const finding = troubled(delivery, chain, time);
  finding.summary += chaosIn(delivery);
  const other = sameReceiver(delivery, chain).findLast(isSucceeded);
  if (other === undefined) return finding;
  const at = time(wholeOf(other, chain).attempts?.at(-1)?.at ?? other.created);
  const isLater = timeOfId(other.id) > timeOfId(delivery.id);
  const summary = `${finding.summary}; ${isLater ? "a replay" : "an earlier delivery"} succeeded at ${at}`;
  return { ...finding, summary, action: null, fix: null };
}

/** Returns the deliveries of the event to the same receiver, newest first. */
function sameReceiver(delivery: Delivery, { listed }: Chain): Delivery[] {
  return listed.filter((other) => isSameReceiver(other, delivery));
}

function delivered(listed: Delivery, chain: Chain, time: TimeFormat): Finding {
  const delivery = wholeOf(listed, chain);
  const { endpoint } = delivery;
  const { name } = receiverOf(delivery, endpoint === null ? undefined : chain.endpoints.get(endpoint));
  const sessions = sessionsOf(delivery, chain);
  const all = attemptsOf(delivery);
  const success = all.findIndex(({ status_code: code }) => isSuccess(code));
  const attempts = success === -1 || sessions > 1 ? all : all.slice(0, success + 1);
  const [resent] = all.slice(attempts.length).toReversed();
  const by = sessions < 2 ? "a listener" : `${sessions} sessions of a listener`;
  const last = attempts.at(-1);
  const number = lastNumber(attempts);
  const own = sameReceiver(delivery, chain);
  const index = own.findIndex(({ id }) => id === delivery.id);
  const earlier = own[index + 1];
  // A listener reports a delivery once it has made it.
  const start = earlier === undefined ? timeOfId(delivery.event) : Date.parse(delivery.created);
  const wait = last === undefined ? 0 : Date.parse(last.at) - Math.floor(start / SECOND) * SECOND;
  // Times of attempts are whole seconds.
  const after = wait < SECOND ? "within a second of" : `${span(wait).replace(".0", "")} after`;
  let how = last === undefined ? "" : ` in ${span(last.duration_ms)}`;
  const isReplay = earlier !== undefined && !isSucceeded(earlier);
  if (isReplay) {
    how = ` by a replay at ${time(delivery.created)}, after the earlier delivery ${earlier.status === "pending" ? "did not succeed" : PAST[earlier.status]}`;
  } else if (wait > LATE_MILLISECONDS || (number > 1 && sessions < 2)) {
    how = ` ${after} the event, with ${number === 1 ? "the first attempt" : `attempt ${number}`}`;
  }
  return {
    code: "delivered",
    subject: delivery.id,
    summary:
      (endpoint !== null ? `Delivered to ${name}` : isReplay ? "Delivered" : `Delivered by ${by}`) +
      how +
      (resent === undefined ? "" : `; resent at ${time(resent.at)}: ${resultOf(resent)}`) +
      replaysOf(own.slice(0, Math.max(0, index)), time) +
      chaosIn(delivery),
    evidence: attemptEvidence(attempts, time),
    action: null,
    fix: null,
  };
}

/** Returns the results of replays after a success, newest first. */
function replaysOf([last, ...others]: readonly Delivery[], time: TimeFormat): string {
  if (last === undefined) return "";
  const which = others.length === 0 ? "the replay" : `the last of ${others.length + 1} replays`;
  const result = { ...PAST, succeeded: "succeeded too", pending: "has not succeeded yet" }[last.status];
  return `; ${which} at ${time(last.created)} ${result}`;
}

const PAST = { failed: "failed", canceled: "was canceled", succeeded: "succeeded" } as const;

function troubled(delivery: Delivery, chain: Chain, time: TimeFormat): Finding {
  const { id, status, next_attempt: next, attempting_since: since } = delivery;
  const endpoint = delivery.endpoint === null ? undefined : chain.endpoints.get(delivery.endpoint);
  const attempts = attemptsOf(delivery);
  const sessions = sessionsOf(delivery, chain);
  const receiver = { ...receiverOf(delivery, endpoint), flag: flagOf(delivery.target, chain) };
  if (sessions > 0) receiver.again = "retry";
  const shown = attemptEvidence(attempts, time);
  // Attempts of several sessions at the same time are recorded once, so they have no true number.
  const evidence = sessions < 2 ? shown : (shown?.replace(/^Attempt \d+/, "Last attempt") ?? null);
  if (isOfDeleted(delivery, chain)) {
    return { subject: id, evidence, ...ofDeletedEndpoint(delivery, receiver, chain) };
  }
  const isDisabled = endpoint?.status === "disabled";
  const enable = isDisabled ? `${shellCommand`service endpoints enable ${endpoint.id}`} && ` : "";
  const again = enable + againOf(delivery, chain);
  const found = (finding: Answer): Finding => ({
    subject: id,
    evidence,
    ...finding,
    ...(isDisabled && finding.action !== null ? afterEnabling(finding, again) : {}),
  });
  const last = attempts.at(-1);
  if (isDisabled && (status === "pending" || last?.status_code === 410)) {
    const finding = disabled(endpoint, chain, time, 0);
    const summary = last === undefined ? `Not attempted yet: ${finding.summary}` : finding.summary;
    const known = { ...finding, subject: id, summary, evidence: evidence ?? finding.evidence };
    if (status === "pending") return known;
    // A delivery that failed for good is not sent again by enabling its endpoint.
    const action = `${finding.action}, then retry the delivery`;
    return { ...known, action, fix: again };
  }
  if (status === "canceled") {
    const after = attempts.length === 0 ? "before its first attempt" : `after ${counted(attempts.length, "attempt")}`;
    const summary = `The delivery to ${receiver.name} was canceled ${after}`;
    const action = "Retry it, if the receiver should still get the event";
    return found({ code: "delivery_canceled", summary, action, fix: again });
  }
  if (last === undefined) return found(notAttempted(delivery, receiver, chain, time));
  const at = lastAttemptTime(last.at, delivery);
  const cause = currentCause({ ...last, delivery: id }, at, receiver, chain);
  const { code, what, instead, pause } = cause;
  const { action, fix } = remedyOf(cause, instead === undefined ? again : forwardTo(delivery.event, instead));
  const upcoming =
    since !== null
      ? "is in progress"
      : `is due ${next !== null && Date.parse(next) > chain.now ? `at ${time(next)}` : "now"}`;
  const all = sessions < 2 ? everyAttempt(attempts.length) : `all attempts of ${sessions} sessions`;
  const accepted = next === null ? attempts.findLast(({ status_code: code }) => isSuccess(code)) : undefined;
  if (accepted !== undefined) {
    const summary = `${what}; another attempt succeeded with ${accepted.status_code} at ${time(accepted.at)}`;
    if (sessions < 2 || !OF_SECRET.has(code)) return found({ code, summary, action, fix });
    const same = "Start all sessions of `service listen` with the same secret, or stop the others";
    return found({ code, summary, action: same, fix: shellCommand`service why ${delivery.listener!}` });
  }
  const ending = endingOf(delivery);
  const isOver = status === "failed" && (attempts.length > 1 || ending !== undefined);
  const rest =
    ending === "endpoint_disabled" ? "the endpoint stayed disabled for the rest of the 3 days" : "no retries are left";
  const summary = isOver
    ? `${what}; ${all} failed, and ${rest}`
    : next === null
      ? what
      : `${what}; attempt ${attempts.length + 1} ${upcoming}`;
  if (pause !== undefined) {
    const { text, isOver } = pauseAfter(pause, last.at, chain, time);
    const again = capitalized(receiver.again);
    const now = next === null ? again : "Retry now, or wait for the next attempt";
    const later = next === null ? `${again} afterwards` : "Wait for the next attempt, or retry once it is back";
    return found({ code, summary, action: isOver ? `${now}: ${text}` : `${text}. ${later}`, fix });
  }
  return found({ code, summary, action, fix });
}

/** Enabling an endpoint does not send failed deliveries again, and does not repair the receiver. */
function afterEnabling({ action, fix }: Answer, again: string) {
  if (action?.includes(again) === true) return { action, fix };
  const then = "enable the endpoint and retry the delivery";
  const advice =
    action?.startsWith("Retry it,") === true
      ? action.replace("Retry it", capitalized(then))
      : afterRepair({ action }, then);
  const correction = fix?.startsWith("service endpoints update ") === true ? fix.split(" && ", 1) : [];
  return { action: advice, fix: [...correction, again].join(" && ") };
}

/** Returns the command that sends a delivery again. */
function againOf(delivery: Delivery, chain: Chain): string {
  const { id, endpoint } = delivery;
  return endpoint === null ? sendAgain(delivery, chain) : shellCommand`service deliveries retry ${id}`;
}

/** The response is the cause, if there was one: the deletion only followed it. */
function ofDeletedEndpoint(delivery: Delivery, receiver: Receiver, chain: Chain): Answer {
  const { id, event, event_type: type } = delivery;
  const attempts = attemptsOf(delivery);
  const last = attempts.at(-1);
  const cause = last && causeOf({ ...last, delivery: id }, receiver);
  const code = cause?.code ?? "endpoint_deleted";
  const summary =
    cause === undefined
      ? `The endpoint ${receiver.endpoint} was deleted before the first attempt`
      : `${cause.what}; the endpoint was deleted after ${counted(attempts.length, "attempt")}`;
  // A replay would send duplicates to the other receivers.
  if (chain.listed.some(({ endpoint }) => endpoint !== delivery.endpoint))
    return { code, summary, action: null, fix: null };
  if (isSubscribed(chain, type) || isListened(chain, type)) {
    return { code, summary, action: "Replay the event to its current subscribers", fix: replayOf(event) };
  }
  if (chain.isLive)
    return { code, summary, action: `Create an endpoint for ${type}, then replay the event`, fix: null };
  return { code, summary, action: "Forward the event to your application", fix: forwardOf({ event, type }, chain) };
}

function isSubscribed({ endpoints }: Chain, type: string): boolean {
  return [...endpoints.values()].some(
    (endpoint) => endpoint?.status === "enabled" && matchesSubscriptions(endpoint.events, type),
  );
}

/** No request was sent: the delivery waits, or ended without one. */
function notAttempted(delivery: Delivery, { name, endpoint }: Receiver, chain: Chain, time: TimeFormat): Finding {
  const { id, next_attempt: next, created } = delivery;
  const { statistics } = chain;
  const subject = id;
  const evidence = `Created at ${time(created)}${next === null ? "" : `, due at ${time(next)}`}`;
  if (endingOf(delivery) === "event_expired") {
    const summary = `The event was deleted after ${LIMITS.replaySeconds / DAY} days, before an attempt to ${name}`;
    return { code: "delivery_failed", subject, summary, evidence, action: null, fix: null };
  }
  if (delivery.status === "failed") {
    const summary = `No attempt to ${name} was made in the ${LIMITS.retryTotalSeconds / DAY} days of retries`;
    return { code: "delivery_failed", subject, summary, evidence, action: "Retry now", fix: againOf(delivery, chain) };
  }
  if (statistics !== undefined && isBacklog(statistics)) return { ...backlog(statistics, { name, endpoint }), subject };
  return {
    code: "delivery_pending",
    subject,
    summary: `The first attempt to ${name} has not finished yet`,
    evidence,
    action: "Check again in a moment",
    fix: shellCommand`service why ${id}`,
  };
}
