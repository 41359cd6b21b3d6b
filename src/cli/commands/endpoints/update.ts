import type { Command } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import type { WebhookEndpoint, WebhookEndpointUpdate } from "../../../contract/schemas/webhook-endpoint.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addDryRun } from "../../dry-run.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { eventsOption } from "./subscriptions.ts";
import { ENDPOINTS } from "./view.ts";

interface Flags {
  url?: string;
  events?: string[];
  description?: string;
}

export function registerUpdate(endpoints: Command, context: Context): void {
  const update = endpoints
    .command("update")
    .description("Update a webhook endpoint; omitted fields keep their values")
    .argument("<id>", "ID of the webhook endpoint", objectId)
    .option("--url <url>", "New URL")
    .addOption(eventsOption("New event types; replace the existing ones"))
    .option("--description <text>", "New description; empty removes it")
    .action(async (id: string, flags: Flags) => {
      const changes = changesOf(flags);
      if (Object.keys(changes).length === 0) {
        throw new UsageError("No changes specified", {
          hint: "Pass at least one of --url, --events, --description.",
        });
      }
      await changeEndpoint(id, changes, "Updated", context);
    });
  addExamples(addDryRun(addFields(update, ENDPOINTS.view)), [
    `service endpoints update ${ENDPOINTS.exampleId} --events 'order.*,payment.*'`,
    `service endpoints update ${ENDPOINTS.exampleId} --url https://example.com/webhooks/v2`,
  ]);
}

/** `enable` and `disable`. */
export function registerStatusChanges(endpoints: Command, context: Context): void {
  const change = (name: string, status: WebhookEndpoint["status"], past: string, description: string): void => {
    const command = endpoints
      .command(name)
      .description(description)
      .argument("<id>", "ID of the webhook endpoint", objectId)
      .action((id: string) => changeEndpoint(id, { status }, past, context));
    addExamples(addDryRun(addFields(command, ENDPOINTS.view)), [`service endpoints ${name} ${ENDPOINTS.exampleId}`]);
  };
  change("enable", "enabled", "Enabled", "Enable a webhook endpoint and resume its pending deliveries");
  change("disable", "disabled", "Disabled", "Disable a webhook endpoint; pending deliveries are kept for 3 days");
}

async function changeEndpoint(
  id: string,
  changes: WebhookEndpointUpdate,
  past: string,
  context: Context,
): Promise<void> {
  const client = await context.client();
  const { body } = await client.request<WebhookEndpoint>({
    method: "PATCH",
    path: ENDPOINTS.path + apiPath`/${id}`,
    body: changes,
  });
  context.output.success(`${past} webhook endpoint ${id}`);
  await context.output.object(body, ENDPOINTS.view);
}

function changesOf({ url, events, description }: Flags): WebhookEndpointUpdate {
  return {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events }),
    ...(description === undefined ? {} : { description: description === "" ? null : description }),
  };
}
