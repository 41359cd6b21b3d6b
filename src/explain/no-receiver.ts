import { matchesSubscriptions } from "../contract/event-types.ts";
import type { Event } from "../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { receiverOfEndpoint } from "./attempts.ts";
import type { Chain } from "./chain.ts";
import { disabled } from "./deliveries.ts";
import { counted, type Finding, type TimeFormat } from "./finding.ts";

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
      action: "Enable the endpoint, then replay the event",
      fix: shellCommand`service endpoints enable ${stopped.id}`,
    };
  }
  const [later] = subscribed;
  if (later !== undefined) {
    const { name } = receiverOfEndpoint(later);
    return {
      ...finding,
      summary: `${name} subscribes to ${event.type} now, but did not when the event happened`,
      action: "Replay the event",
      fix: shellCommand`service events replay ${event.id}`,
    };
  }
  const summary = `No endpoint subscribes to ${event.type}`;
  if (chain.isLive) {
    return { ...finding, summary, action: "Let an endpoint subscribe to it", fix: "service endpoints list" };
  }
  const listeners = chain.statistics?.listeners ?? 0;
  if (listeners === 0) {
    return {
      ...finding,
      summary: `${summary}, and no listener is connected`,
      action: "Start a listener that also gets this event",
      fix: shellCommand`service listen --forward-to localhost:3000 --since ${event.id}`,
    };
  }
  const who = listeners === 1 ? "the listener" : counted(listeners, "listener");
  return {
    ...finding,
    summary: `${summary}, and ${who} that ${listeners === 1 ? "is" : "are"} connected did not forward it`,
    action: "Check --events and --where of the listener, and that it has --forward-to, then replay the event",
    fix: shellCommand`service events replay ${event.id}`,
  };
}

function subscriptionsOf(endpoints: readonly WebhookEndpoint[]): string {
  if (endpoints.length === 0) return "There is no endpoint";
  return endpoints
    .slice(0, 5)
    .map((endpoint) => `${receiverOfEndpoint(endpoint).name}: ${endpoint.events.join(", ")}`)
    .join("; ");
}
