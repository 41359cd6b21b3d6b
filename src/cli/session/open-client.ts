import type { Client } from "../../client/http.ts";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { type Connection, resolveConnection } from "../settings/connection.ts";
import { profileNamed } from "../settings/profiles.ts";

/** Where this command speaks to and as whom. Throws UserError for a profile that was named and does not exist. */
export async function openConnection(context: Context): Promise<Connection> {
  const { settings, globals, env } = context;
  const keyFromStdin = globals.apiKeyStdin ? await context.readApiKey() : undefined;
  const connection = resolveConnection({ flags: globals, env, settings, keyFromStdin });
  const { profile } = connection;
  if (profile.source !== "default" && profileNamed(settings, profile.value) === undefined) {
    const names = Object.keys(settings.profiles);
    throw new UserError(`Profile "${profile.value}" (from ${profile.name}) does not exist`, {
      hint: `${names.length === 0 ? "No profiles are stored yet." : `Profiles: ${names.join(", ")}.`} To create it: service login --profile ${profile.value}`,
      code: "no_profile",
    });
  }
  return connection;
}

/** The client for the connection. Throws NotSignedInError where there is no credential. */
export async function openClient(context: Context): Promise<Client> {
  const connection = await context.connection();
  return await context.clientFor(connection.baseUrl.value, context.credentialsOf(connection));
}
