import type { Command } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import type { OAuthApp } from "../../../contract/schemas/oauth-app.ts";
import type { Context } from "../../context.ts";
import { addDryRun } from "../../dry-run.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { objectId } from "../../arguments/object-id.ts";
import { confirmDestruction } from "../resource/confirm-destruction.ts";
import { rejectQuiet, showSecret } from "../resource/show-secret.ts";
import { APPS, NEW_SECRET } from "./view.ts";

export function registerRotateSecret(apps: Command, context: Context): void {
  const rotate = apps
    .command("rotate-secret")
    .description("Replace the client secret of an OAuth app; the old one stops working immediately")
    .argument("<id>", "ID of the app", objectId)
    .option("--yes", "Skip the confirmation in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      rejectQuiet(context, NEW_SECRET);
      await confirmDestruction(context, {
        id,
        consequence: `The client secret of ${id} will stop working immediately`,
        yes,
      });
      const client = await context.client();
      const path = APPS.path + apiPath`/${id}/rotate_secret`;
      const { body: app } = await client.request<OAuthApp>({ method: "POST", path, body: {} });
      context.output.success(`Rotated the client secret of OAuth app ${id}`);
      await showSecret(context, app, APPS.view, NEW_SECRET);
    });
  addExamples(addDryRun(addFields(rotate, APPS.view)), [`service apps rotate-secret ${APPS.exampleId}`]);
}
