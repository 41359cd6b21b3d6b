import { matchesSubscriptions } from "../contract/event-types.ts";
import type { ListenerConnection } from "../contract/schemas/statistics.ts";
import { shellCommand } from "../contract/shell-command.ts";
import type { Chain } from "./chain.ts";

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
  const target = targetOf(forwarded, chain) ?? "localhost:3000";
  return shellCommand`service events replay ${forwarded.event} --forward-to ${target}`;
}

/** Returns where a listener forwards events of a type, as a person writes it; undefined if no listener has said so. */
export function targetOf({ type, listener }: Omit<Forwarded, "event">, { statistics }: Chain): string | undefined {
  const connections = statistics?.listener_connections ?? [];
  const own = connections.filter(({ listener: id }) => id === listener);
  const targets = [...own, ...connections].flatMap((one) => one.targets);
  const url = targets.find(({ events }) => matchesSubscriptions([events], type))?.url;
  return url?.replace(/^http:\/\/([^/]+)\/?$/, "$1").replace(/^http:\/\//, "");
}

/** Returns true if a connected listener subscribes to a type, as far as the platform knows. */
export function isListened(chain: Chain, type: string): boolean {
  const open = openConnections(chain);
  const isKnown = open.length === (chain.statistics?.listeners ?? 0);
  return !isKnown || open.some(({ events }) => matchesSubscriptions(events, type));
}

/** Returns the open connections that the platform's process knows. */
export function openConnections({ statistics }: Chain): ListenerConnection[] {
  return (statistics?.listener_connections ?? []).filter(({ disconnected_at: end }) => end === null);
}
