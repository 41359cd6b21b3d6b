import { matchesSubscriptions } from "../contract/event-types.ts";
import { lowestIdAt, timeOfId } from "../contract/ids.ts";
import type { Event } from "../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { receiverOfEndpoint } from "./attempts.ts";
import type { Chain } from "./chain.ts";
import { disabled } from "./deliveries.ts";
import type { Finding, TimeFormat } from "./finding.ts";

/** Returns why an event has no delivery. */
export function noReceiver(event: Event, chain: Chain, time: TimeFormat): Finding {
  const endpoints = [...chain.endpoints.values()].filter((endpoint) => endpoint !== undefined);
  const subscribed = endpoints.filter(({ events }) => matchesSubscriptions(events, event.type));
  const finding = { code: "no_receiver", subject: event.id, evidence: subscriptionsOf(endpoints) } as const;
  const stopped = subscribed.find(({ status }) => status === "disabled");
  if (stopped !== undefined) {
    const { summary } = disabled(stopped, time, 0);
    return {
      ...finding,
      summary: `No endpoint got the event: ${summary}`,
      action: "Enable the endpoint, so that the event can be replayed to it",
      fix: shellCommand`service endpoints enable ${stopped.id}`,
    };
  }
  const [later] = subscribed;
  if (later !== undefined) {
    return {
      ...finding,
      summary: missedBy(later, event, chain),
      action: "Replay the event",
      fix: shellCommand`service events replay ${event.id}`,
    };
  }
  const summary = `No endpoint subscribes to ${event.type}`;
  if (chain.isLive) {
    return {
      ...finding,
      summary,
      action: "Look for the endpoint that should subscribe to it",
      fix: "service endpoints list",
    };
  }
  return { ...finding, ...ofListeners(summary, finding.evidence, event, chain) };
}

/** Returns why an endpoint that subscribes to an event has no delivery of it. */
function missedBy(endpoint: WebhookEndpoint, event: Event, chain: Chain): string {
  const { name } = receiverOfEndpoint(endpoint);
  if (timeOfId(endpoint.id) > timeOfId(event.id)) {
    return `${name} subscribes to ${event.type}, but was created after the event`;
  }
  // Something has changed since the event, and the newest change is the one that let it subscribe.
  const change = chain.changes.get(endpoint.id)?.find(({ events, status }) => events ?? status);
  if (change?.events !== undefined)
    return `${name} subscribes to ${event.type} now, but did not when the event happened`;
  if (change !== undefined) return `${name} subscribes to ${event.type}, but was disabled when the event happened`;
  return `${name} subscribes to ${event.type}, but was disabled when the event happened, or did not subscribe to it yet`;
}

/** Returns what listeners can have to do with an event that no endpoint subscribes to. */
function ofListeners(
  summary: string,
  evidence: string,
  event: Event,
  { statistics }: Chain,
): Pick<Finding, "summary" | "evidence" | "action" | "fix"> {
  const { listeners = 0, listener_events: types } = statistics ?? {};
  const replay = shellCommand`service events replay ${event.id}`;
  if (listeners === 0) {
    // The lowest ID of its millisecond is before the event: a listener begins after the ID that it is given.
    const before = lowestIdAt("event", timeOfId(event.id));
    return {
      summary: `${summary}, and no listener is connected`,
      evidence: `${evidence}. A listener that disconnects before it acknowledges an event leaves no delivery`,
      action: "Start a listener before this event, to receive it and later ones",
      fix: shellCommand`service listen --forward-to localhost:3000 --since ${before}`,
    };
  }
  const isOne = listeners === 1;
  if (types !== undefined && types !== null && !matchesSubscriptions(types, event.type)) {
    return {
      summary: `${summary}, nor ${isOne ? "does the connected listener" : `do the ${listeners} connected listeners`}`,
      evidence: `${isOne ? "The listener subscribes" : "The listeners subscribe"} to ${types.join(", ")}`,
      action: `Restart the listener with ${event.type} in --events, then replay the event`,
      fix: replay,
    };
  }
  return {
    summary: `${isOne ? "The connected listener has" : `The ${listeners} connected listeners have`} not reported a result for the event yet`,
    evidence: `It may still be ${isOne ? "" : "in one of them, "}forwarding it; or its --where excludes it, or it has no --forward-to`,
    action: "Look at the output of the listener",
    fix: null,
  };
}

function subscriptionsOf(endpoints: readonly WebhookEndpoint[]): string {
  if (endpoints.length === 0) return "There is no endpoint";
  return endpoints
    .slice(0, 5)
    .map((endpoint) => `${receiverOfEndpoint(endpoint).name}: ${endpoint.events.join(", ")}`)
    .join("; ");
}
