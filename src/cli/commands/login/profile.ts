import { isSamePlatform } from "../../../network/connect-options.ts";
import type { Context } from "../../context.ts";
import { UserError } from "../../errors.ts";
import type { ConnectionTarget } from "../../settings/connection.ts";
import {
  type Profile,
  profileNamed,
  type Settings,
  type StoredCredential,
  withProfile,
} from "../../settings/profiles.ts";
import { identityView } from "../../resource/identity-view.ts";
import type { Identity } from "../../../contract/schemas/account.ts";

/** A key is shown once, so removing those of another platform implicitly could not be undone. */
export function assertSamePlatform(settings: Settings, { profile, baseUrl }: ConnectionTarget): void {
  const existing = profileNamed(settings, profile.value);
  if (existing === undefined || Object.keys(existing.credentials).length === 0) return;
  if (isSamePlatform(existing.base_url, baseUrl.value)) return;
  const flag = profile.value === "default" ? "" : ` --profile ${profile.value}`;
  throw new UserError(`Profile "${profile.value}" is signed in to ${existing.base_url}`, {
    hint: `To keep both, pass --profile NAME. Or sign out first: service logout${flag}`,
    code: "profile_in_use",
  });
}

/**
 * Stores the new credential. Another environment's credential of the same account stays; one of another account is
 * removed. Returns the profile with the removed credentials, whose sessions can be revoked.
 */
export async function storeSignIn(
  context: Context,
  { profile, baseUrl, authUrl }: ConnectionTarget,
  identity: Identity,
  credential: StoredCredential,
): Promise<Profile> {
  const now = { base_url: baseUrl.value, auth_url: authUrl.value, account: identity.account };
  let removed: Profile = { ...now, credentials: {} };
  await context.updateSettings((settings) => {
    const before = profileNamed(settings, profile.value) ?? removed;
    const { [identity.environment]: replaced, ...others } = before.credentials;
    const isSameAccount = before.account?.id === identity.account.id;
    removed = {
      ...before,
      credentials: {
        ...(isSameAccount ? {} : others),
        ...(replaced === undefined ? {} : { [identity.environment]: replaced }),
      },
    };
    const credentials = { ...(isSameAccount ? others : {}), [identity.environment]: credential };
    return withProfile(settings, profile.value, { ...before, ...now, credentials });
  });
  return removed;
}

export async function showSignIn(
  context: Context,
  { profile, baseUrl }: ConnectionTarget,
  identity: Identity,
): Promise<void> {
  const { output, env } = context;
  output.success(`Signed in to ${identity.account.name} (${identity.environment}) at ${baseUrl.value}`);
  const project = baseUrl.source === "project" ? (await context.project())?.keys : undefined;
  if (env["SERVICE_API_KEY"]) output.warn("SERVICE_API_KEY is set and overrides the stored credential.");
  else if (project !== undefined) output.warn(`In this folder, the API key in ${project.file} is used instead.`);
  await output.object(identity, identityView([["Profile", profile.value]]));
  const listen = `service listen --forward-to localhost:3000${profileFlag(profile, context)}`;
  if (!identity.livemode) output.note(`\nTo receive events:\n  ${listen}`);
}

/** Returns the flag that selects a profile, unless commands use it without one. */
export function profileFlag({ value }: ConnectionTarget["profile"], { settings }: Context): string {
  return value === settings.current_profile ? "" : ` --profile ${value}`;
}
