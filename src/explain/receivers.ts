import type { Delivery } from "../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";

/** A receiver, as sentences refer to it. */
export interface Receiver {
  /** The ID of an endpoint; null for a listener. */
  endpoint: string | null;
  name: string;
  url: string;
  /** The beginning of a long URL. */
  shownUrl: string;
  host: string;
  isLive: boolean;
  /** The verb for sending the event again: `retry`. */
  again: string;
}

const MAX_URL = 100;
const MAX_NAME = 60;

/** Returns the receiver of a delivery; `endpoint` is undefined for a listener, and for an endpoint that was deleted. */
export function receiverOf(delivery: Delivery, endpoint: WebhookEndpoint | undefined): Receiver {
  if (endpoint !== undefined) return receiverOfEndpoint(endpoint);
  const name = delivery.endpoint === null ? "your application" : `the endpoint ${delivery.endpoint}`;
  const again = delivery.endpoint === null ? "replay the event" : "retry";
  return { endpoint: delivery.endpoint, name, url: name, shownUrl: name, host: name, isLive: delivery.livemode, again };
}

/** Returns true if two deliveries are to the same endpoint, or to the same target of a listener. */
export function isSameReceiver(one: Delivery, other: Delivery): boolean {
  return one.endpoint === other.endpoint && one.listener === other.listener && one.target === other.target;
}

export function receiverOfEndpoint({ id, url, description, livemode: isLive }: WebhookEndpoint): Receiver {
  const [, host = url, path = ""] = /^\w+:\/\/([^/?#]+)([^?#]*)/.exec(url) ?? [];
  const isNamed = description !== null && description.trim() !== "";
  const name = shorten(isNamed ? description : host + path.replace(/\/$/, ""), MAX_NAME);
  return { endpoint: id, name, url, shownUrl: shorten(url, MAX_URL), host, isLive, again: "retry" };
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
