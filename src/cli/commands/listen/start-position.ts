import type { Context } from "../../context.ts";
import { LastPosition } from "./last-position.ts";
import type { Receivers } from "./receivers.ts";

export interface StartPosition {
  /** What `--since last` means: the id behind which the same listener ended, or `now` where it never ran. */
  start(): string;
  /** Takes the place at which a listener starts that was not told where: says so where that passes events over. */
  startedAt(cursor: string): void;
  /** Takes note of a place; it is on disk a moment later. */
  moved(cursor: string): void;
  /** Resolves once the last place is on disk. */
  settled(): Promise<void>;
}

export interface StartPositionOptions {
  context: Context;
  /** Takes what a person should know, now or while events flow. */
  warn: (text: string) => void;
  /** Platform and credential. */
  identity: readonly string[];
  events: readonly string[] | undefined;
  receivers: Receivers;
}

/** Keeps the place of this listener: the same platform, credential, subscriptions and receivers. */
export function openStartPosition({
  context,
  warn,
  identity,
  events = [],
  receivers,
}: StartPositionOptions): StartPosition {
  const routes = receivers.routes.map(({ subscription, url }) => `${subscription}=${url.href}`);
  const own = [...identity, events.toSorted().join(","), receivers.target?.href ?? "", ...routes];
  const position = new LastPosition({
    directory: () => context.settingsDirectory,
    identity: own,
    now: () => context.now(),
    onFailure: (error) => warn(`The position cannot be kept, so --since last will not know it: ${error.message}`),
  });
  const last = position.read();
  return {
    start() {
      if (last !== undefined) return last;
      warn("This listener has not run before, so there is nothing to catch up on: it starts now.");
      return "now";
    },
    startedAt(cursor) {
      if (last === undefined || last === cursor) return;
      // Of some types alone: the newest event may be of another.
      const came = events.length === 0 ? "Events came" : "Events may have come";
      warn(`${came} since this listener last ran, and it starts now: --since last would deliver them.`);
    },
    moved: (cursor) => position.moved(cursor),
    settled: () => position.settled(),
  };
}
