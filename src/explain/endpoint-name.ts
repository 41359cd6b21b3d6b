import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";

/** Returns the name of an endpoint: its description, or its URL without the scheme. */
export function nameOfEndpoint({ description, url }: Pick<WebhookEndpoint, "description" | "url">): string {
  // The query stays: endpoints may differ in nothing else.
  return description?.trim() || url.replace(/^\w+:\/\//, "").replace(/#.*$|\/$/, "");
}
