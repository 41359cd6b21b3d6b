import type { Delivery } from "../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { attemptEvidence, attemptsOf, type Receiver, receiverOf } from "./attempts.ts";
import { currentCause, lastAttemptTime } from "./changes.ts";
import type { Chain } from "./chain.ts";
import { backlog, isBacklog } from "./backlog.ts";
import { counted, type Finding, span, type TimeFormat, waits } from "./finding.ts";

/** Later than this after its event, a delivery is late. */
const LATE_MILLISECONDS = 5000;

/** Returns what happened to the deliveries of an event: the receivers without one first, then those that got it. */
export function ofDeliveries(chain: Chain, time: TimeFormat): Finding[] {
  const { deliveries, listed, event } = chain;
  const receivers = groupByReceiver(listed.length === 0 ? deliveries : listed);
  const got = receivers.flatMap((own) => own.findLast(isSucceeded) ?? []);
  const findings: Finding[] = [];
  for (const own of receivers) {
    if (own.some(isSucceeded)) continue;
    const newest = deliveries.find(({ id }) => id === own[0]!.id);
    if (newest !== undefined) findings.push(ofDelivery(newest, chain, time));
  }
  if (got.length === 1) findings.push(delivered(got[0]!, chain, time));
  else if (got.length > 1) {
    findings.push({
      code: "delivered",
      subject: event?.id ?? chain.id,
      summary: `Delivered to ${findings.length === 0 ? "all" : `${got.length} of`} ${receivers.length} receivers`,
      evidence: attemptEvidence(attemptsOf(wholeOf(got[0]!, chain)), time),
      action: null,
      fix: null,
    });
  }
  return findings;
}

const isSucceeded = ({ status }: Delivery) => status === "succeeded";

function groupByReceiver(deliveries: readonly Delivery[]): Delivery[][] {
  const groups = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    const receiver = delivery.endpoint ?? delivery.listener ?? "";
    groups.set(receiver, [...(groups.get(receiver) ?? []), delivery]);
  }
  return [...groups.values()];
}

/** Returns a listed delivery with its attempts, if it is shown. */
function wholeOf(delivery: Delivery, { deliveries }: Chain): Delivery {
  return deliveries.find(({ id }) => id === delivery.id) ?? delivery;
}

/** Returns what happened to one delivery. */
export function ofDelivery(delivery: Delivery, chain: Chain, time: TimeFormat): Finding {
  if (isSucceeded(delivery)) return delivered(delivery, chain, time);
  const endpoint = delivery.endpoint === null ? undefined : chain.endpoints.get(delivery.endpoint);
  const finding = troubled(delivery, endpoint, chain, time);
  const other = sameReceiver(delivery, chain).findLast(isSucceeded);
  if (other === undefined) return finding;
  const summary = `${finding.summary}, and another delivery of the event to it succeeded at ${time(lastTimeOf(other, chain))}`;
  return { ...finding, summary, action: null, fix: null };
}

function sameReceiver({ endpoint, listener }: Delivery, { listed }: Chain): Delivery[] {
  return listed.filter((other) => other.endpoint === endpoint && other.listener === listener);
}

function lastTimeOf(delivery: Delivery, chain: Chain): string {
  return wholeOf(delivery, chain).attempts?.at(-1)?.at ?? delivery.created;
}

