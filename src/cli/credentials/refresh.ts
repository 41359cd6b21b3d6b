import { join } from "node:path";
import type { RequestContext } from "../connect.ts";
import { NotSignedInError, UserError } from "../errors.ts";
import { explainAuthorization, openAuthorizationServer } from "./authorization-server.ts";
import { withLock } from "../settings/lock.ts";
import {
  isAlive,
  isDue,
  loginCommand,
  type Profile,
  profileNamed,
  type Settings,
  type StoredTokens,
  withProfile,
} from "../settings/profiles.ts";
import { readSettings, SettingsFileError } from "../settings/read.ts";
import { AuthorizationError } from "../../client/errors.ts";
import { isPassing, refreshTokens, type TokenSet } from "../../client/oauth/authorization.ts";
import type { Environment } from "../../contract/environments.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";

/** The part of a command's context that renewing a session uses. */
export interface RefreshContext extends RequestContext {
  readonly settingsDirectory: string;
  now(): number;
  sleep(milliseconds: number): Promise<void>;
  updateSettings(change: (settings: Settings) => Settings): Promise<Settings>;
}

/** Identifies the stored session. */
export interface CredentialName {
  profile: string;
  environment: Environment;
}

const MAX_ATTEMPTS = 3;
const PAUSE_MILLISECONDS = 400;

/**
 * Renews the tokens of a session, unless another process was faster: it reads the settings again under the lock, so
 * that a refresh token is sent once. `rejected` is an access token that the platform no longer accepts, whatever its
 * age. Throws NotSignedInError if the session was revoked. A failure of the network or the server changes nothing.
 * Import this module lazily.
 */
export async function refreshCredentials(
  context: RefreshContext,
  name: CredentialName,
  rejected: string | undefined,
): Promise<StoredTokens> {
  const directory = context.settingsDirectory;
  const file = join(directory, `session-${name.profile}-${name.environment}.lock`);
  try {
    return await withLock(file, () => refreshLocked(context, name, rejected), context.signal);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === "ELOCKED") {
      throw new UserError("Cannot renew the session: another process has been renewing it for a minute", {
        hint: `Wait for it, or end it. If there is none, delete ${file}.`,
        code: "session_busy",
        cause: error,
      });
    }
    if (syscall === undefined) throw error;
    throw new SettingsFileError(
      `Cannot renew the session: ${file} is not writable (${code})`,
      "Check the owner and free space of the folder, or set SERVICE_CONFIG_DIR to another folder.",
      error,
    );
  }
}

async function refreshLocked(
  context: RefreshContext,
  name: CredentialName,
  rejected: string | undefined,
): Promise<StoredTokens> {
  const { profile, stored } = storedCredentials(context, name);
  const isWanted = rejected === undefined ? isDue(stored, context.now()) : stored.access_token === rejected;
  if (!isWanted) return stored;
  // Detects a full disk now: the tokens are used up once they are sent.
  await context.updateSettings((settings) => settings);
  let tokens: TokenSet;
  try {
    tokens = await rotate(context, profile, stored);
  } catch (error) {
    if (isPassing(error) && rejected === undefined && isAlive(stored, context.now())) return stored;
    throw error instanceof AuthorizationError && error.code === "invalid_grant"
      ? ended(name, error)
      : explainAuthorization(error);
  }
  const renewed = storedTokens(tokens, context.now(), stored);
  await context.updateSettings((settings) => withTokens(settings, name, stored, renewed));
  return renewed;
}

/**
 * A refresh whose response was lost may be sent again: for half a minute, the server accepts the direct parent of an
 * unused token once more.
 */
async function rotate(context: RefreshContext, profile: Profile, stored: StoredTokens): Promise<TokenSet> {
  for (let attempts = 1; ; attempts++) {
    try {
      const server = await openAuthorizationServer(context, profile.auth_url);
      return await refreshTokens(server, stored.refresh_token);
    } catch (error) {
      if (!isPassing(error) || attempts === MAX_ATTEMPTS) throw error;
      await context.sleep(PAUSE_MILLISECONDS * attempts * (0.5 + context.random()));
    }
  }
}

export function storedTokens(tokens: TokenSet, now: number, before?: StoredTokens): StoredTokens {
  return {
    type: "oauth",
    access_token: tokens.accessToken,
    refresh_token: tokens.refreshToken,
    expires_at: formatTimestamp(now + tokens.expiresIn * 1000),
    scopes: tokens.scopes.length > 0 ? tokens.scopes : (before?.scopes ?? []),
  };
}

function storedCredentials(context: RefreshContext, name: CredentialName): { profile: Profile; stored: StoredTokens } {
  const profile = profileNamed(readSettings(context.settingsDirectory), name.profile);
  const stored = profile?.credentials[name.environment];
  if (profile !== undefined && stored?.type === "oauth") return { profile, stored };
  throw new NotSignedInError(
    `Profile "${name.profile}" was signed out by another process`,
    `Sign in again: ${loginCommand(name)}`,
  );
}

/** If the user signed out or in again meanwhile, that result stays. */
function withTokens(settings: Settings, name: CredentialName, before: StoredTokens, after: StoredTokens): Settings {
  const profile = profileNamed(settings, name.profile);
  const present = profile?.credentials[name.environment];
  if (profile === undefined || present?.type !== "oauth" || present.refresh_token !== before.refresh_token) {
    return settings;
  }
  const credentials = { ...profile.credentials, [name.environment]: after };
  return withProfile(settings, name.profile, { ...profile, credentials });
}

function ended(name: CredentialName, cause: AuthorizationError): NotSignedInError {
  const error = new NotSignedInError(
    `The session of profile "${name.profile}" has expired`,
    `Sign in again: ${loginCommand(name)}`,
  );
  error.cause = cause;
  return error;
}
