import { matchesSubscriptions } from "../contract/event-types.ts";
import { Forwarder, type ForwarderOptions } from "./forward.ts";

/** Events of a subscription go to a receiver of their own. */
export interface Route {
  /** `*`, `<prefix>.*` or an exact type. */
  subscription: string;
  url: URL;
}

export interface RouterOptions extends Omit<ForwarderOptions, "url"> {
  /** Tried in their order; the first that covers an event's type takes it. */
  routes: readonly Route[];
  /** Takes what no route does; without it such events go nowhere. */
  target: URL | undefined;
}

/** One receiver and its connections. */
export interface Destination {
  url: URL;
  forwarder: Forwarder;
}

/** Chooses the receiver of an event by its type. Receivers that several routes share keep one set of connections. */
export class Router {
  readonly #routes: { subscription: string; destination: Destination }[];
  readonly #byUrl = new Map<string, Destination>();
  /** What was found for a type: there are few types and many events. */
  readonly #byType = new Map<string, Destination | undefined>();

  constructor({ routes, target, ...options }: RouterOptions) {
    const all = target === undefined ? routes : [...routes, { subscription: "*", url: target }];
    this.#routes = all.map(({ subscription, url }) => ({
      subscription,
      destination: this.#destinationOf(url, options),
    }));
  }

  /** Undefined where events of the type go nowhere. */
  find(type: string): Destination | undefined {
    if (this.#byType.has(type)) return this.#byType.get(type);
    const route = this.#routes.find(({ subscription }) => matchesSubscriptions([subscription], type));
    this.#byType.set(type, route?.destination);
    return route?.destination;
  }

  /** Cuts all connections. */
  close(): void {
    for (const { forwarder } of this.#byUrl.values()) forwarder.close();
  }

  #destinationOf(url: URL, options: Omit<ForwarderOptions, "url">): Destination {
    const known = this.#byUrl.get(url.href);
    if (known !== undefined) return known;
    const destination = { url, forwarder: new Forwarder({ ...options, url }) };
    this.#byUrl.set(url.href, destination);
    return destination;
  }
}
