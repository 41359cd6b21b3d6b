import type { EventType } from "../../../contract/event-types.ts";
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
import { RawJson } from "../../http/call.ts";
import type { Handlers } from "../operation.ts";
import { sendList } from "../../http/pagination.ts";

const PING: EventType = "webhook_endpoint.ping";

export function webhookEndpointHandlers(tools: EndpointTools): Handlers<"webhook_endpoints"> {
  return {
    createWebhookEndpoint: ({ body }, tx, context) => createEndpoint(tx, context, body, tools),
    listWebhookEndpoints: (call, queries) =>
      sendList(tools.vault, "webhook_endpoint", call, (page) => pageOfEndpoints(queries, call.caller.tenant, page)),
    getWebhookEndpoint: ({ caller, id }, queries) => getEndpoint(queries, caller.tenant, id),
    updateWebhookEndpoint: ({ id, body }, tx, context) => changeEndpoint(tx, context, id, body, tools),
    deleteWebhookEndpoint: ({ id }, tx, context) => removeEndpoint(tx, context, id),
    rotateWebhookEndpointSecret: ({ id, body }, tx, context) => rotateSecret(tx, context, id, body, tools),
    pingWebhookEndpoint: async ({ id, body }, tx, context) => {
      const type = (body.type ?? PING) as EventType;
      const sample = type === PING ? undefined : { type, object: sampleObject(type) };
      return new RawJson((await pingEndpoint(tx, context, id, sample)).body);
    },
  };
}
