import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isId, timeOfId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { pathOf } from "../../contract/resources.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { createFolder } from "../../files/folders.ts";
import type { Context } from "../context.ts";
import { replaceDurably } from "../../files/replace.ts";
import type { Receivers } from "./options.ts";

export interface StartPosition {
  /** The position for `--since last`: the ID after which the same listener stopped, or `now` if it never ran. */
  start(): string;
  /**
   * Records the position at which a listener without `--since` starts. Warns if that skips events, unless another
   * session, which may have received them, is connected. Never rejects.
   */
  startedAt(cursor: string, others: number): Promise<void>;
  /** Saves a position. It is on disk a moment later. */
  moved(cursor: string): void;
  /** Resolves once the last position is on disk. */
  settled(): Promise<void>;
}

interface StartPositionOptions {
  context: Context;
  /** Receives warnings, now or while events are forwarded. */
  warn: (text: string) => void;
  /** Identifies platform and credential. */
  identity: readonly string[];
  events: readonly string[] | undefined;
  receivers: Receivers;
}

/** Stores the position of this listener: the same platform, credential, subscriptions and receivers. */
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
  // Until an event has been handled, the old position stays, so the next `--since last` still delivers what this start
  // skips.
  let skippedTo: string | undefined;
  return {
    start() {
      if (last !== undefined) return last;
      warn("This listener has not run before, so there is no position to resume from. Starting now.");
      return "now";
    },
    async startedAt(cursor, others) {
      if (last === undefined || last === cursor) return;
      skippedTo = cursor;
      if (others > 0 || !(await hasEvent(last, context))) return;
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

/** Each port and path that is listened for has a position. */
const MAX_POSITIONS = 50;

const SECOND = 1000;
/** The most that a page of a list has. */
const PAGE = 100;

/**
 * Returns true if the platform has an event: it has none from before a reset of the sandbox, or of another platform at its
 * address. A list is read, because a 404 would be a failed request in the log.
 */
async function hasEvent(id: string, context: Context): Promise<boolean> {
  if (!isId("event", id)) return false;
  const second = Math.floor(timeOfId(id) / SECOND) * SECOND;
  const query = {
    created_after: formatTimestamp(Math.max(0, second - SECOND)),
    created_before: formatTimestamp(second + SECOND),
    limit: PAGE,
  };
  try {
    const client = await context.client();
    const { body } = await client.request<{ data: { id: string }[] }>({
      method: "GET",
      path: pathOf("event"),
      query,
      isBackground: true,
    });
    return body.data.some((event) => event.id === id);
  } catch {
    return false;
  }
}

/** Positions are written at most this often. Events handled since the last write are sent again after a crash. */
const SAVE_MS = 250;

interface LastPositionOptions {
  /** The folder of the settings. Throws if there is none. */
  directory: () => string;
  /** Identifies the listener: platform, identity, subscriptions, receivers. */
  identity: readonly string[];
  /** Unix milliseconds. */
  now: () => number;
  /** Called once, when positions cannot be stored. */
  onFailure: (error: Error) => void;
}

/**
 * The position of a listener, in a file of its own (mode 0600), so that `--since last` continues there after the
 * command or the machine was restarted.
 */
class LastPosition {
  readonly #options: LastPositionOptions;
  readonly #name: string;
  #cursor: string | undefined;
  #saving: Promise<void> | undefined;
  #endPause: () => void = () => {};
  #isEnding = false;
  #tidied = false;
  #failed = false;

  constructor(options: LastPositionOptions) {
    this.#options = options;
    const digest = createHash("sha256").update(JSON.stringify(options.identity)).digest("hex");
    this.#name = `${digest.slice(0, 32)}.json`;
  }

  /** Returns the ID to continue after; undefined if this listener never ran, or too long ago. */
  read(): string | undefined {
    try {
      const { cursor } = JSON.parse(readFileSync(join(this.#folder(), this.#name), "utf8")) as { cursor?: unknown };
      return typeof cursor === "string" ? cursor : undefined;
    } catch {
      return undefined;
    }
  }

  /** Stores a position. It is on disk a moment later. */
  moved(cursor: string): void {
    this.#cursor = cursor;
    if (!this.#failed) this.#saving ??= this.#save();
  }

  /** Resolves once the last position is on disk. */
  async settled(): Promise<void> {
    this.#isEnding = true;
    this.#endPause();
    await this.#saving;
  }

  async #save(): Promise<void> {
    let saved: string | undefined;
    try {
      const folder = this.#folder();
      createFolder(folder);
      if (!this.#tidied) this.#removeOld(folder);
      this.#tidied = true;
      while (this.#cursor !== undefined && saved !== this.#cursor) {
        saved = this.#cursor;
        const content = { cursor: saved, saved: new Date(this.#options.now()).toISOString() };
        await replaceDurably(join(folder, this.#name), `${JSON.stringify(content)}\n`, 0o600);
        await this.#pause();
      }
    } catch (error) {
      this.#failed = true;
      this.#options.onFailure(error as Error);
    }
    this.#saving = undefined;
  }

  #folder(): string {
    return join(this.#options.directory(), "listen");
  }

  #pause(): Promise<void> {
    if (this.#isEnding) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, SAVE_MS);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Removes positions of events that the platform no longer retains, and all but the newest ones. */
  #removeOld(folder: string): void {
    const oldest = this.#options.now() - LIMITS.replaySeconds * 1000;
    const positions = readdirSync(folder)
      .map((name) => join(folder, name))
      .map((file) => ({ file, time: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
      .toSorted((a, b) => b.time - a.time);
    for (const [index, { file, time }] of positions.entries()) {
      if (index >= MAX_POSITIONS || time < oldest) rmSync(file, { force: true });
    }
  }
}
