import type { ListenerResult } from "../../contract/schemas/statistics.ts";

const MAX_EVENTS = 10_000;

/** What listeners did with the last events that they left without a delivery. Only explanations need it: in memory. */
export class UndeliveredEvents {
  /** Newest event last, with its newest result first. */
  readonly #results = new Map<string, { environment: number; results: ListenerResult[] }>();

  add(environment: number, event: string, result: ListenerResult): void {
    const others = (this.#results.get(event)?.results ?? []).filter(({ listener }) => listener !== result.listener);
    this.#results.delete(event);
    this.#results.set(event, { environment, results: [result, ...others] });
    if (this.#results.size > MAX_EVENTS) this.#results.delete(this.#results.keys().next().value!);
  }

  resultsOf(environment: number, event: string): readonly ListenerResult[] {
    const found = this.#results.get(event);
    return found?.environment === environment ? found.results : [];
  }
}
