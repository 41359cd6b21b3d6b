import { matchesSubscriptions } from "../contract/event-types.ts";
import { timeOfId } from "../contract/ids.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { Event } from "../contract/schemas/event.ts";
import type { ListenerConnection, ListenerResult } from "../contract/schemas/statistics.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { attemptEvidence } from "./attempts.ts";
import { causeOf } from "./causes.ts";
import type { Chain } from "./chain.ts";
import type { Finding, TimeFormat } from "./finding.ts";

type Answer = Pick<Finding, "code" | "summary" | "evidence" | "action" | "fix">;

const NAME = "your application";

/** Returns which listeners retry an event, or disconnected before they delivered it, beside its deliveries. */
export function undelivered(chain: Chain, time: TimeFormat): Finding[] {
  const { event, statistics, listed } = chain;
  if (event === undefined) return [];
  const isFirst = (listener: string) => listed.every((delivery) => delivery.listener !== listener);
  return (statistics?.listener_results ?? [])
    .filter(
      ({ result, attempts, listener }) =>
        result === "disconnected" ||
        (result === "forwarding" && (attempts.length > 0 || (isHeld(event, chain) && isFirst(listener)))),
    )
    .map((result) => ({ subject: event.id, ...ofResult(result, event, chain, time) }));
}

/** Returns what a listener did with an event of which it has no delivery. */
export function ofResult(found: ListenerResult, event: Event, chain: Chain, time: TimeFormat): Answer {
  const { id, type } = event;
  const { listener, result } = found;
  const forward = forwardOf({ event: id, type, listener }, chain);
  switch (result) {
    case "forwarding":
      return found.attempts.length > 0 ? retrying(found, event, chain, time) : forwarding(found, event, chain);
    case "filtered":
      return {
        code: "not_forwarded",
        summary: "The listener did not forward the event: its --where excludes it",
        evidence: `${listener} reported that its filter excludes the event`,
        action: "Forward the event without the filter",
        fix: forward,
      };
    case "not_forwarded":
      return {
        code: "not_forwarded",
        summary: `The listener printed the event without forwarding it: it has no --forward-to or --route for ${type}`,
        evidence: `${listener} reported that it did not forward the event`,
        action: "Forward the event to your application",
        fix: forward,
      };
    case "disconnected": {
      const cause = found.attempts.length === 0 ? undefined : lastCause(found, "replay the event", event, chain);
      const what = cause?.what;
      const end = chain.statistics?.listener_connections.find((one) => one.listener === listener)?.disconnected_at;
      const at = typeof end === "string" ? ` at ${time(end)}` : "";
      return {
        code: "listener_disconnected",
        summary:
          what === undefined
            ? `The listener disconnected${at} before it reported a result for the event`
            : `${what}, and the listener disconnected${at}, before the next attempt`,
        evidence: attemptEvidence(found.attempts, time) ?? `${listener} had the event and did not acknowledge it`,
        ...(cause?.instead !== undefined
          ? { action: cause.action, fix: forwardTo(id, cause.instead) }
          : isListened(chain, type)
            ? { action: "Replay the event to the connected listener", fix: replayOf(id) }
            : { action: "Forward the event again", fix: forward }),
      };
    }
  }
}

/** A listener that runs starts an attempt at once. */
const MAX_START_MILLISECONDS = 3000;

function isHeld({ created }: Event, { now }: Chain): boolean {
  return now - Date.parse(created) > MAX_START_MILLISECONDS;
}

function forwarding({ listener }: ListenerResult, event: Event, chain: Chain): Answer {
  const { id, type } = event;
  const target = targetOf({ type, listener }, chain);
  if (isHeld(event, chain)) {
    return {
      code: "not_forwarded",
      summary: `A listener has the event and has reported no attempt: ${target ?? "your application"} is not running or has not responded yet, or the listener is paused`,
      evidence: `${listener} has not reported a response yet`,
      action: "Start your application (in `service dev`: press r), or resume the listener (press p), then check again",
      fix: shellCommand`service why ${id}`,
    };
  }
  return {
    code: "delivery_pending",
    summary: `A listener is forwarding the event${target === undefined ? "" : ` to ${target}`}, and no attempt has failed so far`,
    evidence: `${listener} has the event and has not reported a response yet`,
    action: "Check again in a moment",
    fix: shellCommand`service why ${id}`,
  };
}

/** Later than this, an attempt is not only delayed: the listener is paused, or `service dev` waits for the app. */
const OVERDUE_MS = 5_000;
const AGAIN = "restart the app (r in `service dev`) or resume the listener (p), and check the next attempt";

function retrying(found: ListenerResult, event: Event, chain: Chain, time: TimeFormat): Answer {
  const { id } = event;
  const { attempts, next_attempt: next } = found;
  const late = next === null ? 0 : chain.now - Date.parse(next);
  const isOverdue = next !== null && late > OVERDUE_MS;
  const { code, what, action, fix, instead } = lastCause(
    found,
    isOverdue ? AGAIN : "check the listener's next attempt",
    event,
    chain,
  );
  const due = isOverdue ? `was due at ${time(next)}` : late < 0 ? `is due at ${time(next!)}` : "is due now";
  return {
    code,
    summary: `${what}; the listener's next attempt ${due}`,
    evidence: attemptEvidence(attempts, time),
    action,
    fix: instead !== undefined ? forwardTo(id, instead) : (fix ?? shellCommand`service why ${id}`),
  };
}

