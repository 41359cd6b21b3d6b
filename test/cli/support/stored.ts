import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Tokens as stored in the settings file. */
export interface StoredTokens {
  type: string;
  access_token: string;
  refresh_token: string;
  expires_at: string;
}

interface StoredSettings {
  profiles: Record<string, { auth_url: string; base_url: string; credentials: Record<string, StoredTokens> }>;
}

/** Returns the path of a folder's settings file. */
export function readStored(dir: string): StoredSettings {
  return JSON.parse(readFileSync(join(dir, "config.json"), "utf8")) as StoredSettings;
}

/** Returns the sandbox tokens of the default profile. */
export function tokensIn(dir: string): StoredTokens {
  return readStored(dir).profiles["default"]!.credentials["sandbox"]!;
}

/** Edits the default profile. */
export function edit(dir: string, change: { authUrl?: string; tokens?: Partial<StoredTokens> }): void {
  const settings = readStored(dir);
  const profile = settings.profiles["default"]!;
  if (change.authUrl !== undefined) profile.auth_url = change.authUrl;
  Object.assign(profile.credentials["sandbox"]!, change.tokens);
  writeFileSync(join(dir, "config.json"), JSON.stringify(settings));
}

/** Makes the access token look expired. */
export function expire(dir: string): void {
  edit(dir, { tokens: { expires_at: "2020-01-01T00:00:00Z" } });
}
