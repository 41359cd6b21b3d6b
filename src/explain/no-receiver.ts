import { matchesSubscriptions } from "../contract/event-types.ts";
import { timeOfId } from "../contract/ids.ts";
import type { Event } from "../contract/schemas/event.ts";
import type { ListenerResult } from "../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { obstacleAt } from "./changes.ts";
import type { Chain } from "./chain.ts";
import { disabled } from "./deliveries.ts";
import type { Finding, TimeFormat } from "./finding.ts";
import { receiverOfEndpoint } from "./receivers.ts";
import { forwardOf, isListened, replayOf } from "./replays.ts";

type Answer = Pick<Finding, "code" | "summary" | "evidence" | "action" | "fix">;

/** Returns why an event has no delivery. */
export function noReceiver(event: Event, chain: Chain, time: TimeFormat): Finding {
  const endpoints = [...chain.endpoints.values()].filter((endpoint) => endpoint !== undefined);
  const subscribed = endpoints.filter(({ events }) => matchesSubscriptions(events, event.type));
  const older = subscribed.find(({ id }) => timeOfId(id) <= timeOfId(event.id));
  const [newer] = subscribed;
  const [result] = chain.statistics?.listener_results ?? [];
  const answer =
    older !== undefined
      ? missedBy(older, event, chain, time)
      : result !== undefined
        ? ofListener(result, event, chain)
        : newer !== undefined
          ? missedBy(newer, event, chain, time)
          : ofNobody(event, endpoints, chain);
  return { subject: event.id, ...answer };
}

/** Returns why an endpoint that subscribes to an event has no delivery of it. */
function missedBy(endpoint: WebhookEndpoint, event: Event, chain: Chain, time: TimeFormat): Answer {
  const { name } = receiverOfEndpoint(endpoint);
  const created = timeOfId(event.id);
  const obstacle = obstacleAt(endpoint, { type: event.type, time: created }, chain);
  const evidence = subscriptionsOf([endpoint]);
  if (endpoint.status === "disabled") {
    const { summary, action, fix } = disabled(endpoint, time, 0);
    return { code: "no_receiver", summary: `No endpoint got the event: ${summary}`, evidence, action, fix };
  }
  const reason =
    timeOfId(endpoint.id) > created
      ? "but was created after the event"
      : obstacle === undefined
        ? "but got no delivery of the event"
        : obstacle.why === "disabled"
          ? "but was disabled when the event happened"
          : "but did not yet when the event happened";
  const summary = `${name} subscribes to ${event.type}, ${reason}`;
  return { code: "no_receiver", summary, evidence, action: "Replay the event", fix: replayOf(event.id) };
}

/** Returns what a listener did with an event that no endpoint subscribes to. */
function ofListener({ listener, result }: ListenerResult, { id, type }: Event, chain: Chain): Answer {
  switch (result) {
    case "forwarding":
      return {
        code: "delivery_pending",
        summary: "A listener is forwarding the event and has not reported a result yet",
        evidence: `${listener} has the event, and reports its attempts after the last one`,
        action: "Check again in a moment",
        fix: shellCommand`service why ${id}`,
      };
    case "filtered":
      return {
        code: "not_forwarded",
        summary: "The listener did not forward the event: its --where excludes it",
        evidence: `${listener} reported that its filter excludes the event`,
        action: "Forward the event without the filter",
        fix: forwardOf(id),
      };
    case "not_forwarded":
      return {
        code: "not_forwarded",
        summary: `The listener printed the event without forwarding it: it has no --forward-to or --route for ${type}`,
        evidence: `${listener} reported that it did not forward the event`,
        action: "Forward the event to your application",
        fix: forwardOf(id),
      };
    case "disconnected": {
      const again = isListened(chain, type)
        ? { action: "Replay the event to the connected listener", fix: replayOf(id) }
        : { action: "Forward the event again", fix: forwardOf(id) };
      return {
        code: "listener_disconnected",
        summary: "The listener disconnected before it reported a result for the event",
        evidence: `${listener} had the event and did not acknowledge it`,
        ...again,
      };
    }
  }
}

/** Returns why neither an endpoint nor a listener got an event. */
function ofNobody({ id, type }: Event, endpoints: readonly WebhookEndpoint[], chain: Chain): Answer {
  const { listeners = 0, listener_events: types } = chain.statistics ?? {};
  const code = "no_receiver";
  const unsubscribed = `No endpoint subscribes to ${type}`;
  const evidence = subscriptionsOf(endpoints);
  if (isListened(chain, type)) {
    return {
      code,
      summary: `${unsubscribed}, and no listener reported a result for the event`,
      evidence: `${evidence}. ${listeners === 1 ? "A listener is" : `${listeners} listeners are`} connected now`,
      action: "Replay the event to the connected listener",
      fix: replayOf(id),
    };
  }
  const enabled = endpoints.filter(({ status }) => status === "enabled");
  const related = `${type.split(".", 1)[0]}.`;
  const candidate = enabled.find(({ events }) => events.some((name) => name.startsWith(related))) ?? enabled[0];
  if (candidate !== undefined) {
    const events = [...candidate.events, type].join(",");
    return {
      code,
      summary: unsubscribed,
      evidence,
      action: `Subscribe ${receiverOfEndpoint(candidate).name} to ${type}`,
      fix: shellCommand`service endpoints update ${candidate.id} --events ${events}`,
    };
  }
  if (chain.isLive)
    return { code, summary: unsubscribed, evidence, action: `Create an endpoint for ${type}`, fix: null };
  const fix = forwardOf(id);
  if (listeners === 0) {
    const summary = `${unsubscribed}, and no listener is connected`;
    return { code, summary, evidence, action: "Forward the event to your application", fix };
  }
  const isOne = listeners === 1;
  return {
    code,
    summary: `${unsubscribed}, nor ${isOne ? "does the connected listener" : `do the ${listeners} connected listeners`}`,
    evidence: `${isOne ? "The listener subscribes" : "The listeners subscribe"} to ${(types ?? []).join(", ")}`,
    action: "Forward the event with a listener for all types",
    fix,
  };
}

const MAX_ENDPOINTS = 5;

function subscriptionsOf(endpoints: readonly WebhookEndpoint[]): string {
  if (endpoints.length === 0) return "There are no endpoints";
  const shown = endpoints.slice(0, MAX_ENDPOINTS);
  const rest = endpoints.length > shown.length ? `; and ${endpoints.length - shown.length} more` : "";
  const one = (endpoint: WebhookEndpoint) =>
    `${receiverOfEndpoint(endpoint).name} subscribes to ${endpoint.events.join(", ")}`;
  return shown.map(one).join("; ") + rest;
}
