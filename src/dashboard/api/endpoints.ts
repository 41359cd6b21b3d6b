import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { type Pages, usePages } from "./pages.ts";

/** Reads all endpoints that a page can name. */
export function useEndpoints(): Pages<WebhookEndpoint> {
  return usePages<WebhookEndpoint>("/v1/webhook_endpoints", {}, { limit: 100 });
}

/** Returns the name of an endpoint: its description, or the host and path of its URL. */
export function nameOfEndpoint({ description, url }: Pick<WebhookEndpoint, "description" | "url">): string {
  return description?.trim() || url.replace(/^https?:\/\//, "").replace(/\/?([?#].*)?$/, "");
}

/** Returns the subscriptions as words. */
export function subscriptionsOf(events: readonly string[]): string {
  return events.includes("*") ? "All events" : events.join(", ");
}
