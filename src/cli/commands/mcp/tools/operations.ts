import { CLOCK_PATH } from "../../clock.ts";
import { apiTool, type Tool } from "../tool.ts";
import { Delivery, DeliveryList, DeliveryListQuery } from "../../../../contract/schemas/delivery.ts";
import { Event, EventList, EventListQuery, EventReplay, Replay } from "../../../../contract/schemas/event.ts";
import { closed, idOf } from "../../../../contract/schemas/fields.ts";
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

const EventId = idOf("event", { description: "ID of an event, evt_…" });

export const EVENT_TOOLS: readonly Tool[] = [
  apiTool({
    name: "list_events",
    description: "List events, newest first. `type` takes wildcards such as order.*; `related` is the ID of an object.",
    scope: "events:read",
    effect: "reads",
    method: "GET",
    path: "/v1/events",
    input: EventListQuery,
    output: EventList,
  }),
  apiTool({
    name: "get_event",
    description: "Retrieve an event: the exact JSON that was delivered.",
    scope: "events:read",
    effect: "reads",
    method: "GET",
    path: "/v1/events/{id}",
    input: closed({ id: EventId }),
    output: Event,
  }),
  apiTool({
    name: "replay_event",
    description: "Replay an event of the last 30 days to all subscribed endpoints, or to one of them.",
    scope: "events:write",
    effect: "changes",
    method: "POST",
    path: "/v1/events/{id}/replay",
    input: closed({ id: EventId, ...EventReplay.properties }),
    output: Replay,
  }),
];

const EndpointId = idOf("webhook_endpoint", { description: "ID of an endpoint, we_…" });
const ENDPOINTS = "/v1/webhook_endpoints";
const ENDPOINT = `${ENDPOINTS}/{id}`;

export const ENDPOINT_TOOLS: readonly Tool[] = [
  apiTool({
    name: "create_webhook_endpoint",
    description:
      "Create a webhook endpoint: a URL that gets a signed POST for each event of its types. The result has the signing secret, which is not shown again.",
    scope: "webhook_endpoints:write",
    effect: "changes",
    method: "POST",
    path: ENDPOINTS,
    input: WebhookEndpointCreate,
    output: WebhookEndpoint,
  }),
  apiTool({
    name: "list_webhook_endpoints",
    description: "List webhook endpoints, newest first, with their status.",
    scope: "webhook_endpoints:read",
    effect: "reads",
    method: "GET",
    path: ENDPOINTS,
    input: WebhookEndpointListQuery,
    output: WebhookEndpointList,
  }),
  apiTool({
    name: "get_webhook_endpoint",
    description: "Retrieve a webhook endpoint.",
    scope: "webhook_endpoints:read",
    effect: "reads",
    method: "GET",
    path: ENDPOINT,
    input: closed({ id: EndpointId }),
    output: WebhookEndpoint,
  }),
  apiTool({
    name: "update_webhook_endpoint",
    description: "Update a webhook endpoint, or enable or disable it.",
    scope: "webhook_endpoints:write",
    effect: "changes",
    idempotent: true,
    method: "PATCH",
    path: ENDPOINT,
    input: closed({ id: EndpointId, ...WebhookEndpointUpdate.properties }),
    output: WebhookEndpoint,
  }),
  apiTool({
    name: "delete_webhook_endpoint",
    description: "Delete a webhook endpoint and cancel its pending deliveries.",
    scope: "webhook_endpoints:write",
    effect: "removes",
    idempotent: true,
    method: "DELETE",
    path: ENDPOINT,
    input: closed({ id: EndpointId }),
    output: DeletedWebhookEndpoint,
  }),
  apiTool({
    name: "ping_webhook_endpoint",
    description: "Send a test event to one webhook endpoint. Returns the event; its delivery shows the response.",
    scope: "webhook_endpoints:write",
    effect: "changes",
    method: "POST",
    path: `${ENDPOINT}/ping`,
    input: closed({ id: EndpointId, ...EndpointPing.properties }),
    output: Event,
  }),
  apiTool({
    name: "rotate_webhook_secret",
    description: "Create a new signing secret for a webhook endpoint. Both secrets sign during the overlap.",
    scope: "webhook_endpoints:write",
    effect: "removes",
    method: "POST",
    path: `${ENDPOINT}/rotate_secret`,
    input: closed({ id: EndpointId, ...SecretRotate.properties }),
    output: WebhookEndpoint,
  }),
];

