import type { IncomingMessage } from "node:http";
import { parseCredential } from "../../contract/credentials.ts";
import type { Scope } from "../../contract/scopes.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { ApiError } from "../domain/api-error.ts";
import { findKeyByDigest, type KeyOwner } from "../storage/api-keys.ts";
import type { Queries } from "../storage/database.ts";
import type { Vault } from "../vault.ts";
import type { Caller } from "./caller.ts";

const CHALLENGE = 'Bearer realm="service"';
const INVALID_TOKEN = { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` };

/** Proves who calls (platform specification 5.1). Throws ApiError: 401, or 400 for more than one Authorization header. */
export type Authenticate = (request: IncomingMessage) => Promise<Caller>;

export function createAuthenticate(queries: Queries, vault: Vault, now: () => number): Authenticate {
  return async (request) => {
    const credential = bearerOf(request);
    const parsed = parseCredential(credential);
    if (parsed === undefined || parsed.kind === "refresh_token") throw notACredential(credential);
    const key = await findKeyByDigest(queries, vault.digest(credential));
    if (key === undefined)
      throw refused("invalid_credential", "No such key is known here: was it made on this platform?");
    assertUsable(key, now());
    return toCaller(key);
  };
}

/** Throws ApiError 403 where the caller lacks the scope (platform specification 5.4). */
export function assertScope(caller: Caller, scope: Scope): void {
  if (caller.scopes.includes(scope)) return;
  throw new ApiError("insufficient_scope", `This needs the scope ${scope}, which the credential does not have.`, {
    members: { required_scope: scope },
    headers: { "WWW-Authenticate": `${CHALLENGE}, error="insufficient_scope", scope="${scope}"` },
  });
}

function bearerOf(request: IncomingMessage): string {
  const sent = request.headersDistinct["authorization"] ?? [];
  if (sent.length > 1) throw new ApiError("invalid_header", "Send exactly one Authorization header.");
  const value = sent[0]?.trim();
  if (value === undefined || value === "") {
    throw new ApiError("missing_credential", "Send an API key or access token as Authorization: Bearer <key>.", {
      headers: { "WWW-Authenticate": CHALLENGE },
    });
  }
  const [scheme, token, ...rest] = value.split(/ +/);
  if (scheme!.toLowerCase() !== "bearer" || token === undefined || rest.length > 0) {
    throw refused("invalid_credential", "The Authorization header must be: Bearer <key>.");
  }
  return token;
}

function notACredential(text: string): ApiError {
  const detail = /^(sk|rk)_(live|sandbox)_|^at_/.test(text)
    ? "This is not a complete key: it was mistyped or cut off."
    : "This is neither an API key (sk_…, rk_…) nor an access token (at_…).";
  return refused("invalid_credential", detail);
}

function assertUsable(key: KeyOwner, now: number): void {
  if (key.revoked_at !== null) {
    throw refused("revoked_credential", `The key ${key.id} was revoked at ${formatTimestamp(key.revoked_at)}.`);
  }
  if (key.expires_at !== null && key.expires_at <= now) {
    throw refused("expired_credential", `The key ${key.id} expired at ${formatTimestamp(key.expires_at)}.`);
  }
}

function refused(code: "invalid_credential" | "revoked_credential" | "expired_credential", detail: string): ApiError {
  return new ApiError(code, detail, { headers: INVALID_TOKEN });
}

function toCaller(key: KeyOwner): Caller {
  return {
    tenant: {
      environment: key.environment,
      name: key.environment_name,
      livemode: key.environment_name === "live",
      account: { id: key.account_id, name: key.account_name, version: key.account_version },
    },
    credential: { kind: key.kind, id: key.id, prefix: key.prefix, last4: key.last4 },
    user: null,
    scopes: JSON.parse(key.scopes) as Scope[],
  };
}
