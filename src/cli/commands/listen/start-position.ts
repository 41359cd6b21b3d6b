import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "../../../contract/limits.ts";
import { makeFolder } from "../../../files/make-folder.ts";
import type { Context } from "../../context.ts";
import { replaceFile } from "./files.ts";
import type { Receivers } from "./forwarding-options.ts";

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

interface StartPositionOptions {
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

/** Positions are written at most this often: what was handled since the last time comes again after a crash. */
const SAVE_MS = 250;

interface LastPositionOptions {
  /** The folder of the settings; throws where there is none. */
  directory: () => string;
  /** What tells one listener from another: platform, identity, subscriptions, receivers. */
  identity: readonly string[];
  /** Unix milliseconds. */
  now: () => number;
  /** Told once, when positions cannot be kept. */
  onFailure: (error: Error) => void;
}

/**
 * Where a listener has come to, in a file of its own (mode 0600), so that `--since last` goes on there after the command
 * or the machine was restarted.
 */
class LastPosition {
  readonly #options: LastPositionOptions;
  readonly #name: string;
  #cursor: string | undefined;
  #saving: Promise<void> | undefined;
  #hurry: () => void = () => {};
  #hurrying = false;
  #tidied = false;
  #failed = false;

  constructor(options: LastPositionOptions) {
    this.#options = options;
    const digest = createHash("sha256").update(JSON.stringify(options.identity)).digest("hex");
    this.#name = `${digest.slice(0, 32)}.json`;
  }

  /** The id behind which to go on; undefined where this listener never ran, or too long ago. */
  read(): string | undefined {
    try {
      const { cursor } = JSON.parse(readFileSync(join(this.#folder(), this.#name), "utf8")) as { cursor?: unknown };
      return typeof cursor === "string" ? cursor : undefined;
    } catch {
      return undefined;
    }
  }

  /** Takes note of a place; it is on disk a moment later. */
  moved(cursor: string): void {
    this.#cursor = cursor;
    if (!this.#failed) this.#saving ??= this.#save();
  }

  /** Resolves once the last place is on disk. */
  async settled(): Promise<void> {
    this.#hurrying = true;
    this.#hurry();
    await this.#saving;
  }

  async #save(): Promise<void> {
    let saved: string | undefined;
    try {
      const folder = this.#folder();
      makeFolder(folder);
      if (!this.#tidied) this.#removeOld(folder);
      this.#tidied = true;
      while (this.#cursor !== undefined && saved !== this.#cursor) {
        saved = this.#cursor;
        const content = { cursor: saved, saved: new Date(this.#options.now()).toISOString() };
        await replaceFile(join(folder, this.#name), `${JSON.stringify(content)}\n`, 0o600);
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
    if (this.#hurrying) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, SAVE_MS);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Older ones point to events that the platform no longer keeps. */
  #removeOld(folder: string): void {
    const oldest = this.#options.now() - LIMITS.replaySeconds * 1000;
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if ((statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < oldest) rmSync(file, { force: true });
    }
  }
}
