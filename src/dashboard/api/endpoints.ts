import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import type { Statistics, StatisticsEndpoint } from "../../contract/schemas/statistics.ts";
import { nameOfEndpoint } from "../../explain/receivers.ts";
import { type Pages, usePages } from "./pages.ts";

/** Reads all endpoints that a page can name. */
export function useEndpoints(): Pages<WebhookEndpoint> {
  return usePages<WebhookEndpoint>("/v1/webhook_endpoints", {}, { limit: 100 });
}

export { nameOfEndpoint };

/** Returns whether an endpoint fails: since a known time, or with every attempt that is counted. */
export function isFailing({ status, health }: WebhookEndpoint, counts: StatisticsEndpoint | undefined): boolean {
  const { attempts = 0, failed = 0 } = counts ?? {};
  return status === "enabled" && (health.failing_since !== null || (attempts > 0 && failed === attempts));
}

const MAX_NAME = 40;

/** Returns a name for a sentence or a button, shortened, and in quotation marks if it could be read as part of it. */
export function shortNameOf(endpoint: Pick<WebhookEndpoint, "description" | "url">): string {
  const name = nameOfEndpoint(endpoint);
  const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME).trimEnd()}…` : name;
  return /[,;.] | and /.test(short) ? `“${short}”` : short;
}

/** Returns the subscriptions as words. */
export function subscriptionsOf(events: readonly string[]): string {
  return events.includes("*") ? "All events" : events.join(", ");
}

/** Returns the name of a listener: where it forwarded a delivery to, or else forwards to; or the end of its ID. */
export function nameOfListener(
  { listener, target = null }: { listener: string | null; target?: string | null },
  statistics: Statistics | undefined,
): string {
  const { targets = [] } = statistics?.listener_connections.find((one) => one.listener === listener) ?? {};
  const urls = target === null ? targets.map(({ url }) => url) : [target];
  const names = new Set(urls.map((url) => url.replaceAll(/^https?:\/\/|\/$/g, "")));
  return `Listener ${names.size === 0 ? `…${listener?.slice(-4)}` : [...names].join(", ")}`;
}
