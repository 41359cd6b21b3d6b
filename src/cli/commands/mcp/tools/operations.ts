import { apiTool, type Tool } from "../tool.ts";
import {
  kindsWith,
  nounOf,
  nounsOf,
  type ObjectKind,
  resourceOf,
  RESOURCES,
  withArticle,
} from "../../../../contract/resources.ts";
import { Delivery, DeliveryList, DeliveryListQuery } from "../../../../contract/schemas/delivery.ts";
import { Event, EventList, EventListQuery, EventReplay, Replay } from "../../../../contract/schemas/event.ts";
import { OBJECT_SCHEMAS } from "../../../../contract/schemas/objects.ts";
import { RequestLogDetail, RequestLogList, RequestLogListQuery } from "../../../../contract/schemas/request-log.ts";
import { TestClock, TestClockAdvance } from "../../../../contract/schemas/test-clock.ts";
import {
  DeletedWebhookEndpoint,
  EndpointPing,
  SecretRotate,
  WebhookEndpoint,
  WebhookEndpointCreate,
  WebhookEndpointList,
  WebhookEndpointListQuery,
  WebhookEndpointUpdate,
} from "../../../../contract/schemas/webhook-endpoint.ts";

/** Tools for the resources that are described by their fields in the table of resources. */
export const OBJECT_TOOLS: readonly Tool[] = kindsWith("fields").flatMap(toolsOf);

function toolsOf(kind: ObjectKind): Tool[] {
  const { events = [], statuses = {}, actions = {} } = resourceOf(kind);
  const { object, list, query, create, update, deleted, actions: bodies } = OBJECT_SCHEMAS[kind];
  const [one, { plural }] = [withArticle(nounOf(kind)), RESOURCES[kind]];
  const emits = (change: string) => (events.includes(change) ? ` Emits ${kind}.${change}.` : "");
  const tools = [
    apiTool(kind, "POST", {
      name: `create_${kind}`,
      description: `Create ${one}.${emits("created")}`,
      input: create,
      output: object,
    }),
    apiTool(kind, "GET", {
      name: `list_${plural}`,
      description: `List ${nounsOf(kind)}, newest first.`,
      input: query,
      output: list,
    }),
    apiTool(kind, "GET /{id}", { name: `get_${kind}`, description: `Retrieve ${one}.`, output: object }),
  ];
  if (update !== undefined) {
    tools.push(
      apiTool(kind, "PATCH /{id}", {
        name: `update_${kind}`,
        description: `Update ${one}; metadata is merged.${emits("updated")}`,
        input: update,
        output: object,
      }),
    );
  }
  if (deleted !== undefined) {
    const description = `Delete ${one}.${emits("deleted")}`;
    tools.push(apiTool(kind, "DELETE /{id}", { name: `delete_${kind}`, description, output: deleted }));
  }
  for (const [verb, { about, to }] of Object.entries(actions)) {
    tools.push(
      apiTool(kind, `POST /{id}/${verb}`, {
        name: `${verb}_${kind}`,
        description: `${about}.${emits(to)}`,
        effect: statuses[to] === "good" ? "changes" : "removes",
        idempotent: true,
        ...(bodies[verb] === undefined ? {} : { input: bodies[verb] }),
        output: object,
      }),
    );
  }
  return tools;
}

export const EVENT_TOOLS: readonly Tool[] = [
  apiTool("event", "GET", {
    name: "list_events",
    description: "List events, newest first. `type` takes wildcards such as order.*; `related` is the ID of an object.",
    input: EventListQuery,
    output: EventList,
  }),
  apiTool("event", "GET /{id}", {
    name: "get_event",
    description: "Retrieve an event: the exact JSON that was delivered.",
    output: Event,
  }),
  apiTool("event", "POST /{id}/replay", {
    name: "replay_event",
    description: "Replay an event of the last 30 days to all subscribed endpoints, or to one of them.",
    input: EventReplay,
    output: Replay,
  }),
];

