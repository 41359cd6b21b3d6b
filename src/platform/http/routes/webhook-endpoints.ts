import type { EventType } from "../../../contract/event-types.ts";
import {
  DeletedWebhookEndpoint,
  EndpointPing,
  SecretRotate,
  WebhookEndpoint,
  WebhookEndpointCreate,
  WebhookEndpointList,
  WebhookEndpointListQuery,
  WebhookEndpointUpdate,
} from "../../../contract/schemas/webhook-endpoint.ts";
import { Event } from "../../../contract/schemas/event.ts";
import {
  changeEndpoint,
  createEndpoint,
  type EndpointTools,
  getEndpoint,
  pageOfEndpoints,
  pingEndpoint,
  removeEndpoint,
  rotateSecret,
} from "../../domain/webhook-endpoints.ts";
import { sampleObject } from "../openapi/examples.ts";
import { sendList, asJson } from "../pagination.ts";
import { type Operation, RawJson, readOperation, writeOperation } from "../operation.ts";

const PING: EventType = "webhook_endpoint.ping";

export function webhookEndpointOperations(tools: EndpointTools): Operation[] {
  return [
    writeOperation({
      name: "createWebhookEndpoint",
      summary: "Create a webhook endpoint; only this response shows its secret",
      method: "POST",
      path: "/v1/webhook_endpoints",
      scope: "webhook_endpoints:write",
      body: WebhookEndpointCreate,
      errors: ["endpoint_limit"],
      response: { status: 201, schema: WebhookEndpoint },
      write: ({ body }, tx, context) => createEndpoint(tx, context, body, tools),
    }),
    readOperation({
      name: "listWebhookEndpoints",
      summary: "List webhook endpoints, newest first",
      method: "GET",
      path: "/v1/webhook_endpoints",
      scope: "webhook_endpoints:read",
      query: WebhookEndpointListQuery,
      response: { status: 200, schema: WebhookEndpointList },
      read: (call, queries) =>
        sendList(
          tools.vault,
          "webhook_endpoint",
          call,
          (page) => pageOfEndpoints(queries, call.caller.tenant, page),
          asJson(WebhookEndpoint),
        ),
    }),
    readOperation({
      name: "getWebhookEndpoint",
      summary: "Retrieve a webhook endpoint",
      method: "GET",
      path: "/v1/webhook_endpoints/{id}",
      scope: "webhook_endpoints:read",
      response: { status: 200, schema: WebhookEndpoint },
      read: ({ caller, id }, queries) => getEndpoint(queries, caller.tenant, id),
    }),
    writeOperation({
      name: "updateWebhookEndpoint",
      summary: "Update, enable or disable a webhook endpoint",
      method: "PATCH",
      path: "/v1/webhook_endpoints/{id}",
      scope: "webhook_endpoints:write",
      body: WebhookEndpointUpdate,
      response: { status: 200, schema: WebhookEndpoint },
      write: ({ id, body }, tx, context) => changeEndpoint(tx, context, id, body, tools),
    }),
    writeOperation({
      name: "deleteWebhookEndpoint",
      summary: "Delete a webhook endpoint; its pending deliveries are canceled",
      method: "DELETE",
      path: "/v1/webhook_endpoints/{id}",
      scope: "webhook_endpoints:write",
      response: { status: 200, schema: DeletedWebhookEndpoint },
      write: ({ id }, tx, context) => removeEndpoint(tx, context, id),
    }),
    writeOperation({
      name: "rotateWebhookEndpointSecret",
      summary: "Rotate the secret of a webhook endpoint; only this response shows the new one",
      method: "POST",
      path: "/v1/webhook_endpoints/{id}/rotate_secret",
      scope: "webhook_endpoints:write",
      body: SecretRotate,
      response: { status: 200, schema: WebhookEndpoint },
      write: ({ id, body }, tx, context) => rotateSecret(tx, context, id, body, tools),
    }),
    writeOperation({
      name: "pingWebhookEndpoint",
      summary: "Send a webhook_endpoint.ping event, or a sample of another type, to this endpoint only",
      method: "POST",
      path: "/v1/webhook_endpoints/{id}/ping",
      scope: "webhook_endpoints:write",
      body: EndpointPing,
      errors: ["endpoint_disabled", "sandbox_only"],
      response: { status: 201, schema: Event },
      write: async ({ id, body }, tx, context) => {
        const type = (body.type ?? PING) as EventType;
        const sample = type === PING ? undefined : { type, object: sampleObject(type) };
        return new RawJson((await pingEndpoint(tx, context, id, sample)).body);
      },
    }),
  ];
}
