import { shellCommand } from "../contract/shell-command.ts";

/** Returns the command that sends an event again, to the endpoints and listeners that subscribe to it. */
export function replayOf(event: string): string {
  return shellCommand`service events replay ${event}`;
}

/** Returns the command that sends an event to a URL. */
export function forwardTo(event: string, url: string): string {
  return shellCommand`service events replay ${event} --forward-to ${typed(url)}`;
}

/** Returns a URL as a person writes it. */
export function typed(url: string): string {
  return url.replace(/^http:\/\/([^/]+)\/?$/, "$1").replace(/^http:\/\//, "");
}

/** Why a delivery could not be retried, and what to do instead. */
interface Instead {
  reason: string;
  command: string;
  /** Where a listener would have to forward. */
  target: string | undefined;
}

/** Reads the platform's message about a delivery that cannot be retried, if its event can be replayed. */
export function readInstead(message: string): Instead | undefined {
  const [, reason = "", event] = /cannot be retried: (.+); replay the event (evt_\w+)/.exec(message) ?? [];
  if (event === undefined) return undefined;
  const [, target] = / forwards \S+ to (\S+)$/.exec(reason) ?? [];
  return { reason, command: target === undefined ? replayOf(event) : forwardTo(event, target), target };
}
