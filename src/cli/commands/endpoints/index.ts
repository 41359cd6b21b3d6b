import type { Command } from "commander";
import { LIMITS } from "../../../contract/limits.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { registerDelete } from "../resource/delete.ts";
import { registerGet } from "../resource/get.ts";
import { registerList } from "../resource/list.ts";
import { registerCreate } from "./create.ts";
import { registerPing } from "./ping.ts";
import { registerRotateSecret } from "./rotate-secret.ts";
import { registerStatusChanges, registerUpdate } from "./update.ts";
import { ENDPOINTS, isSecretOld } from "./view.ts";

/** `service endpoints`. */
export function register(program: Command, context: Context): void {
  const endpoints = program
    .command("endpoints")
    .description("Manage webhook endpoints: the URLs that events are delivered to");
  addExamples(endpoints, [
    "service endpoints create --url https://example.com/webhooks --events 'order.*,customer.created'",
    `service endpoints ping ${ENDPOINTS.exampleId}`,
    `service endpoints rotate-secret ${ENDPOINTS.exampleId}`,
  ]);
  registerCreate(endpoints, context);
  registerList(endpoints, context, ENDPOINTS, {
    filters: [],
    examples: ["service endpoints list", "service endpoints list --json --jq '.[] | {id, url}'"],
    review: (listed) => warnAboutOldSecrets(listed, context),
  });
  registerGet(endpoints, context, ENDPOINTS);
  registerUpdate(endpoints, context);
  registerStatusChanges(endpoints, context);
  registerRotateSecret(endpoints, context);
  registerPing(endpoints, context);
  registerDelete(endpoints, context, ENDPOINTS);
}

function warnAboutOldSecrets(listed: readonly WebhookEndpoint[], context: Context): void {
  const { output } = context;
  if (output.json || output.quiet) return;
  const old = listed.filter((endpoint) => isSecretOld(endpoint, context.now()));
  if (old.length === 0) return;
  const whose = old.length === 1 ? `The secret of ${old[0]!.id} is` : `The secrets of ${old.length} endpoints are`;
  const which = old.length === 1 ? old[0]!.id : "<id>";
  output.warn(`${whose} older than ${LIMITS.secretAgeDays} days. To rotate: service endpoints rotate-secret ${which}`);
}
