import { identityView } from "../resource/identity-view.ts";
import type { CommandDefinition } from "../command.ts";
import type { Context } from "../context.ts";
import type { Identity } from "../../contract/schemas/account.ts";

/** `service whoami`. */
export const command: CommandDefinition = {
  name: "whoami",
  about: "Show the current account, environment and profile, and the source of each setting",
  examples: ["service whoami", "service whoami --json --jq .account.id ", "service whoami --live"],
  fields: identityView(["Profile", "Base URL", "Key source", "Signed in"].map((label) => [label, ""])),
  run: runWhoami,
};

async function runWhoami(given: Context): Promise<void> {
  const context = await given.whereSignedIn();
  if (context.globals.live && !given.globals.live) {
    context.output.notice("The profile is signed in to live mode only: other commands need --live with it.");
  }
  const { profile, baseUrl, credential } = await context.connection();
  const identity = await context.request<Identity>({ method: "GET", path: "/v1/me" });
  const cli = {
    profile: profile.value,
    profile_source: profile.name,
    base_url: baseUrl.value,
    base_url_source: baseUrl.name,
    credential_source: credential?.name ?? "",
    credential_type: credential?.value.type ?? "",
  };
  // In a pipe, a value can be used as it is.
  const from = (value: string, source: string) => (context.output.terminal ? `${value} (from ${source})` : value);
  const view = identityView([
    ["Profile", profile.source === "default" ? cli.profile : from(cli.profile, cli.profile_source)],
    ["Base URL", from(cli.base_url, cli.base_url_source)],
    cli.credential_type === "oauth"
      ? ["Signed in", `in a browser, ${cli.credential_source}`]
      : ["Key source", cli.credential_source],
  ]);
  const shown: Identity & { cli: typeof cli } = { ...identity, cli };
  // A credential has no ID of its own: `--quiet` prints the account's.
  if (context.output.quiet && !context.output.json) return context.output.line(identity.account.id);
  await context.output.object(shown, view);
}