function lastCause({ attempts, listener }: ListenerResult, again: string, { type }: Event, chain: Chain) {
  const target = urlOf({ type, listener }, chain);
  const receiver = { endpoint: null, name: NAME, url: NAME, shownUrl: NAME, host: NAME, isLive: false, again, target };
  return causeOf({ ...attempts.at(-1)!, delivery: undefined }, receiver);
}

/** Returns that no listener was connected when an event happened, if one has been before or is since. */
export function noListener(event: Event, unsubscribed: string, chain: Chain, time: TimeFormat): Answer | undefined {
  const { id, type, request } = event;
  // Connections have real times, as requests have.
  const at = timeOfId(request.id ?? id);
  const connections = (chain.statistics?.listener_connections ?? []).filter(({ events }) =>
    matchesSubscriptions(events, type),
  );
  const isBefore = (timestamp: string | null) => timestamp !== null && Date.parse(timestamp) <= at;
  const last = connections.find(({ disconnected_at: end }) => isBefore(end));
  const open = openConnections(chain).filter((one) => connections.includes(one));
  const isLater = open.length > 0 && open.every(({ connected_at: start }) => Date.parse(start) > at);
  if (last === undefined && !isLater) return undefined;
  const before =
    last === undefined
      ? `the one that is connected now did so at ${time(open[0]!.connected_at)}`
      : `the last one disconnected at ${time(last.disconnected_at!)}`;
  const action = isListened(chain, type)
    ? { action: "Replay the event to the connected listener", fix: replayOf(id) }
    : {
        action: "Forward the event to your application now",
        fix: forwardOf({ event: id, type, listener: last?.listener ?? null }, chain),
      };
  return {
    code: "listener_disconnected",
    summary: `No listener was connected when the event happened: ${before}`,
    evidence: [...(last === undefined ? [] : [shown(last, time)]), unsubscribed].join(". "),
    ...action,
  };
}

function shown({ listener, targets, connected_at: start, disconnected_at: end }: ListenerConnection, time: TimeFormat) {
  const urls = targets.map(({ url }) => url).join(", ");
  return `${listener} forwarded to ${urls} from ${time(start)} to ${time(end!)}`;
}

/** An event, and the listener whose target receives it: by default, any known one. */
interface Forwarded {
  event: string;
  type: string;
  listener?: string | null;
}

/** Returns the command that sends an event again, to the endpoints and listeners that subscribe to it. */
export function replayOf(event: string): string {
  return shellCommand`service events replay ${event}`;
}

/** Returns the command that sends an event to an application on this machine, too. */
export function forwardOf(forwarded: Forwarded, chain: Chain): string {
  const target = targetOf(forwarded, chain) ?? chain.target ?? "localhost:3000";
  return shellCommand`service events replay ${forwarded.event} --forward-to ${target}`;
}

/** Returns the command that sends an event to a URL. */
export function forwardTo(event: string, url: string): string {
  return shellCommand`service events replay ${event} --forward-to ${typed(url)}`;
}

/** Returns a URL as a person writes it. */
function typed(url: string): string {
  return url.replace(/^http:\/\/([^/]+)\/?$/, "$1").replace(/^http:\/\//, "");
}

/** Returns where a listener forwards events of a type, as a person writes it; undefined if no listener has said so. */
function targetOf(forwarded: Omit<Forwarded, "event">, chain: Chain): string | undefined {
  const url = urlOf(forwarded, chain);
  return url && typed(url);
}

function urlOf({ type, listener }: Omit<Forwarded, "event">, { statistics }: Chain): string | undefined {
  const connections = statistics?.listener_connections ?? [];
  const own = connections.filter(({ listener: id }) => id === listener);
  const targets = [...own, ...connections].flatMap((one) => one.targets);
  return targets.find(({ events }) => matchesSubscriptions([events], type))?.url;
}

/** Returns true if a connected listener subscribes to a type, as far as the platform knows. */
export function isListened(chain: Chain, type: string): boolean {
  const open = openConnections(chain);
  const isKnown = open.length === (chain.statistics?.listeners ?? 0);
  return !isKnown || open.some(({ events }) => matchesSubscriptions(events, type));
}

/** Returns the open connections that the platform's process knows. */
export function openConnections({ statistics }: Pick<Chain, "statistics">): ListenerConnection[] {
  return (statistics?.listener_connections ?? []).filter(({ disconnected_at: end }) => end === null);
}

/**
 * Returns how many sessions of a listener may have made the attempts of a delivery: their attempts are recorded together.
 */
export function sessionsOf({ listener, target }: Delivery, chain: Chain): number {
  return openConnections(chain).filter(
    ({ listener: id, targets }) => id === listener && targets.some(({ url }) => url === target),
  ).length;
}
