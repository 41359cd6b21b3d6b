import { setTimeout as delay } from "node:timers/promises";
import * as openid from "openid-client";
import type { Environment } from "../../contract/environments.ts";
import {
  DEVICE_CODE_GRANT,
  ENVIRONMENT_PARAMETER,
  oauthScopeName,
  type Scope,
  scopeOfOAuthName,
  SCOPES,
} from "../../contract/scopes.ts";
import { AuthorizationError, NetworkError } from "../errors.ts";
import { assertSameOrigin, authorizationErrorOf, type AuthorizationServer } from "./authorization-server.ts";

/** The scopes and the environment that the user is asked to allow. */
export interface AuthorizationParameters {
  scopes: readonly Scope[];
  environment: Environment;
}

/** A sign-in in progress; its secrets stay in this process. */
export type Authorization = Awaited<ReturnType<typeof beginAuthorization>>;

/** Begins the authorization code flow with PKCE (S256), with 256 bits of state and a new verifier. */
export async function beginAuthorization(
  { config }: AuthorizationServer,
  { scopes, environment, redirectUri }: AuthorizationParameters & { redirectUri: string },
) {
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: scopes.map(oauthScopeName).join(" "),
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    [ENVIRONMENT_PARAMETER]: environment,
  });
  return { url, state, verifier };
}

/**
 * Exchanges the code of a redirect for tokens, after comparing `state` and `iss` (RFC 9207). Rejects with
 * AuthorizationError: `access_denied` if the user denied it.
 */
export async function finishAuthorization(
  server: AuthorizationServer,
  { state, verifier }: Authorization,
  callback: URL,
): Promise<TokenSet> {
  const checks = { expectedState: state, pkceCodeVerifier: verifier };
  return readTokens(await explained(server, openid.authorizationCodeGrant(server.config, callback, checks)));
}

async function explained<Result>(
  { issuer, signal }: Pick<AuthorizationServer, "issuer" | "signal">,
  call: Promise<Result>,
): Promise<Result> {
  return await call.catch((error: unknown) => {
    throw authorizationErrorOf(error, issuer, signal);
  });
}

/** The tokens of a grant, from the token endpoint. */
export type TokenSet = ReturnType<typeof readTokens>;

/** Response of the token endpoint, validated by the protocol library. */
type TokenResponse = Pick<
  openid.TokenEndpointResponse,
  "access_token" | "refresh_token" | "token_type" | "expires_in" | "scope"
>;

/** Longer lifetimes are shortened to this one, so that the expiry time is a valid date. */
const MAX_LIFETIME_SECONDS = 365 * 86_400;
/** Characters that are valid in an Authorization header. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** Rotates a refresh token. Rejects with AuthorizationError `invalid_grant` if the session was revoked or has expired. */
export async function refreshTokens(server: AuthorizationServer, refreshToken: string): Promise<TokenSet> {
  return readTokens(await explained(server, openid.refreshTokenGrant(server.config, refreshToken)));
}

/** Revokes a token (RFC 7009); a refresh token revokes its whole grant. */
export async function revokeToken(server: AuthorizationServer, token: string): Promise<void> {
  await explained(server, openid.tokenRevocation(server.config, token));
}

/** Returns the tokens of a response. Throws AuthorizationError if a member is missing, which a later command would need. */
export function readTokens(response: TokenResponse) {
  const { access_token, refresh_token, token_type, expires_in, scope } = response;
  if (token_type.toLowerCase() !== "bearer") throw incomplete("has a token type other than Bearer");
  if (!TOKEN.test(access_token)) throw incomplete("has no valid access token");
  if (refresh_token === undefined || !TOKEN.test(refresh_token)) throw incomplete("has no valid refresh token");
  if (expires_in === undefined || !(expires_in > 0)) throw incomplete("has no valid expires_in");
  const names = scope?.split(" ").map(scopeOfOAuthName) ?? [];
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    /** In seconds from now. */
    expiresIn: Math.min(expires_in, MAX_LIFETIME_SECONDS),
    scopes: SCOPES.filter((known) => names.includes(known)),
  };
}

function incomplete(what: string): AuthorizationError {
  return new AuthorizationError("invalid_answer", `The response of the token endpoint ${what}`);
}

/** A sign-in that waits until the user enters its code on another device. */
export type DeviceAuthorization = Awaited<ReturnType<typeof beginDeviceAuthorization>>;

const MAX_SECONDS = 3600;
const SLOWER_SECONDS = 5;
const USER_CODE = /^[\x20-\x7e]{1,64}$/;

/** Requests a device and user code (RFC 8628). */
export async function beginDeviceAuthorization(
  server: AuthorizationServer,
  { scopes, environment }: AuthorizationParameters,
) {
  const { config, issuer } = server;
  const parameters = { scope: scopes.map(oauthScopeName).join(" "), [ENVIRONMENT_PARAMETER]: environment };
  const response = await explained(server, openid.initiateDeviceAuthorization(config, parameters));
  const { verification_uri, verification_uri_complete, user_code, expires_in } = response;
  assertSameOrigin(verification_uri, "verification_uri", issuer);
  if (verification_uri_complete !== undefined) {
    assertSameOrigin(verification_uri_complete, "verification_uri_complete", issuer);
  }
  if (!USER_CODE.test(user_code)) throw new AuthorizationError("invalid_answer", "The user code has an invalid format");
  return {
    userCode: user_code,
    verificationUri: verification_uri,
    verificationUriComplete: verification_uri_complete,
    /** Seconds. */
    expiresIn: Math.min(expires_in, MAX_SECONDS),
    response,
  };
}

/**
 * Polls until the user has decided: at the server's interval, 5 s slower after each `slow_down`, and half as often after
 * each network failure. Rejects with AuthorizationError `access_denied` or `expired_token`, or with the reason of
 * `until`.
 */
export async function pollDeviceAuthorization(
  { config, issuer, signal }: AuthorizationServer,
  { response, expiresIn }: DeviceAuthorization,
  until: AbortSignal,
): Promise<TokenSet> {
  const end = AbortSignal.any([signal, until, AbortSignal.timeout(expiresIn * 1000)]);
  const parameters = { device_code: response.device_code };
  // Timers of more than 2^31 ms fire immediately.
  let interval = Math.min(Math.max(1, response.interval ?? 5), MAX_SECONDS);
  for (;;) {
    await delay(interval * 1000, undefined, { signal: end }).catch(() => {
      if (signal.aborted) throw signal.reason;
      if (until.aborted) throw until.reason;
      throw new AuthorizationError("expired_token", "The code expired before it was entered");
    });
    try {
      return readTokens(await openid.genericGrantRequest(config, DEVICE_CODE_GRANT, parameters));
    } catch (error) {
      const failure = authorizationErrorOf(error, issuer, signal);
      if (failure instanceof AuthorizationError && failure.code === "authorization_pending") continue;
      if (failure instanceof AuthorizationError && failure.code === "slow_down") interval += SLOWER_SECONDS;
      else if (isPassing(failure)) interval *= 2;
      else throw failure;
    }
  }
}

/** Returns true if the same request may succeed later. */
export function isPassing(failure: unknown): boolean {
  return (failure instanceof NetworkError || failure instanceof AuthorizationError) && failure.passing;
}
