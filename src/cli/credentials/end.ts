import type { Context } from "../context.ts";
import type { Profile } from "../settings/profiles.ts";

/** Revokes a profile's sessions at the platform. Warns and returns false if the platform could not be reached. */
export async function signOutProfile(context: Context, name: string, profile: Profile): Promise<boolean> {
  const { output } = context;
  if (!Object.values(profile.credentials).some(({ type }) => type === "oauth")) return true;
  const { revokeSessions } = await import("./authorization-server.ts");
  const isRevoked = await output.spinner.during(`Waiting for ${profile.auth_url}`, () =>
    revokeSessions(context, profile),
  );
  if (!isRevoked) {
    output.warn(
      `Could not revoke the session of profile ${name} at ${profile.auth_url}. It expires within 30 days; to revoke it now, use the account page of the dashboard.`,
    );
  }
  return isRevoked;
}
