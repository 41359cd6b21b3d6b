import type { Context } from "../context.ts";
import type { Profile } from "../settings/profiles.ts";

/** Revokes a profile's sessions at the platform. Warns and returns false if the platform could not be reached. */
export async function signOutProfile(context: Context, name: string, profile: Profile): Promise<boolean> {
  const { output } = context;
  const tokens = Object.values(profile.credentials).flatMap((stored) =>
    stored.type === "oauth" ? [stored.refresh_token] : [],
  );
  if (tokens.length === 0) return true;
  const { revokeTokens } = await import("./authorization-server.ts");
  const isRevoked = await output.spinner.during(`Waiting for ${profile.auth_url}`, () =>
    revokeTokens(context, profile.auth_url, tokens),
  );
  if (!isRevoked) {
    output.warn(
      `Could not revoke the session of profile ${name} at ${profile.auth_url}. It expires within 30 days; to revoke it now, open Team & access in the dashboard.`,
    );
  }
  return isRevoked;
}
