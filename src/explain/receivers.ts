import { counted } from "../contract/words.ts";
import type { Delivery } from "../contract/schemas/delivery.ts";
import type { Statistics } from "../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { type Finding, span, waits } from "./finding.ts";

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
  /** Where a listener forwards to, if it said so, and the flag that says it: `--forward-to`. */
  target?: string | undefined;
  flag?: string;
}

const MAX_URL = 100;
const MAX_NAME = 60;

/** Returns the receiver of a delivery; `endpoint` is undefined for a listener, and for an endpoint that was deleted. */
export function receiverOf(delivery: Delivery, endpoint: WebhookEndpoint | undefined): Receiver {
  if (endpoint !== undefined) return receiverOfEndpoint(endpoint);
  const { endpoint: id, livemode: isLive, target } = delivery;
  if (id === null) return receiverOfListener(target ?? undefined, "replay the event");
  const name = `the endpoint ${id}`;
  return { endpoint: id, name, url: name, shownUrl: name, host: name, isLive, again: "retry" };
}

/** Returns the application that a listener forwards to. */
export function receiverOfListener(target: string | undefined, again: string): Receiver {
  const name = "your application";
  const host = target === undefined ? name : hostOf(target);
  return { endpoint: null, name, url: host, shownUrl: host, host, isLive: false, again, target };
}

/** Returns true if two deliveries are to the same endpoint, or to the same target of a listener. */
export function isSameReceiver(one: Delivery, other: Delivery): boolean {
  return one.endpoint === other.endpoint && one.listener === other.listener && one.target === other.target;
}

/** Returns the name of an endpoint: its description, or its URL without the scheme. */
export function nameOfEndpoint({ description, url }: Pick<WebhookEndpoint, "description" | "url">): string {
  // The query stays: endpoints may differ in nothing else.
  return description?.trim() || url.replace(/^\w+:\/\//, "").replace(/#.*$|\/$/, "");
}

export function receiverOfEndpoint(endpoint: WebhookEndpoint): Receiver {
  const { id, url, livemode: isLive } = endpoint;
  const name = shorten(nameOfEndpoint(endpoint), MAX_NAME);
  return { endpoint: id, name, url, shownUrl: shorten(url, MAX_URL), host: hostOf(url), isLive, again: "retry" };
}

function hostOf(url: string): string {
  return /^\w+:\/\/([^/?#]+)/.exec(url)?.[1] ?? url;
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Deliveries that are due start at once, unless the endpoint's earlier ones are still in flight. */
const BACKLOG_SECONDS = 2;

export function isBacklog({ queue }: Statistics): boolean {
  return queue.oldest_due_seconds >= BACKLOG_SECONDS;
}

/** Returns that deliveries wait because their endpoint is slow. */
export function backlog(
  { queue, totals }: Statistics,
  { endpoint, name }: Pick<Receiver, "endpoint" | "name">,
): Finding {
  const { attempts, failed, latency_p50_ms: p50 } = totals;
  // Latencies are counted in ranges, so the median is not exact.
  const median = p50 === null ? undefined : `about ${span(p50 < 1000 ? p50 : Math.round(p50 / 1000) * 1000)}`;
  const speed = median === undefined ? "has not responded yet" : `takes ${median} to respond`;
  return {
    code: "backlog",
    subject: endpoint ?? "",
    summary: `${waits(queue.pending)} for ${name}, the oldest for ${span(queue.oldest_due_seconds * 1000)}, because it ${speed}`,
    evidence:
      attempts === 0
        ? "No attempt in the last hour has finished"
        : `${counted(attempts, "attempt")} in the last hour, ${failed} failed; ${median === undefined ? "none got a response" : `the median response time is ${median}`}`,
    action: "Return 2xx at once: store the event in the receiver and process it later",
    fix: shellCommand`service deliveries list --status pending --endpoint ${endpoint ?? ""}`,
  };
}
