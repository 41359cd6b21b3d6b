import type { QueryValue } from "../../client/base-url.ts";
import { ApiError, NetworkError } from "../../client/errors.ts";
import type { Client } from "../../client/http.ts";
import { listItems } from "../../client/pages.ts";
import { timeOfId } from "../../contract/ids.ts";
import type { Context } from "../context.ts";
import { EnvironmentClock } from "../environment-time.ts";
import { endStream } from "../errors.ts";

interface Following<Item> extends NewItemsOptions<Item> {
  /** Printed once the command watches for new items. */
  ready: string;
  /** Text of the spinner while no new items arrive. */
  waiting: string;
  print: (item: Item) => Promise<void>;
}

/** Prints new items of a list until Ctrl-C. Waits for an unreachable platform. */
export async function followList<Item extends { id: string }>(
  context: Context,
  { ready, waiting, print, ...list }: Following<Item>,
): Promise<void> {
  const { output } = context;
  const items = new NewItems<Item>(await context.client(), context, list);
  await items.begin();
  output.note(ready);
  if (context.stderr.isTTY && !output.json && !output.quiet) {
    const clock = new EnvironmentClock(context);
    await clock.read();
    if (clock.notice !== undefined) output.note(clock.notice);
  }
  try {
    for (;;) {
      // The reader of a pipe may print on the same terminal.
      const next = () => items.next();
      for (const item of await (output.terminal ? output.spinner.during(waiting, next) : next())) await print(item);
    }
  } catch (error) {
    endStream(error);
  }
}

const POLL_MILLISECONDS = 500;
const MAX_WAIT_MILLISECONDS = 30_000;
/**
 * An ID contains the time at which its work began. An item that began this long before another may be listed after it.
 */
const OVERLAP_MILLISECONDS = 5000;
/** How often a poll goes back further, for work that takes long. */
const POLLS_PER_DEEP_POLL = 20;
/** True for IDs in commit order. */
const MAX_ID_DISORDER_MILLISECONDS = 60_000;

interface NewItemsOptions<Item> {
  /** `/v1/events` */
  path: string;
  /** Filters for the platform. */
  query: Readonly<Record<string, QueryValue>>;
  /** True if the list is in commit order: new items come before all earlier ones. */
  inCommitOrder?: boolean;
  /** Maximum delay after which an item may be listed that began earlier, in milliseconds (default: 5000). */
  maxLag?: number;
  /** Selects items; absent for all. */
  filter?: (item: Item) => boolean;
}

/** Polls a list for new items. */
class NewItems<Item extends { id: string }> {
  readonly #client: Client;
  readonly #context: Context;
  readonly #options: NewItemsOptions<Item>;
  readonly #receivedIds = new Set<string>();
  #polls = 0;
  /** The first item of the list at the last poll. */
  #first: string | undefined;
  /** The newest item's time on the environment's clock, and when it was received here. */
  #newest: { time: number; seenAt: number } | undefined;

  constructor(client: Client, context: Context, options: NewItemsOptions<Item>) {
    this.#client = client;
    this.#context = context;
    this.#options = options;
  }

  /** Existing items count as received. Rejects if the platform cannot be reached. */
  async begin(): Promise<void> {
    for await (const { id } of this.#list()) {
      this.#first ??= id;
      this.#newest ??= { time: timeOfId(id), seenAt: this.#context.now() };
      if (timeOfId(id) < this.#newest.time - this.#maxLag) return;
      this.#receivedIds.add(id);
    }
  }

  /** Returns the next items, oldest first, at least one. Waits out temporary failures. */
  async next(): Promise<Item[]> {
    for (;;) {
      const fresh = await this.#withRetries(() => this.#poll());
      if (fresh.length > 0) return fresh;
      await this.#context.sleep(POLL_MILLISECONDS);
    }
  }

  async #poll(): Promise<Item[]> {
    this.#polls += 1;
    let since = this.#horizon(this.#polls % POLLS_PER_DEEP_POLL === 0 ? this.#maxLag : OVERLAP_MILLISECONDS);
    const forgotten = this.#horizon(this.#maxLag) ?? 0;
    for (const id of this.#receivedIds) if (timeOfId(id) < forgotten) this.#receivedIds.delete(id);
    const fresh: Item[] = [];
    let first: string | undefined;
    for await (const item of this.#list()) {
      if (this.#options.inCommitOrder && item.id === this.#first) break;
      if (this.#options.inCommitOrder && first === undefined && since !== undefined && timeOfId(item.id) < since) {
        // The newest item is far older than the last one: the sandbox was reset while its clock was ahead.
        since = this.#newest = undefined;
      }
      if (since !== undefined && timeOfId(item.id) < since) break;
      first ??= item.id;
      if (!this.#receivedIds.has(item.id)) fresh.push(item);
    }
    this.#first = first ?? this.#first;
    // Updated only now, so that an interrupted poll is repeated from the same position.
    for (const { id } of fresh) this.#receivedIds.add(id);
    const time = fresh[0] === undefined ? undefined : timeOfId(fresh[0].id);
    if (time !== undefined && time > (this.#newest?.time ?? 0)) {
      this.#newest = { time, seenAt: this.#context.now() };
    }
    return fresh.filter(this.#options.filter ?? (() => true)).toReversed();
  }

  /** No new item can be older than this, because the environment's clock runs at least as fast as real time. */
  #horizon(overlap: number): number | undefined {
    if (this.#newest === undefined) return undefined;
    // New items are found by their position in the list. This limits the search if the last received item was deleted.
    if (this.#options.inCommitOrder) return this.#newest.time - MAX_ID_DISORDER_MILLISECONDS;
    const passed = Math.max(0, this.#context.now() - this.#newest.seenAt);
    return Math.min(this.#newest.time, this.#newest.time + passed - overlap);
  }

  get #maxLag(): number {
    return this.#options.maxLag ?? OVERLAP_MILLISECONDS;
  }

  #list(): AsyncGenerator<Item, void, undefined> {
    const { path, query } = this.#options;
    return listItems<Item>(this.#client, path, { query });
  }

  async #withRetries<Result>(work: () => Promise<Result>): Promise<Result> {
    const { output } = this.#context;
    for (let failures = 0; ; failures++) {
      try {
        const result = await work();
        if (failures > 0) output.success("The platform is reachable again");
        return result;
      } catch (error) {
        if (!isTransient(error)) throw error;
        if (failures === 0) output.warn(`${(error as Error).message}. Reconnecting; no items will be missed.`);
        const wait = Math.min(POLL_MILLISECONDS * 2 ** failures, MAX_WAIT_MILLISECONDS);
        await this.#context.sleep(wait * (0.5 + this.#context.random() / 2));
      }
    }
  }
}

function isTransient(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return error instanceof NetworkError && error.passing;
}
