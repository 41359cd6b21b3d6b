import type { Context } from "../../context.ts";
import { LastPosition } from "./last-position.ts";
import type { Receivers } from "./receivers.ts";

export interface StartPosition {
  /** What `--since last` means: the ID after which the same listener ended, or `now` where it never ran. */
  start(): string;
  /** Takes the position at which a listener without `--since` starts; warns where that skips events. */
  startedAt(cursor: string): void;
  /** Saves a position; it is on disk a moment later. */
  moved(cursor: string): void;
  /** Resolves once the last position is on disk. */
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

/** Keeps the position of this listener: the same platform, credential, subscriptions and receivers. */
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
    onFailure: (error) => warn(`Cannot store the position, so --since last will not resume from it: ${error.message}`),
  });
  const last = position.read();
  // Until an event has passed, the old position stays: the next `--since last` still delivers what this start skips.
  let skippedTo: string | undefined;
  return {
    start() {
      if (last !== undefined) return last;
      warn("This listener has not run before, so there is no position to resume from. Starting now.");
      return "now";
    },
    startedAt(cursor) {
      if (last === undefined || last === cursor) return;
      skippedTo = cursor;
      // With subscriptions, the newest event may be of another type.
      const arrived = events.length === 0 ? "Events arrived" : "Events may have arrived";
      warn(`${arrived} since this listener last ran; they are skipped. To receive them, pass --since ${last}`);
    },
    moved(cursor) {
      if (cursor !== skippedTo) position.moved(cursor);
    },
    settled: () => position.settled(),
  };
}
