import { matchesSubscriptions } from "../contract/event-types.ts";
import { timeOfId } from "../contract/ids.ts";
import type { Event } from "../contract/schemas/event.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { listed } from "../contract/words.ts";
import { obstacleAt } from "./changes.ts";
import type { Chain } from "./chain.ts";
import { disabled } from "./disabled.ts";
import type { Finding, TimeFormat } from "./finding.ts";
import { forwardOf, isListened, noListener, ofResult, openConnections } from "./listeners.ts";
import { replayOf } from "./resend.ts";
import { receiverOfEndpoint } from "./receivers.ts";

type Answer = Pick<Finding, "code" | "summary" | "evidence" | "action" | "fix">;

/** Returns why an event has no delivery. */
export function noReceiver(event: Event, chain: Chain, time: TimeFormat): Finding {
  const endpoints = [...chain.endpoints.values()].filter((endpoint) => endpoint !== undefined);
  const reported = REPORTS[event.type] === undefined ? undefined : event.data.object["id"];
  const subscribed = endpoints.filter(({ id, events }) => id !== reported && matchesSubscriptions(events, event.type));
  const older = subscribed.filter(({ id }) => timeOfId(id) <= timeOfId(event.id));
  const [newer] = subscribed;
  const [result] = chain.statistics?.listener_results ?? [];
  const unsubscribed = `${subscribed.length === 0 && endpoints.length > 0 ? `No endpoint subscribes to ${event.type}. ` : ""}${subscriptionsOf(endpoints)}`;
  const answer =
    older.length > 0 && result?.result !== "forwarding"
      ? missedByAll(older, event, chain, time)
      : result !== undefined
        ? ofResult(result, event, chain, time)
        : (ofSystem(event, chain) ??
          noListener(event, unsubscribed, chain, time) ??
          (newer === undefined ? ofNobody(event, endpoints, chain) : missedBy(newer, event, chain, time)));
  return { subject: event.id, ...answer };
}

/** Returns why endpoints that subscribe to an event have no delivery of it. */
function missedByAll(endpoints: readonly WebhookEndpoint[], event: Event, chain: Chain, time: TimeFormat): Answer {
  const missed = { type: event.type, time: timeOfId(event.id) };
  const isDisabled = ({ status }: WebhookEndpoint) => status === "disabled";
  const were = endpoints.filter((one) => isDisabled(one) || obstacleAt(one, missed, chain)?.why === "disabled");
  if (were.length < 2) return missedBy(were[0] ?? endpoints[0]!, event, chain, time);
  const names = were.map((endpoint) => receiverOfEndpoint(endpoint).name);
  return {
    code: "no_receiver",
    summary: `${listed(names, "and")} subscribe to ${event.type}, but were disabled when the event happened`,
    evidence: subscriptionsOf(were),
    ...redelivery(were.filter(isDisabled), event),
  };
}

/** Returns what sends an event to endpoints, of which these have to be enabled first. */
function redelivery(disabled: readonly WebhookEndpoint[], event: Event): Pick<Answer, "action" | "fix"> {
  const first = disabled.map(({ id }) => shellCommand`service endpoints enable ${id} && `).join("");
  const noun = disabled.length === 1 ? "the endpoint" : "the endpoints";
  const action = disabled.length === 0 ? "Replay the event" : `Enable ${noun}, then replay the event`;
  return { action, fix: first + replayOf(event.id) };
}

/** Returns why an endpoint that subscribes to an event has no delivery of it. */
function missedBy(endpoint: WebhookEndpoint, event: Event, chain: Chain, time: TimeFormat): Answer {
  const { name } = receiverOfEndpoint(endpoint);
  const created = timeOfId(event.id);
  const obstacle = obstacleAt(endpoint, { type: event.type, time: created }, chain);
  const evidence = subscriptionsOf([endpoint]);
  if (endpoint.status === "disabled") {
    const { summary } = disabled(endpoint, chain, time, 0);
    const sending = redelivery([endpoint], event);
    return { code: "no_receiver", summary: `No endpoint got the event: ${summary}`, evidence, ...sending };
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
  return { code: "no_receiver", summary, evidence, ...redelivery([], event) };
}

/** Events about an endpoint's state, which the endpoint itself does not get. */
const REPORTS: Record<string, string> = {
  "webhook_endpoint.failing": "that NAME fails",
  "webhook_endpoint.recovered": "that NAME has recovered",
  "webhook_endpoint.disabled": "that NAME was disabled",
};

function ofSystem({ type, data }: Event, { endpoints }: Chain): Answer | undefined {
  const id = data.object["id"];
  const report = REPORTS[type];
  if (report === undefined || typeof id !== "string") return undefined;
  const endpoint = endpoints.get(id);
  const name = endpoint === undefined ? `the endpoint ${id}` : receiverOfEndpoint(endpoint).name;
  return {
    code: "endpoint_event",
    summary: `The platform reported ${report.replace("NAME", name)}; nothing has to receive this event`,
    evidence: `An endpoint does not get reports about itself, and no other one subscribes to ${type}`,
    action: "Explain the state of the endpoint",
    fix: shellCommand`service why ${id}`,
  };
}

/** Returns why neither an endpoint nor a listener received an event. */
function ofNobody({ id, type }: Event, endpoints: readonly WebhookEndpoint[], chain: Chain): Answer {
  const { listeners = 0 } = chain.statistics ?? {};
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
  // Of several endpoints for other objects, none is more likely than another.
  const candidate =
    enabled.find(({ events }) => events.some((name) => name.startsWith(related))) ??
    (enabled.length === 1 ? enabled[0] : undefined);
  if (candidate !== undefined) {
    const events = [...candidate.events, type].join(",");
    return {
      code,
      summary: unsubscribed,
      evidence,
      action: `Subscribe ${receiverOfEndpoint(candidate).name} to ${type}, then replay the event to it`,
      fix: `${shellCommand`service endpoints update ${candidate.id} --events ${events}`} && ${shellCommand`service events replay ${id} --endpoint ${candidate.id}`}`,
    };
  }
  if (chain.isLive)
    return { code, summary: unsubscribed, evidence, action: `Create an endpoint for ${type}`, fix: null };
  const fix = forwardOf({ event: id, type }, chain);
  if (listeners === 0) {
    const summary = `${unsubscribed}, and no listener is connected`;
    return { code, summary, evidence, action: "Forward the event to your application", fix };
  }
  const isOne = listeners === 1;
  return {
    code,
    summary: `${unsubscribed}, nor ${isOne ? "does the connected listener" : `do the ${listeners} connected listeners`}`,
    evidence: `${isOne ? "The listener subscribes" : "The listeners subscribe"} to ${[...new Set(openConnections(chain).flatMap(({ events }) => events))].join(", ")}`,
    action: "Send the event to your application now, and include its type in --events of the listener",
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
