import { type Command, Option } from "commander";
import { collect, repeatable } from "../../arguments/repeated.ts";
import type { OAuthApp, OAuthAppCreate } from "../../../contract/schemas/oauth-app.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { addIdempotencyKey } from "../resource/idempotency-key.ts";
import { rejectQuiet, showSecret } from "../resource/show-secret.ts";
import { APPS, NEW_SECRET } from "./view.ts";

interface Flags {
  name: string;
  redirectUri: string[];
  public?: true;
  idempotencyKey?: string;
}

export function registerCreate(apps: Command, context: Context): void {
  const create = apps
    .command("create")
    .description("Register an OAuth app and show its client secret, once")
    .requiredOption("--name <text>", "Name shown on the consent page")
    .addOption(
      repeatable(
        new Option(
          "--redirect-uri <uri>",
          "Redirect URI, matched exactly except for the port of 127.0.0.1 (repeatable)",
        ),
        collect,
      ).makeOptionMandatory(),
    )
    .option("--public", "Public app without a client secret, for phones and browsers (PKCE only)");
  addIdempotencyKey(create).action((flags: Flags) => runCreate(flags, context));
  addExamples(addFields(create, APPS.view), [
    "service apps create --name Reports --redirect-uri https://reports.example.com/oauth/callback",
    "service apps create --name Desktop --redirect-uri http://127.0.0.1/callback --public",
  ]);
}

async function runCreate(flags: Flags, context: Context): Promise<void> {
  const { name, redirectUri, idempotencyKey } = flags;
  if (flags.public !== true) rejectQuiet(context, NEW_SECRET);
  const body: OAuthAppCreate = { name, redirect_uris: redirectUri, ...(flags.public === true ? { public: true } : {}) };
  const client = await context.client();
  const { body: created } = await client.request<OAuthApp>({ method: "POST", path: APPS.path, body, idempotencyKey });
  context.output.success(`Created OAuth app ${created.id}`);
  await showSecret(context, created, APPS.view, NEW_SECRET);
}
