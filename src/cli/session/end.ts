import type { Context } from "../context.ts";
import type { Profile } from "../settings/profiles.ts";

/** Tells the platform that a profile's sessions are over; warns and answers false where it could not be told. */
export async function endSessions(context: Context, name: string, profile: Profile): Promise<boolean> {
  const { output } = context;
  if (!Object.values(profile.credentials).some(({ type }) => type === "oauth")) return true;
  const { revokeSessions } = await import("./revoke.ts");
  const told = await output.spinner.during(`Waiting for ${profile.auth_url}`, revokeSessions(context, profile));
  if (!told) {
    output.warn(
      `${profile.auth_url} could not be told that the session of profile ${name} is over: there it ends by itself within 30 days, or at once on the account page.`,
    );
  }
  return told;
}
