import { matchesSubscriptions } from "../contract/event-types.ts";
import { shellCommand } from "../contract/shell-command.ts";
import type { Chain } from "./chain.ts";

/** Returns the command that sends an event again, to the endpoints and listeners that subscribe to it. */
export function replayOf(event: string): string {
  return shellCommand`service events replay ${event}`;
}

/** Returns the command that sends an event to an application on this machine, too. */
export function forwardOf(event: string): string {
  return `${replayOf(event)} --forward-to localhost:3000`;
}

/** Returns true if a connected listener subscribes to a type, as far as the platform knows. */
export function isListened({ statistics }: Chain, type: string): boolean {
  const { listeners = 0, listener_events: types = null } = statistics ?? {};
  return listeners > 0 && (types === null || matchesSubscriptions(types, type));
}
