import { setTimeout as delay } from "node:timers/promises";
import * as openid from "openid-client";
import { DEVICE_CODE_GRANT, ENVIRONMENT_PARAMETER, oauthScopeName } from "../../contract/scopes.ts";
import { AuthorizationError, NetworkError } from "../errors.ts";
import { type TokenSet, type Wish, readTokens } from "./authorization.ts";
import { type AuthorizationServer, assertSameOrigin, authorizationErrorOf } from "./authorization-server.ts";

/** A sign-in that waits for somebody to type its code elsewhere. */
export interface DeviceAuthorization {
  userCode: string;
  /** Where the code is typed. */
  verificationUri: string;
  /** The same with the code in it, where the server offers that. */
  verificationUriComplete: string | undefined;
  /** Seconds. */
  expiresIn: number;
  answer: openid.DeviceAuthorizationResponse;
}

const MAX_SECONDS = 3600;
const SLOWER_SECONDS = 5;
const USER_CODE = /^[\x20-\x7e]{1,64}$/;

/** Asks for a code to type elsewhere (RFC 8628). */
export async function beginDeviceAuthorization(
  { config, issuer, signal }: AuthorizationServer,
  { scopes, environment }: Wish,
): Promise<DeviceAuthorization> {
  let answer: openid.DeviceAuthorizationResponse;
  try {
    answer = await openid.initiateDeviceAuthorization(config, {
      scope: scopes.map(oauthScopeName).join(" "),
      [ENVIRONMENT_PARAMETER]: environment,
    });
  } catch (error) {
    throw authorizationErrorOf(error, issuer, signal);
  }
  const { verification_uri, verification_uri_complete, user_code, expires_in } = answer;
  assertSameOrigin(verification_uri, "verification_uri", issuer);
  if (verification_uri_complete !== undefined) {
    assertSameOrigin(verification_uri_complete, "verification_uri_complete", issuer);
  }
  if (!USER_CODE.test(user_code)) throw new AuthorizationError("invalid_answer", "The code to type is not readable");
  return {
    userCode: user_code,
    verificationUri: verification_uri,
    verificationUriComplete: verification_uri_complete,
    expiresIn: Math.min(expires_in, MAX_SECONDS),
    answer,
  };
}

/**
 * Asks until the person has answered: never faster than the server wants, 5 s slower after each `slow_down`, twice as
 * slow after each failure of the network. Rejects with AuthorizationError `access_denied` or `expired_token`, and with
 * the reason of `until` at once.
 */
export async function pollDeviceAuthorization(
  { config, issuer, signal }: AuthorizationServer,
  { answer, expiresIn }: DeviceAuthorization,
  until: AbortSignal,
): Promise<TokenSet> {
  const end = AbortSignal.any([signal, until, AbortSignal.timeout(expiresIn * 1000)]);
  const parameters = { device_code: answer.device_code };
  // A timer of more than 2^31 ms fires at once.
  let interval = Math.min(Math.max(1, answer.interval ?? 5), MAX_SECONDS);
  for (;;) {
    await delay(interval * 1000, undefined, { signal: end }).catch(() => {
      if (signal.aborted) throw signal.reason;
      if (until.aborted) throw until.reason;
      throw new AuthorizationError("expired_token", "The code has expired before anybody typed it");
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

function isPassing(failure: Error): boolean {
  return (failure instanceof NetworkError || failure instanceof AuthorizationError) && failure.passing;
}
