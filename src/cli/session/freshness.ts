import type { StoredTokens } from "../settings/profiles.ts";

/** Before it expires, so that it does not expire while a request is in flight. */
const EARLY_MILLISECONDS = 60_000;

/** Returns true if the access token should be renewed before it is sent. `now` is in Unix milliseconds. */
export function isDue({ expires_at }: StoredTokens, now: number): boolean {
  return !(Date.parse(expires_at) - now > EARLY_MILLISECONDS);
}

/** Returns true if the platform would still accept the access token. */
export function isAlive({ expires_at }: StoredTokens, now: number): boolean {
  return Date.parse(expires_at) > now;
}
