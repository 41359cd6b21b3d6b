import * as openid from "openid-client";
import type { Environment } from "../../contract/environments.ts";
import { ENVIRONMENT_PARAMETER, oauthScopeName } from "../../contract/oauth.ts";
import type { Scope } from "../../contract/scopes.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import { authorizationErrorOf } from "./failures.ts";
import { readTokens, type TokenSet } from "./tokens.ts";

/** What a person is asked to allow. */
export interface Wish {
  scopes: readonly Scope[];
  environment: Environment;
}

/** A sign-in under way; what is in it stays in this process. */
export interface Authorization {
  /** Where the person allows it. */
  url: URL;
  state: string;
  verifier: string;
}

/** Begins the authorization code flow with PKCE S256 (platform specification 5.2): 256 bits of state, a new verifier. */
export async function beginAuthorization(
  { config }: AuthorizationServer,
  { scopes, environment, redirectUri }: Wish & { redirectUri: string },
): Promise<Authorization> {
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
 * Turns the redirect that came back into tokens, after `state` and `iss` (RFC 9207) were compared. Rejects with
 * AuthorizationError: `access_denied` where the person said no.
 */
export async function finishAuthorization(
  { config, issuer, signal }: AuthorizationServer,
  { state, verifier }: Authorization,
  callback: URL,
): Promise<TokenSet> {
  try {
    const checks = { expectedState: state, pkceCodeVerifier: verifier };
    return readTokens(await openid.authorizationCodeGrant(config, callback, checks));
  } catch (error) {
    throw authorizationErrorOf(error, issuer, signal);
  }
}
