import { ApiError, NetworkError } from "../../../client/errors.ts";
import type { Client } from "../../../client/http.ts";
import { listItems } from "../../../client/pages.ts";
import { timeOfId } from "../../../contract/ids.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import type { Context } from "../../context.ts";
import { EVENTS } from "./view.ts";

const POLL_MILLISECONDS = 500;
const LONGEST_WAIT_MILLISECONDS = 30_000;
/** An id holds the time at which its transaction began; one that began this long before another may commit after it. */
const OVERLAP_MILLISECONDS = 5000;

export interface NewEventsOptions {
  /** What the platform narrows the list to. */
  type: string | undefined;
  onLost: (reason: string) => void;
  onBack: () => void;
}

/** Finds the events that come after it was made, by looking at the list again and again. */
export class NewEvents {
  readonly #client: Client;
  readonly #context: Context;
  readonly #options: NewEventsOptions;
  readonly #seen = new Set<string>();
  /** The newest event's time on the environment's clock, and when it was seen here. */
  #newest: { time: number; seenAt: number } | undefined;

  constructor(client: Client, context: Context, options: NewEventsOptions) {
    this.#client = client;
    this.#context = context;
    this.#options = options;
  }

  /** What is there already counts as seen. Rejects where the platform cannot be asked. */
  async begin(): Promise<void> {
    for await (const { id } of this.#list(undefined)) {
      this.#newest ??= { time: timeOfId(id), seenAt: this.#context.now() };
      if (timeOfId(id) < this.#newest.time - OVERLAP_MILLISECONDS) return;
      this.#seen.add(id);
    }
  }

  /** The next ones, oldest first, at least one. Failures that pass are waited out. */
  async next(): Promise<Event[]> {
    for (;;) {
      const fresh = await this.#patiently(() => this.#look());
      if (fresh.length > 0) return fresh;
      await this.#context.sleep(POLL_MILLISECONDS);
    }
  }

  async #look(): Promise<Event[]> {
    const since = this.#horizon();
    for (const id of this.#seen) if (since !== undefined && timeOfId(id) < since) this.#seen.delete(id);
    const fresh: Event[] = [];
    // The filter counts whole seconds and leaves its own one out.
    const after = since === undefined ? undefined : formatTimestamp(since - 1000);
    for await (const event of this.#list(after)) {
      if (since !== undefined && timeOfId(event.id) < since) break;
      if (!this.#seen.has(event.id)) fresh.push(event);
    }
    // Only now: a look that breaks off in the middle is made again from where it began.
    for (const { id } of fresh) this.#seen.add(id);
    const time = fresh[0] === undefined ? undefined : timeOfId(fresh[0].id);
    if (time !== undefined && time > (this.#newest?.time ?? 0)) {
      this.#newest = { time, seenAt: this.#context.now() };
    }
    return fresh.toReversed();
  }

  /** Nothing new can be older than this. The environment's clock never falls behind the time that passes here. */
  #horizon(): number | undefined {
    if (this.#newest === undefined) return undefined;
    const passed = Math.max(0, this.#context.now() - this.#newest.seenAt);
    return Math.min(this.#newest.time, this.#newest.time + passed - OVERLAP_MILLISECONDS);
  }

  #list(createdAfter: string | undefined): AsyncGenerator<Event, void, undefined> {
    const query = { type: this.#options.type, created_after: createdAfter };
    return listItems<Event>(this.#client, EVENTS.path, { query });
  }

  async #patiently<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let failures = 0; ; failures++) {
      try {
        const result = await work();
        if (failures > 0) this.#options.onBack();
        return result;
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (failures === 0) this.#options.onLost((error as Error).message);
        const wait = Math.min(POLL_MILLISECONDS * 2 ** failures, LONGEST_WAIT_MILLISECONDS);
        await this.#context.sleep(wait * (0.5 + this.#context.random() / 2));
      }
    }
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return error instanceof NetworkError && error.passing;
}
