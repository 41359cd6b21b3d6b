import { type Command, Option } from "commander";
import { collect, repeatable } from "../../arguments/repeated.ts";
import { apiPath } from "../../../client/base-url.ts";
import type { OAuthApp, OAuthAppUpdate } from "../../../contract/schemas/oauth-app.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addDryRun } from "../../dry-run.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { APPS } from "./view.ts";

interface Flags {
  name?: string;
  redirectUri?: string[];
}

export function registerUpdate(apps: Command, context: Context): void {
  const update = apps
    .command("update")
    .description("Update an OAuth app; omitted fields keep their values")
    .argument("<id>", "ID of the app", objectId)
    .option("--name <text>", "New name")
    .addOption(
      repeatable(
        new Option("--redirect-uri <uri>", "New redirect URI; replaces all existing ones (repeatable)"),
        collect,
      ),
    )
    .action((id: string, flags: Flags) => runUpdate(id, flags, context));
  addExamples(addDryRun(addFields(update, APPS.view)), [
    `service apps update ${APPS.exampleId} --name 'Monthly reports'`,
    `service apps update ${APPS.exampleId} --redirect-uri https://a.example.com/cb --redirect-uri https://b.example.com/cb`,
  ]);
}

async function runUpdate(id: string, { name, redirectUri }: Flags, context: Context): Promise<void> {
  const body: OAuthAppUpdate = {
    ...(name === undefined ? {} : { name }),
    ...(redirectUri === undefined ? {} : { redirect_uris: redirectUri }),
  };
  if (Object.keys(body).length === 0) {
    throw new UsageError("No changes specified", { hint: "Pass at least one of --name, --redirect-uri." });
  }
  const client = await context.client();
  const path = APPS.path + apiPath`/${id}`;
  const { body: updated } = await client.request<OAuthApp>({ method: "PATCH", path, body });
  context.output.success(`Updated OAuth app ${id}`);
  await context.output.object(updated, APPS.view);
}
