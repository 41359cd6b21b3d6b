import { type Command, Option } from "commander";
import type { WebhookEndpoint, WebhookEndpointCreate } from "../../../contract/schemas/webhook-endpoint.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { addIdempotencyKey } from "../resource/idempotency-key.ts";
import { eventsOption } from "./subscriptions.ts";
import { ENDPOINT_WITH_SECRET, ENDPOINTS } from "./view.ts";

export function registerCreate(endpoints: Command, context: Context): void {
  const create = endpoints
    .command("create")
    .description("Create a webhook endpoint and show its signing secret, once")
    .addOption(new Option("--url <url>", "URL to deliver to: https, public address").makeOptionMandatory())
    .addOption(
      eventsOption("Event types, separated by commas: 'order.*,customer.created', or '*'").makeOptionMandatory(),
    )
    .option("--description <text>", "Description");
  addIdempotencyKey(create).action((flags: WebhookEndpointCreate & { idempotencyKey?: string }) =>
    runCreate(flags, context),
  );
  addExamples(addFields(create, ENDPOINTS.view), [
    "service endpoints create --url https://example.com/webhooks --events 'order.*,customer.created'",
    "secret=$(service endpoints create --url https://example.com/hooks --events '*' --json --jq .secret)",
  ]);
}

async function runCreate(
  { idempotencyKey, ...body }: WebhookEndpointCreate & { idempotencyKey?: string },
  context: Context,
): Promise<void> {
  const { output } = context;
  const client = await context.client();
  const { body: created } = await client.request<WebhookEndpoint>({
    method: "POST",
    path: ENDPOINTS.path,
    body,
    idempotencyKey,
  });
  output.success(`Created webhook endpoint ${created.id}`);
  await output.object(created, ENDPOINT_WITH_SECRET);
  if (output.quiet && !output.json) {
    return output.warn(
      `The secret was not shown and cannot be shown later. To create a new one: service endpoints rotate-secret ${created.id}`,
    );
  }
  output.note(
    `\nThe secret is shown only once: store it in your receiver now.\nTest the endpoint:\n  service endpoints ping ${created.id}`,
  );
}
