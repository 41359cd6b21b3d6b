import type { Json } from "./schemas.ts";

interface Tag {
  name: string;
  description: string;
}

/** How the document groups operations, by the first part of their path behind `/v1/`. */
const TAGS: Record<string, Tag> = {
  customers: { name: "Customers", description: "Whom the account does business with." },
  orders: { name: "Orders", description: "What customers order. A pending order is completed or canceled, once." },
  payments: { name: "Payments", description: "What is paid. A pending payment succeeds or fails, once." },
  events: {
    name: "Events",
    description: "What happened. Events are delivered to webhook endpoints and can be replayed.",
  },
  webhook_endpoints: {
    name: "Webhook endpoints",
    description: "Where events are delivered to, and their signing secrets.",
  },
  deliveries: { name: "Deliveries", description: "Each event on its way to each endpoint, with every attempt." },
  test_clock: {
    name: "Test clock",
    description: "The sandbox's time, which can be moved to see retries and expiries at once.",
  },
  api_keys: { name: "API keys", description: "Credentials of servers; a key never gives more than it has." },
  oauth_apps: {
    name: "OAuth apps",
    description: "Apps that act for users, through the authorization code flow with PKCE.",
  },
  request_logs: {
    name: "Request logs",
    description: "What was asked of the API in the last 7 days, without any secret.",
  },
  leaked_keys: {
    name: "Leak reports",
    description: "What a code-hosting partner says of credentials that were found in public.",
  },
  statistics: { name: "Statistics", description: "Events, attempts, latencies and failures by the minute." },
  users: { name: "People", description: "Who may sign in to the account's dashboard." },
  sessions: { name: "Sessions", description: "The browsers in which a person is signed in." },
  oauth_grants: { name: "OAuth grants", description: "What a person allows apps to do." },
  me: { name: "Identity", description: "Whom a credential stands for." },
  versions: { name: "Versions", description: "The dated versions that the platform speaks." },
};

export const WEBHOOK_TAG: Tag = {
  name: "Webhooks",
  description: "What the platform sends to webhook endpoints: one signed POST an event.",
};

/** The group of an operation's path. */
export function tagOf(path: string): Tag {
  const segment = path.split("/")[2] ?? "";
  const words = segment.replaceAll("_", " ");
  return (
    TAGS[segment] ?? { name: words.charAt(0).toUpperCase() + words.slice(1), description: `Operations on ${words}.` }
  );
}

/** The groups of all paths, in the order of the operations. */
export function tagsOf(paths: readonly string[]): Json[] {
  const tags = new Map(paths.map((path) => [tagOf(path).name, tagOf(path)]));
  return [...tags.values(), WEBHOOK_TAG].map((tag) => ({ ...tag }));
}