const DeliveryId = idOf("delivery", { description: "ID of a delivery, dlv_…" });

export const DELIVERY_TOOLS: readonly Tool[] = [
  apiTool({
    name: "list_deliveries",
    description: "List deliveries, newest first, by endpoint, event or status.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: "/v1/deliveries",
    input: DeliveryListQuery,
    output: DeliveryList,
  }),
  apiTool({
    name: "get_delivery",
    description: "Retrieve a delivery with its attempts and their responses.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: "/v1/deliveries/{id}",
    input: closed({ id: DeliveryId }),
    output: Delivery,
  }),
  apiTool({
    name: "retry_delivery",
    description: "Retry a delivery now.",
    scope: "deliveries:write",
    effect: "changes",
    method: "POST",
    path: "/v1/deliveries/{id}/retry",
    input: closed({ id: DeliveryId }),
    output: Delivery,
  }),
  apiTool({
    name: "cancel_delivery",
    description: "Cancel a pending delivery.",
    scope: "deliveries:write",
    effect: "removes",
    idempotent: true,
    method: "POST",
    path: "/v1/deliveries/{id}/cancel",
    input: closed({ id: DeliveryId }),
    output: Delivery,
  }),
];

const RequestId = idOf("request", { description: "ID of an API request, req_…" });

export const REQUEST_LOG_TOOLS: readonly Tool[] = [
  apiTool({
    name: "list_request_logs",
    description: "List the API requests of the last 7 days, newest first, by method, path, status or key.",
    scope: "request_logs:read",
    effect: "reads",
    method: "GET",
    path: "/v1/request_logs",
    input: RequestLogListQuery,
    output: RequestLogList,
  }),
  apiTool({
    name: "get_request_log",
    description: "Retrieve an API request with its headers, bodies and the events it caused.",
    scope: "request_logs:read",
    effect: "reads",
    method: "GET",
    path: "/v1/request_logs/{id}",
    input: closed({ id: RequestId }),
    output: RequestLogDetail,
  }),
];

export const CLOCK_TOOLS: readonly Tool[] = [
  apiTool({
    name: "get_test_clock",
    description: "Show the sandbox's time, its offset from real time, and the progress of an advance.",
    scope: "deliveries:read",
    effect: "reads",
    method: "GET",
    path: CLOCK_PATH,
    input: closed({}),
    output: TestClock,
  }),
  apiTool({
    name: "advance_test_clock",
    description:
      "Advance the sandbox's time and attempt the deliveries that fall due. While the status in the response is " +
      "`advancing`, the advance is still in progress: call get_test_clock until it is not.",
    scope: "deliveries:write",
    effect: "removes",
    method: "POST",
    path: `${CLOCK_PATH}/advance`,
    input: TestClockAdvance,
    output: TestClock,
  }),
  apiTool({
    name: "cancel_test_clock",
    description: "Stop an advance of the test clock before its target.",
    scope: "deliveries:write",
    effect: "changes",
    idempotent: true,
    method: "POST",
    path: `${CLOCK_PATH}/cancel`,
    input: closed({}),
    output: TestClock,
  }),
  apiTool({
    name: "reset_test_clock",
    description: "Return the sandbox to real time. Deliveries that are due stay due.",
    scope: "deliveries:write",
    effect: "changes",
    idempotent: true,
    method: "POST",
    path: `${CLOCK_PATH}/reset`,
    input: closed({}),
    output: TestClock,
  }),
];
