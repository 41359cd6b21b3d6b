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
    .description("Register a webhook endpoint; its signing secret is shown this once")
    .addOption(new Option("--url <url>", "Where deliveries go: https, to a public address").makeOptionMandatory())
    .addOption(
      eventsOption("Event types, separated by commas: 'order.*,customer.created', or '*'").makeOptionMandatory(),
    )
    .option("--description <text>", "What it is for");
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
      `The secret was not shown, and cannot be later. Make another: service endpoints rotate-secret ${created.id}`,
    );
  }
  output.note(
    `\nThe secret is shown this once: give it to your receiver now.\nTry the endpoint:\n  service endpoints ping ${created.id}`,
  );
}