function delivered(listed: Delivery, chain: Chain, time: TimeFormat): Finding {
  const delivery = wholeOf(listed, chain);
  const { endpoint } = delivery;
  const attempts = attemptsOf(delivery);
  const { name } = receiverOf(delivery, endpoint === null ? undefined : chain.endpoints.get(endpoint));
  const to = endpoint === null ? "Delivered by a listener" : `Delivered to ${name}`;
  const last = attempts.at(-1);
  const own = sameReceiver(delivery, chain);
  const index = own.findIndex(({ id }) => id === delivery.id);
  const earlier = own[index + 1];
  const wait = last === undefined ? 0 : Date.parse(last.at) - Date.parse(delivery.created);
  let how = last === undefined ? "" : ` in ${span(last.duration_ms)}`;
  if (earlier !== undefined && !isSucceeded(earlier)) {
    how = ` by a replay at ${time(delivery.created)}, after the earlier delivery ${earlier.status === "pending" ? "did not succeed" : PAST[earlier.status]}`;
  } else if (wait > LATE_MILLISECONDS || attempts.length > 1) {
    how = ` ${span(wait)} after the event, with ${attempts.length === 1 ? "the first attempt" : `attempt ${attempts.length}`}`;
  }
  return {
    code: "delivered",
    subject: delivery.id,
    summary: to + how + replaysOf(own.slice(0, Math.max(0, index)), time),
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

function troubled(delivery: Delivery, endpoint: WebhookEndpoint | undefined, chain: Chain, time: TimeFormat): Finding {
  const { id, status, next_attempt: next, event } = delivery;
  const attempts = attemptsOf(delivery);
  const receiver = receiverOf(delivery, endpoint);
  const evidence = attemptEvidence(attempts, time);
  const found = (finding: Pick<Finding, "code" | "summary" | "action" | "fix">): Finding => ({
    subject: id,
    evidence,
    ...finding,
  });
  const isUnknown = chain.missingScopes.includes("webhook_endpoints:read");
  if (delivery.endpoint !== null && endpoint === undefined && !isUnknown) {
    return found({
      code: "endpoint_deleted",
      summary: `The endpoint ${delivery.endpoint} was deleted`,
      action: "Replay the event to the endpoints that subscribe to it now",
      fix: shellCommand`service events replay ${event}`,
    });
  }
  const isDisabled = endpoint?.status === "disabled";
  const enabledFirst = (action: string, fix: string | null) =>
    isDisabled
      ? { action: "Enable the endpoint", fix: shellCommand`service endpoints enable ${endpoint.id}` }
      : { action, fix };
  const again = againOf(delivery);
  const last = attempts.at(-1);
  if (isDisabled && (status === "pending" || last?.status_code === 410)) {
    return { ...disabled(endpoint, time, 0), subject: id, evidence };
  }
  if (status === "canceled") {
    const after = attempts.length === 0 ? "before its first attempt" : `after ${counted(attempts.length, "attempt")}`;
    const summary = `The delivery to ${receiver.name} was canceled ${after}`;
    return found({
      code: "delivery_canceled",
      summary,
      ...enabledFirst("Retry, if the receiver should get it", again),
    });
  }
  if (last === undefined) return notAttempted(delivery, receiver, chain, time);
  const {
    code,
    what,
    action,
    fix = again,
    isToWait = false,
  } = currentCause(last, lastAttemptTime(last.at, delivery), receiver, endpoint, chain);
  const isFinal = status === "failed" && attempts.length > 1;
  const due = next !== null && Date.parse(next) > chain.now ? `at ${time(next)}` : "now";
  const summary = isFinal
    ? `${what}; all ${attempts.length} attempts failed, and there are no more`
    : next === null
      ? what
      : `${what}; attempt ${attempts.length + 1} is due ${due}`;
  if (isToWait && next !== null) return found({ code, summary, action: "Wait for the next attempt", fix: null });
  return found({ code, summary, ...enabledFirst(action, fix) });
}

/** Returns the command that sends a delivery again. */
function againOf({ id, endpoint, event }: Delivery): string {
  return endpoint === null
    ? shellCommand`service events replay ${event}`
    : shellCommand`service deliveries retry ${id}`;
}

/** Returns that an endpoint is disabled, by whom, and how many deliveries wait. */
export function disabled(endpoint: WebhookEndpoint, time: TimeFormat, waiting: number): Finding {
  const { id, disabled_reason: reason, disabled_at: at } = endpoint;
  const { name } = receiverOf({ endpoint: id } as Delivery, endpoint);
  const who = reason === "gone" ? "because it responded with 410 Gone" : "by a user";
  const when = at === null ? "" : ` at ${time(at)}`;
  const wait = waiting === 0 ? "" : `; ${waits(waiting)} until it is enabled`;
  return {
    code: "endpoint_disabled",
    subject: id,
    summary: `${name} was disabled${when} ${who}${wait}`,
    evidence: null,
    action: reason === "gone" ? "Enable the endpoint, if the receiver is back" : "Enable the endpoint",
    fix: shellCommand`service endpoints enable ${id}`,
  };
}

function notAttempted(delivery: Delivery, receiver: Receiver, { statistics }: Chain, time: TimeFormat): Finding {
  const { id, next_attempt: next, created } = delivery;
  if (statistics !== undefined && isBacklog(statistics)) return { ...backlog(statistics, receiver), subject: id };
  return {
    code: "delivery_pending",
    subject: id,
    summary: `The first attempt to deliver to ${receiver.name} has not finished yet`,
    evidence: `Created at ${time(created)}${next === null ? "" : `, due at ${time(next)}`}`,
    action: "Look again in a moment",
    fix: shellCommand`service why ${id}`,
  };
}
