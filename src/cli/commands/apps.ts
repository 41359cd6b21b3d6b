import { type Command, Option } from "commander";
import type { OAuthApp, OAuthAppCreate, OAuthAppUpdate } from "../../contract/schemas/oauth-app.ts";
import { collect, repeatable } from "../arguments/repeated.ts";
import { objectId } from "../arguments/values.ts";
import type { Context } from "../context.ts";
import { addDryRun } from "../dry-run.ts";
import { addExamples, addFields } from "../help-layout.ts";
import type { Column } from "../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID } from "./resource/columns.ts";
import { locationOf, nounsFor, type Resource } from "./resource/resource.ts";
import { rejectQuiet, type Secret, showSecret } from "./resource/show-secret.ts";
import {
  addIdempotencyKey,
  callVerb,
  confirmDestruction,
  registerDelete,
  registerGet,
  registerList,
  assertChanges,
  changeObject,
  createObject,
} from "./resource/verbs.ts";

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
  registerCreate(apps, context);
  registerList(apps, context, APPS, { filters: [], examples: ["service apps list", "service apps list --live"] });
  registerGet(apps, context, APPS);
  registerUpdate(apps, context);
  registerDelete(apps, context, APPS);
  registerRotateSecret(apps, context);
}

interface CreateFlags {
  name: string;
  redirectUri: string[];
  public?: true;
  idempotencyKey?: string;
}

function registerCreate(apps: Command, context: Context): void {
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
  addIdempotencyKey(create).action((flags: CreateFlags) => runCreate(flags, context));
  addExamples(addFields(create, APPS.view), [
    "service apps create --name Reports --redirect-uri https://reports.example.com/oauth/callback",
    "service apps create --name Desktop --redirect-uri http://127.0.0.1/callback --public",
  ]);
}

async function runCreate(flags: CreateFlags, context: Context): Promise<void> {
  const { name, redirectUri, idempotencyKey } = flags;
  if (flags.public !== true) rejectQuiet(context, NEW_SECRET);
  const body: OAuthAppCreate = { name, redirect_uris: redirectUri, ...(flags.public === true ? { public: true } : {}) };
  const created = await createObject(context, APPS, body, idempotencyKey);
  await showSecret(context, created, APPS.view, NEW_SECRET);
}

interface UpdateFlags {
  name?: string;
  redirectUri?: string[];
}

function registerUpdate(apps: Command, context: Context): void {
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
    .action((id: string, flags: UpdateFlags) => runUpdate(id, flags, context));
  addExamples(addDryRun(addFields(update, APPS.view)), [
    `service apps update ${APPS.exampleId} --name 'Monthly reports'`,
    `service apps update ${APPS.exampleId} --redirect-uri https://a.example.com/cb --redirect-uri https://b.example.com/cb`,
  ]);
}

async function runUpdate(id: string, { name, redirectUri }: UpdateFlags, context: Context): Promise<void> {
  const changes: OAuthAppUpdate = {
    ...(name === undefined ? {} : { name }),
    ...(redirectUri === undefined ? {} : { redirect_uris: redirectUri }),
  };
  assertChanges(changes, ["--name", "--redirect-uri"]);
  await changeObject(context, APPS, { id, changes });
}

function registerRotateSecret(apps: Command, context: Context): void {
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
      const app = await callVerb<OAuthApp>(context, APPS, { id, verb: "rotate_secret" });
      context.output.success(`Rotated the client secret of OAuth app ${id}`);
      await showSecret(context, app, APPS.view, NEW_SECRET);
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

/** Shown once, when it is created. */
const NEW_SECRET: Secret<OAuthApp> = { label: "client secret", member: "client_secret" };

const APPS: Resource<OAuthApp> = {
  ...locationOf("oauth_app"),
  view: {
    ...nounsFor("oauth_app"),
    fields: ["id", "object", "name", "client_id", "redirect_uris", "public", "created", "livemode", "client_secret"],
    columns: [ID, NAME, REDIRECTS, { ...KIND, optional: true }, CREATED],
    details: [ID, NAME, CLIENT_ID, REDIRECTS, KIND, ENVIRONMENT, CREATED_AT],
  },
};
