import type { Log } from "../ports.ts";
import type { Topic } from "./database.ts";

/** The subscribers of each topic in this process. */
export class Subscriptions {
  readonly #callbacks: Record<Topic, Set<() => void>> = {
    events: new Set(),
    deliveries: new Set(),
    resets: new Set(),
  };
  readonly #log: Log | undefined;

  constructor(log: Log | undefined) {
    this.#log = log;
  }

  add(topic: Topic, callback: () => void): () => void {
    // Each call is a separate subscription, even with the same callback.
    const subscription = () => callback();
    this.#callbacks[topic].add(subscription);
    return () => this.#callbacks[topic].delete(subscription);
  }

  has(topic: Topic): boolean {
    return this.#callbacks[topic].size > 0;
  }

  /** Calls back after the current code has run. A callback that throws is logged and affects no other. */
  notify(topics: Iterable<Topic>): void {
    for (const topic of topics) {
      for (const callback of this.#callbacks[topic]) queueMicrotask(() => this.#call(topic, callback));
    }
  }

  #call(topic: Topic, callback: () => void): void {
    // It may have unsubscribed since.
    if (!this.#callbacks[topic].has(callback)) return;
    try {
      callback();
    } catch (error) {
      this.#log?.error({ topic, err: error }, "a callback for committed changes failed");
    }
  }
}
