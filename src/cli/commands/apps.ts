import { memberNamesOf } from "../../client/response-check.ts";
import type { OAuthApp } from "../../contract/schemas/oauth-app.ts";
import type { CommandDefinition } from "../command.ts";
import type { Context } from "../context.ts";
import type { Column } from "../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, fieldColumns, ID } from "../resource/columns.ts";
import { createVerb, updateVerb } from "../resource/fields.ts";
import { resourceFor } from "../resource/resource.ts";
import { rejectQuiet, showSecret, withSecret } from "../resource/show-secret.ts";
import {
  callVerb,
  confirmDestruction,
  deleteVerb,
  getVerb,
  idOperand,
  listVerb,
  YES_IN_LIVE,
} from "../resource/verbs.ts";

const CLIENT_ID: Column<OAuthApp> = { label: "Client ID", text: ({ client_id }) => client_id };
const KIND: Column<OAuthApp> = { label: "Kind", text: (app) => (app.public ? "public" : "confidential") };

const { name: NAME, ...FIELDS } = fieldColumns<OAuthApp>("oauth_app", { public: KIND });

const APPS = resourceFor<OAuthApp>("oauth_app", {
  fields: memberNamesOf("OAuthApp"),
  columns: [ID, NAME!, { ...FIELDS["redirect_uris"]!, shrinks: true }, { ...KIND, optional: true }, CREATED],
  details: [ID, NAME!, CLIENT_ID, ...Object.values(FIELDS), ENVIRONMENT, CREATED_AT],
});

/** `service apps`. */
export const command: CommandDefinition = {
  name: "apps",
  about: "Manage OAuth apps, which act for users who authorize them. An app belongs to one environment.",
  examples: [
    "service apps create --name Reports --redirect-uri https://reports.example.com/oauth/callback",
    "service apps list",
    `service apps rotate-secret ${APPS.exampleId}`,
  ],
  commands: [
    createVerb("oauth_app", APPS, {
      about: "Register an OAuth app and show its client secret, once",
      check: (flags, context) => {
        if (flags["public"] !== true) rejectQuiet(context, "oauth_app");
      },
      show: (app, context) => showSecret(context, "oauth_app", app, APPS.view),
      examples: [
        "service apps create --name Reports --redirect-uri https://reports.example.com/oauth/callback",
        "service apps create --name Desktop --redirect-uri http://127.0.0.1/callback --public # For an app that cannot keep a secret",
      ],
    }),
    listVerb(APPS, { filters: [], examples: ["service apps list", "service apps list --live"] }),
    getVerb(APPS),
    updateVerb("oauth_app", APPS, {
      examples: [
        `service apps update ${APPS.exampleId} --name 'Monthly reports'`,
        `service apps update ${APPS.exampleId} --redirect-uri https://a.example.com/cb --redirect-uri https://b.example.com/cb`,
      ],
    }),
    deleteVerb(APPS),
    {
      name: "rotate-secret",
      about: "Replace the client secret of an OAuth app; the old one stops working immediately",
      args: [idOperand("app")],
      options: [YES_IN_LIVE],
      dryRun: true,
      fields: withSecret("oauth_app", APPS.view),
      examples: [`service apps rotate-secret ${APPS.exampleId}`],
      run: rotateSecret,
    },
  ],
};

async function rotateSecret(context: Context, id: string, { yes }: { yes?: true }): Promise<void> {
  rejectQuiet(context, "oauth_app");
  await confirmDestruction(context, {
    id,
    path: APPS.path,
    consequence: `The client secret of ${id} will stop working immediately`,
    yes,
  });
  const app = await callVerb<OAuthApp>(context, APPS, { id, verb: "rotate_secret" });
  context.output.success(`Rotated the client secret of OAuth app ${id}`);
  await showSecret(context, "oauth_app", app, APPS.view);
}
