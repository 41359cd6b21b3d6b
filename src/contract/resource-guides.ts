import type { ResourceKind } from "./resources.ts";

/** When to use a resource, for the API reference; not needed for a new one. Apart from the table of resources, which every command loads. */
export const RESOURCE_GUIDES: Readonly<Partial<Record<ResourceKind, string>>> = {
  customer:
    "Create a customer once for each person or company, and keep its ID with your own user. Orders may refer to it. The email address is unique, so a repeated sign-up gets `email_taken` with the ID of the existing customer.",
  order:
    "Create an order when a customer checks out. Complete it once it is paid or shipped, or cancel it: both are final, and your application learns of either through `order.completed` or `order.canceled`. An order need not have a customer.",
  payment:
    "Create a payment when you collect money for an order. No money moves: your test decides the outcome with `succeed` or `fail`, and receives the event that a real provider would send.",
  event:
    "Each change of an object creates one event, with the object as it was then. Endpoints and `service listen` get events as they happen. List them to find out what happened or what you missed, follow them without webhooks as a stream, and replay one after a bug is fixed.",
  webhook_endpoint:
    "Create an endpoint for a receiver with a public https URL. During development, `service listen` forwards events to localhost without one. Store the `secret` in the receiver, which verifies each delivery with it.",
  delivery:
    "Look here if your receiver did not get an event, or got it twice: a delivery shows each attempt with the response. Failed attempts are retried for 3 days; `retry` does not wait.",
  bulk_operation:
    "The result of `POST /v1/deliveries/retry` or `POST /v1/events/replay`: retrieve it to see the progress, or cancel the rest. Both accept `dry_run`, which only counts.",
  api_key:
    "Create one restricted key for each service, with the scopes that it needs and an expiry. To replace a key without a change of permissions, rotate it.",
  oauth_app:
    "Register an app if users of this platform sign in to it, or let it act for them. For your own server, use an API key.",
  test_clock:
    "Advance the clock to see in seconds what takes days: retries, expired keys, a disabled endpoint that recovers.",
  sandbox: "Reset the sandbox before a test, or restore a snapshot, so that each test starts from the same state.",
  fault:
    "Add a fault to see how your client handles error responses, slow responses and lost connections, and whether its retries are safe.",
  request_log: "Look here to see what your application sent, what it got back, and which events the request caused.",
  leak_report: "Only code-hosting partners use it. Credentials that they find in public places are revoked.",
  statistics:
    "The numbers of the dashboard's overview: traffic, latencies, failures by reason, and the state of the queue.",
  user: "Invite those who work in the dashboard. Programs use API keys instead.",
  session: "See where you are signed in to the dashboard, and sign out elsewhere.",
  oauth_grant: "See which apps may act for you, and revoke their access.",
  identity: "Check at startup that a credential is valid, and which environment and scopes it has.",
  version: "See which dates the header `Service-Version` accepts, and which one your account is pinned to.",
};
