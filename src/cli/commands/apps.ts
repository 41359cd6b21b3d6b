import type { Command } from "commander";
import { memberNamesOf } from "../../client/response-check.ts";
import type { OAuthApp } from "../../contract/schemas/oauth-app.ts";
import { objectId } from "../arguments/values.ts";
import type { Context } from "../context.ts";
import { addDryRun } from "../dry-run.ts";
import { addExamples, addFields } from "../help-layout.ts";
import type { Column } from "../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID } from "../resource/columns.ts";
import { registerCreate, registerUpdate } from "../resource/fields.ts";
import { locationOf, nounsFor, type Resource } from "../resource/resource.ts";
import { rejectQuiet, showSecret } from "../resource/show-secret.ts";
import { callVerb, confirmDestruction, registerDelete, registerGet, registerList } from "../resource/verbs.ts";

/** `service apps`. */
export function register(program: Command, context: Context): void {
  const apps = program
    .command("apps")
    .description("Manage OAuth apps, which act for users who authorize them. An app belongs to one environment.");
  addExamples(apps, [
    "service apps create --name Reports --redirect-uri https://reports.example.com/oauth/callback",
    "service apps list",
    `service apps rotate-secret ${APPS.exampleId}`,
  ]);
  registerCreate(apps, context, "oauth_app", APPS, {
    description: "Register an OAuth app and show its client secret, once",
    check: (flags) => {
      if (flags["public"] !== true) rejectQuiet(context, "oauth_app");
    },
    show: (app) => showSecret(context, "oauth_app", app, APPS.view),
    examples: [
      "service apps create --name Reports --redirect-uri https://reports.example.com/oauth/callback",
      "service apps create --name Desktop --redirect-uri http://127.0.0.1/callback --public",
    ],
  });
  registerList(apps, context, APPS, { filters: [], examples: ["service apps list", "service apps list --live"] });
  registerGet(apps, context, APPS);
  registerUpdate(apps, context, "oauth_app", APPS, {
    examples: [
      `service apps update ${APPS.exampleId} --name 'Monthly reports'`,
      `service apps update ${APPS.exampleId} --redirect-uri https://a.example.com/cb --redirect-uri https://b.example.com/cb`,
    ],
  });
  registerDelete(apps, context, APPS);
  registerRotateSecret(apps, context);
}

function registerRotateSecret(apps: Command, context: Context): void {
  const rotate = apps
    .command("rotate-secret")
    .description("Replace the client secret of an OAuth app; the old one stops working immediately")
    .argument("<id>", "ID of the app", objectId)
    .option("--yes", "Skip the confirmation in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      rejectQuiet(context, "oauth_app");
      await confirmDestruction(context, {
        id,
        consequence: `The client secret of ${id} will stop working immediately`,
        yes,
      });
      const app = await callVerb<OAuthApp>(context, APPS, { id, verb: "rotate_secret" });
      context.output.success(`Rotated the client secret of OAuth app ${id}`);
      await showSecret(context, "oauth_app", app, APPS.view);
    });
  addExamples(addDryRun(addFields(rotate, APPS.view)), [`service apps rotate-secret ${APPS.exampleId}`]);
}

const NAME: Column<OAuthApp> = { label: "Name", text: ({ name }) => name, shrinks: true };
const CLIENT_ID: Column<OAuthApp> = { label: "Client ID", text: ({ client_id }) => client_id };
const REDIRECTS: Column<OAuthApp> = {
  label: "Redirect URIs",
  text: ({ redirect_uris }) => redirect_uris.join(" "),
  shrinks: true,
};
const KIND: Column<OAuthApp> = {
  label: "Kind",
  text: (app) => (app.public ? "public" : "confidential"),
};

const APPS: Resource<OAuthApp> = {
  ...locationOf("oauth_app"),
  view: {
    ...nounsFor("oauth_app"),
    fields: memberNamesOf("OAuthApp"),
    columns: [ID, NAME, REDIRECTS, { ...KIND, optional: true }, CREATED],
    details: [ID, NAME, CLIENT_ID, REDIRECTS, KIND, ENVIRONMENT, CREATED_AT],
  },
};
