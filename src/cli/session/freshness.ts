import type { StoredTokens } from "../settings/profiles.ts";

/** Sooner than the end, so that no request is under way when it comes. */
const EARLY_MILLISECONDS = 60_000;

/** True where the access token should be renewed before it is sent. `now` is in Unix milliseconds. */
export function isDue({ expires_at }: StoredTokens, now: number): boolean {
  return !(Date.parse(expires_at) - now > EARLY_MILLISECONDS);
}

/** True where the platform would still take the access token. */
export function isAlive({ expires_at }: StoredTokens, now: number): boolean {
  return Date.parse(expires_at) > now;
}
