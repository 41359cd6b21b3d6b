import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { addExamples } from "../../help-layout.ts";
import { registerDelete } from "../resource/delete.ts";
import { registerGet } from "../resource/get.ts";
import { registerList } from "../resource/list.ts";
import { registerCreate } from "./create.ts";
import { registerRotateSecret } from "./rotate-secret.ts";
import { registerUpdate } from "./update.ts";
import { APPS } from "./view.ts";

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
