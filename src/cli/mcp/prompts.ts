import type { GetPromptResult, Prompt } from "@modelcontextprotocol/sdk/types.js";

/** Tasks that users start from their client. */
export const PROMPTS: readonly Prompt[] = [
  {
    name: "add_webhook_receiver",
    description: "Add a webhook receiver to an application, and test it with real deliveries",
    arguments: [
      { name: "events", description: "Event types to receive, separated by commas (default: order.completed)" },
      { name: "framework", description: "Framework of the application (default: the one it uses)" },
      { name: "url", description: "URL of the receiver (default: an address of this machine)" },
    ],
  },
  {
    name: "debug_failing_endpoint",
    description: "Find out why deliveries to a webhook endpoint fail, fix the cause and retry them",
    arguments: [{ name: "endpoint", description: "ID of the endpoint, we_… (default: the failing one)" }],
  },
];

/** Returns the messages of a prompt; undefined for an unknown name. */
export function getPrompt(name: string, given: Readonly<Record<string, string>>): GetPromptResult | undefined {
  const prompt = PROMPTS.find((known) => known.name === name);
  if (prompt === undefined) return undefined;
  const text = name === "add_webhook_receiver" ? addReceiver(given) : debugEndpoint(given);
  return { description: prompt.description!, messages: [{ role: "user", content: { type: "text", text } }] };
}

function addReceiver({ events = "order.completed", framework, url }: Readonly<Record<string, string>>): string {
  const application = framework === undefined ? "this application" : `this ${framework} application`;
  const address = url === undefined ? "its URL" : url;
  return `Add a webhook receiver for ${events} to ${application}.

1. Read the resources service://docs/receiving-webhooks and service://docs/webhooks-library.
2. Add a route that takes POST requests, with the adapter of the package service-webhooks for the framework. It must verify the signature over the raw body, store the event ID in a unique column before it acts, and return 2xx within 10 seconds.
3. Read the signing secret from the environment variable SERVICE_WEBHOOK_SECRET. Never write it to a file under version control.
4. Create an endpoint with create_webhook_endpoint for ${address}, and give the user its secret. If the platform cannot reach the application, ask the user to run \`service listen --forward-to <URL>\` instead.
5. Send an event with trigger_event, wait for it with wait_for_event, and read its delivery with list_deliveries and get_delivery. Use explain if it failed.
6. If the tool check_receiver is available, grade the receiver, and fix what it reports.
7. Add a test that posts a signed event to the route, and one that posts the same event twice.`;
}

function debugEndpoint({ endpoint }: Readonly<Record<string, string>>): string {
  const start =
    endpoint === undefined
      ? "Find the endpoint with list_deliveries (status failed, then pending) and list_webhook_endpoints."
      : `Read the endpoint with get_webhook_endpoint (id ${endpoint}).`;
  return `Find out why deliveries to a webhook endpoint fail, and fix the cause.

1. ${start}
2. Call explain with the endpoint's ID: it names the likely cause, and the deliveries with their attempts.
3. Read the latest attempts with get_delivery: status code, error, response, request headers.
4. Read the resource service://docs/troubleshooting for this cause.
5. If the receiver is in this workspace, fix it. Otherwise tell the user what to change there.
6. If the endpoint is disabled, enable it with update_webhook_endpoint once the cause is fixed.
7. Send a test event with ping_webhook_endpoint, and read its delivery.
8. When it succeeds, retry the failed deliveries with retry_delivery, after the user has agreed.`;
}
