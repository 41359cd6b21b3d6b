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
    .description("Change a webhook endpoint; what is not named stays as it is")
    .argument("<id>", "Id of the webhook endpoint", objectId)
    .option("--url <url>", "Where deliveries go from now on")
    .addOption(eventsOption("Event types that replace those it subscribes to"))
    .option("--description <text>", "What it is for; empty removes it")
    .action(async (id: string, flags: Flags) => {
      const changes = changesOf(flags);
      if (Object.keys(changes).length === 0) {
        throw new UsageError("Nothing to change was given", {
          hint: "Name at least one of --url, --events, --description.",
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
      .argument("<id>", "Id of the webhook endpoint", objectId)
      .action((id: string) => changeEndpoint(id, { status }, past, context));
    addExamples(addDryRun(addFields(command, ENDPOINTS.view)), [`service endpoints ${name} ${ENDPOINTS.exampleId}`]);
  };
  change("enable", "enabled", "Enabled", "Deliver to a disabled webhook endpoint again, what waits for it too");
  change("disable", "disabled", "Disabled", "Stop delivering to a webhook endpoint; what is pending waits for 3 days");
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
