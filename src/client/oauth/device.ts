import { setTimeout as delay } from "node:timers/promises";
import * as openid from "openid-client";
import { DEVICE_CODE_GRANT, ENVIRONMENT_PARAMETER, oauthScopeName } from "../../contract/scopes.ts";
import { AuthorizationError, NetworkError } from "../errors.ts";
import { type TokenSet, type AuthorizationParameters, readTokens } from "./authorization.ts";
import { type AuthorizationServer, assertSameOrigin, authorizationErrorOf } from "./authorization-server.ts";

/** A sign-in that waits until the user enters its code on another device. */
export interface DeviceAuthorization {
  userCode: string;
  /** URL where the user enters the code. */
  verificationUri: string;
  /** The same URL with the code, if the server provides one. */
  verificationUriComplete: string | undefined;
  /** Seconds. */
  expiresIn: number;
  response: openid.DeviceAuthorizationResponse;
}

const MAX_SECONDS = 3600;
const SLOWER_SECONDS = 5;
const USER_CODE = /^[\x20-\x7e]{1,64}$/;

/** Requests a device and user code (RFC 8628). */
export async function beginDeviceAuthorization(
  { config, issuer, signal }: AuthorizationServer,
  { scopes, environment }: AuthorizationParameters,
): Promise<DeviceAuthorization> {
  let response: openid.DeviceAuthorizationResponse;
  try {
    response = await openid.initiateDeviceAuthorization(config, {
      scope: scopes.map(oauthScopeName).join(" "),
      [ENVIRONMENT_PARAMETER]: environment,
    });
  } catch (error) {
    throw authorizationErrorOf(error, issuer, signal);
  }
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

function isPassing(failure: Error): boolean {
  return (failure instanceof NetworkError || failure instanceof AuthorizationError) && failure.passing;
}
