import { matchesSubscriptions } from "../contract/event-types.ts";
import { timeOfId } from "../contract/ids.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { Event } from "../contract/schemas/event.ts";
import type { ListenerConnection, ListenerResult } from "../contract/schemas/statistics.ts";
import { urlFor } from "../contract/listen.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { attemptEvidence } from "./attempts.ts";
import { causeOf, EXAMPLE_PORT } from "./causes.ts";
import type { Chain } from "./chain.ts";
import type { Finding, TimeFormat } from "./finding.ts";
import { receiverOfListener } from "./receivers.ts";
import { forwardTo, replayOf, typed } from "./resend.ts";

type Answer = Pick<Finding, "code" | "summary" | "evidence" | "action" | "fix">;

/** Returns which listeners retry an event, or disconnected before they delivered it, beside its deliveries. */
export function undelivered(chain: Chain, time: TimeFormat): Finding[] {
  const { event } = chain;
  if (event === undefined) return [];
  return openResults(chain).map((result) => ({ subject: event.id, ...ofResult(result, event, chain, time) }));
}

/** Returns true if a listener sends the event of its delivery again, and has not reported the result. */
export function isSentAgain({ listener, target, event_type: type }: Delivery, chain: Chain): boolean {
  return (
    openResults(chain).some((result) => result.listener === listener) && target === urlOf({ type, listener }, chain)
  );
}

function openResults(chain: Chain): ListenerResult[] {
  const isFirst = (listener: string) => chain.listed.every((delivery) => delivery.listener !== listener);
  return (chain.statistics?.listener_results ?? []).filter(
    ({ result, attempts, listener }) =>
      result === "disconnected" ||
      (result === "forwarding" &&
        (attempts.length > 0 || (waitingOf(listener, chain) !== undefined && isFirst(listener)))),
  );
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

/** Returns a connection of a listener that forwards nothing at present, if there is one. */
function waitingOf(listener: string, chain: Chain) {
  return openConnections(chain).find((one) => one.listener === listener && one.waiting !== null);
}

function forwarding({ listener }: ListenerResult, { id, type }: Event, chain: Chain): Answer {
  const target = urlOf({ type, listener }, chain);
  const waits = waitingOf(listener, chain);
  if (waits !== undefined) {
    return {
      code: "not_forwarded",
      summary: `The listener has the event and waits until ${waits.waiting}`,
      evidence: `${listener} reported this, and no attempt so far`,
      action: waits.remedy,
      fix: null,
    };
  }
  return {
    code: "delivery_pending",
    summary: `A listener is forwarding the event${target === undefined ? "" : ` to ${typed(target)}`}, and no attempt has failed so far`,
    evidence: `${listener} has the event and has not reported a response yet`,
    action: "Check again in a moment",
    fix: explanationOf(id, chain),
  };
}

function retrying(found: ListenerResult, event: Event, chain: Chain, time: TimeFormat): Answer {
  const { attempts, next_attempt: next, listener } = found;
  const { code, what, action, check, instead } = lastCause(found, "check the listener's next attempt", event, chain);
  const evidence = attemptEvidence(attempts, time);
  const waits = waitingOf(listener, chain);
  if (waits !== undefined) {
    const isCrash = code === "connection_closed" && waits.waiting === "the app runs";
    const cause = isCrash ? "Your application crashed while it handled the event" : what;
    const summary = `${cause}; the listener waits until ${waits.waiting}`;
    return { code, summary, evidence, action: waits.remedy, fix: null };
  }
  const due = next !== null && Date.parse(next) > chain.now ? `at ${time(next)}` : "now";
  return {
    code,
    summary: `${what}; the listener's next attempt is due ${due}`,
    evidence,
    action,
    fix: instead !== undefined ? forwardTo(event.id, instead) : (check ?? explanationOf(event.id, chain)),
  };
}

/** Returns the command that explains an event, unless it has just been used. */
function explanationOf(event: string, { id }: Chain): string | null {
  return event === id ? null : shellCommand`service why ${event}`;
}

function lastCause({ attempts, listener }: ListenerResult, again: string, { type }: Event, chain: Chain) {
  const target = urlOf({ type, listener }, chain);
  const receiver = { ...receiverOfListener(target, again), flag: flagOf(target, chain) };
  return causeOf({ ...attempts.at(-1)!, delivery: undefined }, receiver);
}

/** Returns the flag that makes a listener forward to a target: `--route` for some types. */
export function flagOf(target: string | null | undefined, { statistics }: Chain): string {
  const targets = (statistics?.listener_connections ?? []).flatMap((one) => one.targets);
  const events = targets.find(({ url }) => url === target)?.events ?? "*";
  return events === "*" ? "--forward-to" : `the --route of ${events}`;
}

/** Returns that no listener is known to have been connected when an event happened, if one has been before or is since. */
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
  // A timestamp has whole seconds: who connected in the second of the event may have done so after it.
  const wasConnected = connections.some(
    ({ connected_at: start, disconnected_at: end }) => Date.parse(start) + 1000 <= at && !isBefore(end),
  );
  const isLater = open.length > 0 && open.every(({ connected_at: start }) => Date.parse(start) > at);
  if (wasConnected || (last === undefined && !isLater)) return undefined;
  // The platform remembers former connections until it restarts.
  const summary =
    last === undefined
      ? `No result is known for the event, and the listener that is connected now did so afterwards, at ${time(open[0]!.connected_at)}`
      : `No listener was connected when the event happened: the last one disconnected at ${time(last.disconnected_at!)}`;
  const action = isListened(chain, type)
    ? { action: "Replay the event to the connected listener", fix: replayOf(id) }
    : {
        action: "Forward the event to your application now",
        fix: forwardOf({ event: id, type, listener: last?.listener ?? null }, chain),
      };
  return {
    code: "listener_disconnected",
    summary,
    evidence: [...(last === undefined ? [] : [shown(last, type, time)]), unsubscribed].join(". "),
    ...action,
  };
}

