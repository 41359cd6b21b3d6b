import type { Command } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import type { Context } from "../../context.ts";
import { addDryRun } from "../../dry-run.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { confirmDestruction } from "../resource/confirm-destruction.ts";
import { rejectQuiet, showSecret } from "../resource/show-secret.ts";
import { KEYS, NEW_KEY } from "./view.ts";

export function registerRevoke(keys: Command, context: Context): void {
  const revoke = keys
    .command("revoke")
    .description("Revoke an API key, effective immediately")
    .argument("<id>", "ID of the key", objectId)
    .option("--yes", "Skip the confirmation in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      const { body: revoked } = await postVerb(context, { id, verb: "revoke", yes });
      context.output.success(`Revoked API key ${id}`);
      await context.output.object(revoked, KEYS.view);
    });
  addExamples(addDryRun(addFields(revoke, KEYS.view)), [`service keys revoke ${KEYS.exampleId}`]);
}

export function registerRoll(keys: Command, context: Context): void {
  const roll = keys
    .command("roll")
    .description("Replace an API key with a new one of the same permissions; the old key is revoked")
    .argument("<id>", "ID of the key", objectId)
    .option("--yes", "Skip the confirmation in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      rejectQuiet(context, NEW_KEY);
      const { body: rolled } = await postVerb(context, { id, verb: "roll", yes });
      context.output.success(`Revoked API key ${id} and created ${rolled.id} in its place`);
      await showSecret(context, rolled, KEYS.view, NEW_KEY);
    });
  addExamples(addDryRun(addFields(roll, KEYS.view)), [
    `service keys roll ${KEYS.exampleId}`,
    `service keys roll ${KEYS.exampleId} --json --jq .key > key.txt`,
  ]);
}

/** Revokes the named key. */
async function postVerb(
  context: Context,
  { id, verb, yes }: { id: string; verb: "revoke" | "roll"; yes: boolean | undefined },
) {
  await confirmDestruction(context, { id, consequence: `The API key ${id} will stop working immediately`, yes });
  const client = await context.client();
  return await client.request<ApiKey>({ method: "POST", path: KEYS.path + apiPath`/${id}/${verb}`, body: {} });
}
