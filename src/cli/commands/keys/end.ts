import type { Command } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import type { Context } from "../../context.ts";
import { addDryRun } from "../../dry-run.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { confirmDestruction } from "../resource/confirm-destruction.ts";
import { refuseQuiet, showSecret } from "../resource/show-secret.ts";
import { KEYS, NEW_KEY } from "./view.ts";

export function registerRevoke(keys: Command, context: Context): void {
  const revoke = keys
    .command("revoke")
    .description("End an API key at once and for good")
    .argument("<id>", "Id of the key", objectId)
    .option("--yes", "Do not ask in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      const { body: revoked } = await end(context, { id, verb: "revoke", yes });
      context.output.success(`Revoked API key ${id}`);
      await context.output.object(revoked, KEYS.view);
    });
  addExamples(addDryRun(addFields(revoke, KEYS.view)), [`service keys revoke ${KEYS.exampleId}`]);
}

export function registerRoll(keys: Command, context: Context): void {
  const roll = keys
    .command("roll")
    .description("Replace an API key by a new one that may do the same; the old one ends at once")
    .argument("<id>", "Id of the key", objectId)
    .option("--yes", "Do not ask in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      refuseQuiet(context, NEW_KEY);
      const { body: rolled } = await end(context, { id, verb: "roll", yes });
      context.output.success(`Revoked API key ${id}, and created ${rolled.id} in its place`);
      await showSecret(context, rolled, KEYS.view, NEW_KEY);
    });
  addExamples(addDryRun(addFields(roll, KEYS.view)), [
    `service keys roll ${KEYS.exampleId}`,
    `service keys roll ${KEYS.exampleId} --json --jq .key > key.txt`,
  ]);
}

/** Either way the key that is named ends now, and whatever still uses it stops working. */
async function end(
  context: Context,
  { id, verb, yes }: { id: string; verb: "revoke" | "roll"; yes: boolean | undefined },
) {
  await confirmDestruction(context, { id, consequence: `The API key ${id} will end at once`, yes });
  const client = await context.client();
  return await client.request<ApiKey>({ method: "POST", path: KEYS.path + apiPath`/${id}/${verb}`, body: {} });
}
