import * as openid from "openid-client";
import { type Scope, SCOPES } from "../../contract/scopes.ts";
import { scopeOfOAuthName } from "../../contract/oauth.ts";
import { AuthorizationError } from "../errors.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import { authorizationErrorOf } from "./failures.ts";

/** What a grant is worth, as the token endpoint gave it. */
export interface TokenSet {
  accessToken: string;
  refreshToken: string;
  /** Seconds from now. */
  expiresIn: number;
  scopes: Scope[];
}

/** What the token endpoint answers, as the protocol library has checked it. */
export type TokenAnswer = Pick<
  openid.TokenEndpointResponse,
  "access_token" | "refresh_token" | "token_type" | "expires_in" | "scope"
>;

/** A longer lifetime counts as this one: the time at which a token expires must be a date. */
const MAX_LIFETIME_SECONDS = 365 * 86_400;
/** What fits into an Authorization header. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** Rotates a refresh token. Rejects with AuthorizationError `invalid_grant` where the session has ended. */
export async function refreshTokens(server: AuthorizationServer, refreshToken: string): Promise<TokenSet> {
  try {
    return readTokens(await openid.refreshTokenGrant(server.config, refreshToken));
  } catch (error) {
    throw authorizationErrorOf(error, server.issuer, server.signal);
  }
}

/** Ends a token at the server (RFC 7009); a refresh token ends with its whole grant. */
export async function revokeToken(server: AuthorizationServer, token: string): Promise<void> {
  try {
    await openid.tokenRevocation(server.config, token);
  } catch (error) {
    throw authorizationErrorOf(error, server.issuer, server.signal);
  }
}

/** Takes an answer only if it is whole: what is missing now would be missed in the middle of some later command. */
export function readTokens(answer: TokenAnswer): TokenSet {
  const { access_token, refresh_token, token_type, expires_in, scope } = answer;
  if (token_type.toLowerCase() !== "bearer") throw incomplete("is for another kind of token than Bearer");
  if (!TOKEN.test(access_token)) throw incomplete("holds no usable access token");
  if (refresh_token === undefined || !TOKEN.test(refresh_token)) throw incomplete("holds no usable refresh token");
  if (expires_in === undefined || !(expires_in > 0)) throw incomplete("does not say how long the token lasts");
  const names = scope?.split(" ").map(scopeOfOAuthName) ?? [];
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    expiresIn: Math.min(expires_in, MAX_LIFETIME_SECONDS),
    scopes: SCOPES.filter((known) => names.includes(known)),
  };
}

function incomplete(what: string): AuthorizationError {
  return new AuthorizationError("invalid_answer", `The answer of the token endpoint ${what}`);
}
