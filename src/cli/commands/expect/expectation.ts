import type { Client } from "../../../client/http.ts";
import { eventsAfter, newestEventId } from "../../../client/new-events.ts";
import { allItems } from "../../../client/pages.ts";
import type { EventType } from "../../../contract/event-types.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event, ListedEvent } from "../../../contract/schemas/event.ts";
import { type Condition, meets, textAt } from "../../arguments/conditions.ts";
import { filterWithJq } from "../../terminal/jq.ts";

/** The expected events. */
export interface Expectation {
  type: EventType;
  conditions: readonly Condition[];
  /** A jq expression that must yield true. */
  jq: string | undefined;
  /** Expects exactly this many; undefined for one or more. */
  count: number | undefined;
  /** True if each of them must be delivered. */
  isDelivered: boolean;
}

/** Why an expectation was not met: stable names. */
export type FailureCode = "event_not_seen" | "too_few_events" | "too_many_events" | "not_delivered" | "delivery_failed";

/** A condition that an event does not meet. */
interface Difference {
  condition: string;
  expected: string;
  actual: string | null;
}

/** The event that comes closest to the expectation, and how it differs. */
export interface Near {
  event: Event;
  differences: Difference[];
}

/** The events received so far. */
export interface Observation {
  matching: Event[];
  /** The event of the type with the fewest differences. */
  nearest: Near | undefined;
  /** Number of events of other types, by type. */
  others: ReadonlyMap<string, number>;
  deliveries: Delivery[];
}

/** Watches the events that follow a position in the log. */
export class Watch {
  readonly #client: Client;
  readonly #expectation: Expectation;
  #position: string | undefined;
  readonly #matching: Event[] = [];
  readonly #others = new Map<string, number>();
  #nearest: Near | undefined;
  #deliveries: Delivery[] = [];

  private constructor(client: Client, expectation: Expectation, position: string | undefined) {
    this.#client = client;
    this.#expectation = expectation;
    this.#position = position;
  }

  /** Takes the position of the newest event. */
  static async begin(client: Client, expectation: Expectation): Promise<Watch> {
    return new Watch(client, expectation, await newestEventId(client));
  }

  get observation(): Observation {
    return {
      matching: this.#matching,
      nearest: this.#nearest,
      others: this.#others,
      deliveries: this.#deliveries,
    };
  }

  /** Reads new events. */
  async look(): Promise<void> {
    const fresh: ListedEvent[] = [];
    for await (const event of eventsAfter(this.#client, this.#position)) fresh.push(event);
    this.#position = fresh[0]?.id ?? this.#position;
    for (const event of fresh.toReversed()) await this.#take(event);
    if (this.#expectation.isDelivered) await this.#readDeliveries();
  }

  async #take(event: ListedEvent): Promise<void> {
    const { type, conditions, jq } = this.#expectation;
    if (event.type !== type || event.data === null) {
      this.#others.set(event.type, (this.#others.get(event.type) ?? 0) + 1);
      return;
    }
    const differences = conditions
      .filter((condition) => !meets(event, condition))
      .map(({ text, path, isNegated, value }) => ({
        condition: text,
        expected: isNegated ? `not ${value}` : value,
        actual: textAt(event, path) ?? null,
      }));
    if (jq !== undefined) {
      const actual = await filterWithJq(event, jq);
      if (actual !== "true") differences.push({ condition: jq, expected: "true", actual });
    }
    if (differences.length === 0) this.#matching.push(event);
    else if (this.#nearest === undefined || differences.length <= this.#nearest.differences.length) {
      this.#nearest = { event, differences };
    }
  }

  async #readDeliveries(): Promise<void> {
    const deliveries: Delivery[] = [];
    for (const { id } of this.#matching) {
      deliveries.push(...(await allItems<Delivery>(this.#client, "/v1/deliveries", { event: id })));
    }
    this.#deliveries = deliveries;
  }
}

/** `met` and `failed` are final; `open` can become either until the time is up. */
type Verdict = { state: "met" | "open" } | { state: "failed"; code: FailureCode };

/** Judges the events. `isOver` is true once the time is up. */
export function judge(
  { count, isDelivered }: Expectation,
  { matching, deliveries }: Observation,
  isOver: boolean,
): Verdict {
  const { length: matched } = matching;
  if (count !== undefined && matched > count) return { state: "failed", code: "too_many_events" };
  const failed = deliveries.find(({ status }) => status === "failed" || status === "canceled");
  if (isDelivered && failed !== undefined) return { state: "failed", code: "delivery_failed" };
  if (matched < (count ?? 1)) {
    return isOver ? { state: "failed", code: matched === 0 ? "event_not_seen" : "too_few_events" } : { state: "open" };
  }
  const delivered = new Set(deliveries.filter(({ status }) => status === "succeeded").map(({ event }) => event));
  const pending = deliveries.some(({ status }) => status === "pending");
  if (isDelivered && (pending || matching.some(({ id }) => !delivered.has(id)))) {
    return isOver ? { state: "failed", code: "not_delivered" } : { state: "open" };
  }
  // Another event could arrive until the time is up.
  return { state: count === undefined || isOver ? "met" : "open" };
}
