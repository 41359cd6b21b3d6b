import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isId, timeOfId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { pathOf } from "../../contract/resources.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { createFolder } from "../../files/folders.ts";
import type { Context } from "../context.ts";
import { replaceDurably } from "../../files/replace.ts";
import type { Receivers } from "./options.ts";

/** Each port and path that is listened for has a position. */
const MAX_POSITIONS = 50;
/** Positions are written at most this often. Events handled since the last write are sent again after a crash. */
const SAVE_MS = 250;

interface StartPositionOptions {
  context: Context;
  /** Receives warnings, now or while events are forwarded. */
  warn: (text: string) => void;
  /** Identifies platform and credential. */
  identity: readonly string[];
  events: readonly string[] | undefined;
  receivers: Receivers;
}

/**
 * The position of this listener (the same platform, credential, subscriptions and receivers) in a file of its own (mode
 * 0600), so that `--since last` continues there after the command or the machine was restarted.
 */
export class StartPosition {
  readonly #options: StartPositionOptions;
  readonly #name: string;
  /** The ID after which it stopped; undefined if it never ran, or too long ago. */
  readonly #last: string | undefined;
  /** Until an event has been handled, the old position stays, so the next `--since last` still delivers what this start skips. */
  #skippedTo: string | undefined;
  #cursor: string | undefined;
  #saving: Promise<void> | undefined;
  readonly #ending = new AbortController();
  #tidied = false;
  #failed = false;

  constructor(options: StartPositionOptions) {
    this.#options = options;
    const { identity, events = [], receivers } = options;
    const routes = receivers.routes.map(({ subscription, url }) => `${subscription}=${url.href}`);
    const own = [...identity, events.toSorted().join(","), receivers.target?.href ?? "", ...routes];
    this.#name = `${createHash("sha256").update(JSON.stringify(own)).digest("hex").slice(0, 32)}.json`;
    this.#last = this.#read();
  }

  /** Returns the position for `--since last`: the ID after which it stopped, or `now` if it never ran. */
  start(): string {
    if (this.#last !== undefined) return this.#last;
    this.#options.warn("This listener has not run before, so there is no position to resume from. Starting now.");
    return "now";
  }

  /**
   * Records the position at which a listener without `--since` starts. Warns if that skips events, unless another
   * session, which may have received them, is connected. Never rejects.
   */
  async startedAt(cursor: string, others: number): Promise<void> {
    const last = this.#last;
    if (last === undefined || last === cursor) return;
    this.#skippedTo = cursor;
    const { context, events = [], warn } = this.#options;
    if (others > 0 || !(await hasEvent(last, context))) return;
    // With subscriptions, the newest event may be of another type.
    const arrived = events.length === 0 ? "Events arrived" : "Events may have arrived";
    warn(`${arrived} since this listener last ran; they are skipped. To receive them, pass --since ${last}`);
  }

  /** Stores a position. It is on disk a moment later. */
  moved(cursor: string): void {
    if (cursor === this.#skippedTo) return;
    this.#cursor = cursor;
    if (!this.#failed) this.#saving ??= this.#save();
  }

  /** Resolves once the last position is on disk. */
  async settled(): Promise<void> {
    this.#ending.abort();
    await this.#saving;
  }

  #read(): string | undefined {
    try {
      const { cursor } = JSON.parse(readFileSync(join(this.#folder(), this.#name), "utf8")) as { cursor?: unknown };
      return typeof cursor === "string" ? cursor : undefined;
    } catch {
      return undefined;
    }
  }

  async #save(): Promise<void> {
    const { context, warn } = this.#options;
    let saved: string | undefined;
    try {
      const folder = this.#folder();
      createFolder(folder);
      if (!this.#tidied) this.#removeOld(folder);
      this.#tidied = true;
      while (this.#cursor !== undefined && saved !== this.#cursor) {
        saved = this.#cursor;
        const content = { cursor: saved, saved: new Date(context.now()).toISOString() };
        await replaceDurably(join(folder, this.#name), `${JSON.stringify(content)}\n`, 0o600);
        await delay(SAVE_MS, undefined, { signal: this.#ending.signal }).catch(() => {});
      }
    } catch (error) {
      this.#failed = true;
      warn(`Cannot store the position, so --since last will not resume from it: ${(error as Error).message}`);
    }
    this.#saving = undefined;
  }

  #folder(): string {
    return join(this.#options.context.settingsDirectory, "listen");
  }

  /** Removes positions of events that the platform no longer retains, and all but the newest ones. */
  #removeOld(folder: string): void {
    const oldest = this.#options.context.now() - LIMITS.replaySeconds * 1000;
    const positions = readdirSync(folder)
      .map((name) => join(folder, name))
      .map((file) => ({ file, time: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
      .toSorted((a, b) => b.time - a.time);
    for (const [index, { file, time }] of positions.entries()) {
      if (index >= MAX_POSITIONS || time < oldest) rmSync(file, { force: true });
    }
  }
}

const SECOND = 1000;
/** The most that a page of a list has. */
const PAGE = 100;

/**
 * Returns true if the platform has an event: it has none from before a reset of the sandbox, or of another platform at its
 * address. A list is read, because a 404 would be a failed request in the log.
 */
async function hasEvent(id: string, context: Context): Promise<boolean> {
  if (!isId("event", id)) return false;
  // The position before the first event.
  if (timeOfId(id) === 0) return true;
  const second = Math.floor(timeOfId(id) / SECOND) * SECOND;
  const query = {
    created_after: formatTimestamp(Math.max(0, second - SECOND)),
    created_before: formatTimestamp(second + SECOND),
    limit: PAGE,
  };
  try {
    const request = { method: "GET", path: pathOf("event"), query, isBackground: true } as const;
    const { data } = await context.request<{ data: { id: string }[] }>(request);
    return data.some((event) => event.id === id);
  } catch {
    return false;
  }
}