function shown(
  { listener, targets, connected_at: start, disconnected_at: end }: ListenerConnection,
  type: string,
  time: TimeFormat,
) {
  const url = urlFor(targets, type);
  return `${listener} ${url === undefined ? "printed events" : `forwarded ${type} to ${url}`} from ${time(start)} to ${time(end!)}`;
}

/** An event, and the target, or the listener whose target receives it: by default, any known one. */
interface Forwarded {
  event: string;
  type: string;
  listener?: string | null;
  target?: string | null;
}

/** Returns the command that sends a delivery of a listener again, to its own target. */
export function sendAgain(delivery: Delivery, chain: Chain): string {
  const { id, event, event_type: type, listener, target } = delivery;
  if (sessionsOf(delivery, chain) > 0) return shellCommand`service deliveries retry ${id}`;
  return isListened(chain, type) && !isLocal(target)
    ? replayOf(event)
    : forwardOf({ event, type, listener, target }, chain);
}

/** Returns the command that sends an event to an application on this machine, too. */
export function forwardOf(forwarded: Forwarded, chain: Chain): string {
  const { event, target } = forwarded;
  const url = isLocal(target) ? target : urlOf(forwarded, chain, LOCAL);
  return forwardTo(event, url ?? chain.target ?? EXAMPLE_PORT);
}

/** Another machine may not be what the user means, and gets the payload. */
const LOCAL = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/;

function isLocal(target: string | null | undefined): target is string {
  return target != null && LOCAL.test(target);
}

/** Returns where a listener forwards events of a type, if one has said so. */
function urlOf(
  { type, listener }: Pick<Forwarded, "type" | "listener">,
  { statistics }: Chain,
  pattern = /^/,
): string | undefined {
  const connections = statistics?.listener_connections ?? [];
  const own = connections.filter(({ listener: id }) => id === listener);
  const targets = [...own, ...connections].flatMap((one) => one.targets);
  return targets.find(({ events, url }) => pattern.test(url) && matchesSubscriptions([events], type))?.url;
}

/** Returns true if a connected listener subscribes to a type. */
export function isListened(chain: Chain, type: string): boolean {
  return openConnections(chain).some(({ events }) => matchesSubscriptions(events, type));
}

/** Returns the open connections. */
export function openConnections({ statistics }: Pick<Chain, "statistics">): ListenerConnection[] {
  return (statistics?.listener_connections ?? []).filter(({ disconnected_at: end }) => end === null);
}

/**
 * Returns how many connected sessions a retry of a listener's delivery reaches, and may have made its attempts: these are
 * recorded together.
 */
export function sessionsOf({ listener: id, target, event_type: type }: Delivery, chain: Chain): number {
  return openConnections(chain).filter(
    ({ listener, targets, events }) =>
      listener === id && (urlFor(targets, type) ?? null) === target && matchesSubscriptions(events, type),
  ).length;
}