export const ENDPOINT_TOOLS: readonly Tool[] = [
  apiTool("webhook_endpoint", "POST", {
    name: "create_webhook_endpoint",
    description:
      "Create a webhook endpoint: a URL that gets a signed POST for each event of its types. The result has the signing secret, which is not shown again.",
    input: WebhookEndpointCreate,
    output: WebhookEndpoint,
  }),
  apiTool("webhook_endpoint", "GET", {
    name: "list_webhook_endpoints",
    description: "List webhook endpoints, newest first, with their status.",
    input: WebhookEndpointListQuery,
    output: WebhookEndpointList,
  }),
  apiTool("webhook_endpoint", "GET /{id}", {
    name: "get_webhook_endpoint",
    description: "Retrieve a webhook endpoint.",
    output: WebhookEndpoint,
  }),
  apiTool("webhook_endpoint", "PATCH /{id}", {
    name: "update_webhook_endpoint",
    description: "Update a webhook endpoint, or enable or disable it.",
    input: WebhookEndpointUpdate,
    output: WebhookEndpoint,
  }),
  apiTool("webhook_endpoint", "DELETE /{id}", {
    name: "delete_webhook_endpoint",
    description: "Delete a webhook endpoint and cancel its pending deliveries.",
    output: DeletedWebhookEndpoint,
  }),
  apiTool("webhook_endpoint", "POST /{id}/ping", {
    name: "ping_webhook_endpoint",
    description: "Send a test event to one webhook endpoint. Returns the event; its delivery shows the response.",
    input: EndpointPing,
    output: Event,
  }),
  apiTool("webhook_endpoint", "POST /{id}/rotate_secret", {
    name: "rotate_webhook_secret",
    description: "Create a new signing secret for a webhook endpoint. Both secrets sign during the overlap.",
    effect: "removes",
    input: SecretRotate,
    output: WebhookEndpoint,
  }),
];

export const DELIVERY_TOOLS: readonly Tool[] = [
  apiTool("delivery", "GET", {
    name: "list_deliveries",
    description: "List deliveries, newest first, by endpoint, event or status.",
    input: DeliveryListQuery,
    output: DeliveryList,
  }),
  apiTool("delivery", "GET /{id}", {
    name: "get_delivery",
    description: "Retrieve a delivery with its attempts and their responses.",
    output: Delivery,
  }),
  apiTool("delivery", "POST /{id}/retry", {
    name: "retry_delivery",
    description: "Retry a delivery now.",
    output: Delivery,
  }),
  apiTool("delivery", "POST /{id}/cancel", {
    name: "cancel_delivery",
    description: "Cancel a pending delivery.",
    effect: "removes",
    idempotent: true,
    output: Delivery,
  }),
];

export const REQUEST_LOG_TOOLS: readonly Tool[] = [
  apiTool("request_log", "GET", {
    name: "list_request_logs",
    description: "List the API requests of the last 7 days, newest first, by method, path, status or key.",
    input: RequestLogListQuery,
    output: RequestLogList,
  }),
  apiTool("request_log", "GET /{id}", {
    name: "get_request_log",
    description: "Retrieve an API request with its headers, bodies and the events it caused.",
    output: RequestLogDetail,
  }),
];

export const CLOCK_TOOLS: readonly Tool[] = [
  apiTool("test_clock", "GET", {
    name: "get_test_clock",
    description: "Show the sandbox's time, its offset from real time, and the progress of an advance.",
    scope: "deliveries:read",
    output: TestClock,
  }),
  apiTool("test_clock", "POST /advance", {
    name: "advance_test_clock",
    description:
      "Advance the sandbox's time and attempt the deliveries that fall due. While the status in the response is " +
      "`advancing`, the advance is still in progress: call get_test_clock until it is not.",
    scope: "deliveries:write",
    effect: "removes",
    input: TestClockAdvance,
    output: TestClock,
  }),
  apiTool("test_clock", "POST /cancel", {
    name: "cancel_test_clock",
    description: "Stop an advance of the test clock before its target.",
    scope: "deliveries:write",
    idempotent: true,
    output: TestClock,
  }),
];
