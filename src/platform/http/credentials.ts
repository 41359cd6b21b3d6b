import type { ErrorCode } from "../../contract/errors.ts";
import { type Scope, SCOPES } from "../../contract/scopes.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { ApiError, CHALLENGE } from "../domain/api-error.ts";
import type { Caller } from "../domain/request-context.ts";
import { toTenant } from "../storage/accounts.ts";
import { findTokenOwner, type TokenOwner } from "../storage/oauth-grants.ts";
import { findKeyOwner, type KeyOwner } from "../storage/api-keys.ts";
import type { Queries } from "../storage/database.ts";
import { isSessionLive, type SessionCaller } from "../storage/sessions.ts";

const INVALID_TOKEN = { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` };

/** Returns a 401 for a credential that was sent. */
export function unauthorized(code: ErrorCode & `${string}_credential`, detail: string): ApiError {
  return new ApiError(code, detail, { headers: INVALID_TOKEN });
}

/** Throws ApiError if the key was revoked or has expired. Times are the environment's, `now` is real time. */
export function assertKeyUsable(key: KeyOwner, now: number): void {
  if (key.revoked_at !== null) {
    const why = key.revoked_reason === "revoked" ? "" : ` (${key.revoked_reason})`;
    const detail = `The key ${key.id} was revoked at ${formatTimestamp(key.revoked_at)}${why}.`;
    throw unauthorized("revoked_credential", detail);
  }
  if (key.expires_at !== null && key.expires_at <= now + key.clock_offset) {
    throw unauthorized("expired_credential", `The key ${key.id} expired at ${formatTimestamp(key.expires_at)}.`);
  }
}

/** Throws ApiError if the access token or its grant was revoked, or if it has expired. */
export function assertTokenUsable(token: TokenOwner, now: number): void {
  const revokedAt = token.revoked_at ?? token.grant_revoked_at;
  if (revokedAt !== null) {
    const detail = `The access token was revoked at ${formatTimestamp(revokedAt)}: sign in again.`;
    throw unauthorized("revoked_credential", detail);
  }
  if (token.expires_at <= now) {
    const detail = `The access token expired at ${formatTimestamp(token.expires_at)}: refresh it.`;
    throw unauthorized("expired_credential", detail);
  }
}

export function callerOfKey(key: KeyOwner): Caller {
  return {
    tenant: toTenant(key),
    credential: { kind: key.kind, id: key.id, prefix: key.prefix, last4: key.last4 },
    principal: key.id,
    user: null,
    scopes: JSON.parse(key.scopes) as Scope[],
    ipAllowlist: JSON.parse(key.ip_allowlist) as string[],
    expiresAt: key.expires_at,
    hasFaults: key.faults > 0,
  };
}

export function callerOfToken(token: TokenOwner): Caller {
  return {
    tenant: toTenant(token),
    credential: { kind: "access_token", id: token.id, prefix: token.prefix, last4: token.last4 },
    principal: `${token.grant_id} ${token.scopes}`,
    user: { id: token.user_id, email: token.user_email },
    scopes: JSON.parse(token.scopes) as Scope[],
    ipAllowlist: [],
    expiresAt: null,
    hasFaults: token.faults > 0,
  };
}

/** Returns why a previously authenticated credential may no longer be used, or undefined while it may. */
export async function credentialError(queries: Queries, { kind, id }: Caller["credential"], now: number) {
  try {
    if (kind === "session") return (await isSessionLive(queries, id, now)) ? undefined : sessionEnded();
    if (kind === "access_token") assertTokenUsable((await findTokenOwner(queries, id)) ?? gone(), now);
    else assertKeyUsable((await findKeyOwner(queries, id)) ?? gone(), now);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

export function sessionEnded(): ApiError {
  return unauthorized("revoked_credential", "The session has expired: sign in again.");
}

function gone(): never {
  throw unauthorized("revoked_credential", "The credential no longer exists.");
}

/** A signed-in user has all permissions of the account's keys. */
export function callerOfSession(session: SessionCaller): Caller {
  return {
    tenant: toTenant(session),
    credential: { kind: "session", id: session.id, prefix: "ses_", last4: session.id.slice(-4) },
    principal: session.user_id,
    user: { id: session.user_id, email: session.email },
    role: session.role,
    scopes: SCOPES,
    ipAllowlist: [],
    expiresAt: null,
    hasFaults: false,
  };
}
