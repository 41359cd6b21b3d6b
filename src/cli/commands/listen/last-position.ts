import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "../../../contract/limits.ts";
import { makeFolder } from "../../../files/make-folder.ts";
import { replaceFile } from "./replace-file.ts";

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
export class LastPosition {
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
