import type { Command } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { EVENTS } from "../events/view.ts";
import { addIdempotencyKey } from "../resource/idempotency-key.ts";
import { ENDPOINTS } from "./view.ts";

export function registerPing(endpoints: Command, context: Context): void {
  const ping = endpoints
    .command("ping")
    .description("Send a webhook_endpoint.ping event to this endpoint only")
    .argument("<id>", "ID of the webhook endpoint", objectId);
  addIdempotencyKey(ping).action(async (id: string, { idempotencyKey }: { idempotencyKey?: string }) => {
    const client = await context.client();
    const { body: event } = await client.request<Event>({
      method: "POST",
      path: ENDPOINTS.path + apiPath`/${id}/ping`,
      body: {},
      idempotencyKey,
    });
    context.output.success(`Sent ${event.type} ${event.id} to ${id}`);
    await context.output.object(event, EVENTS.view);
    context.output.note(`\nSee the response:\n  service deliveries list --event ${event.id}`);
  });
  addExamples(addFields(ping, EVENTS.view), [`service endpoints ping ${ENDPOINTS.exampleId}`]);
}
