import { isSamePlatform } from "../../network/connect-options.ts";
import { parseUrl } from "../../network/parse-url.ts";
import * as openid from "openid-client";
import { AuthorizationError, NetworkError } from "../errors.ts";
import type { ClientOptions } from "../http.ts";
import type { Transport } from "../transport.ts";

interface AuthorizationServerOptions extends Pick<ClientOptions, "userAgent" | "signal" | "onAttempt"> {
  /** `{auth_url}`, from `parseBaseUrl`: the issuer that the metadata must name. */
  issuer: URL;
  clientId: string;
  transport: Transport;
}

/** An OAuth server whose metadata was read and verified. */
export interface AuthorizationServer {
  readonly issuer: URL;
  readonly config: openid.Configuration;
  readonly signal: AbortSignal;
}

const TIME_LIMIT_SECONDS = 15;
const USED_ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "revocation_endpoint",
  "device_authorization_endpoint",
] as const;

/**
 * Reads the server's metadata (RFC 8414), at the address that it names if that is another name of the same port of this
 * machine. Rejects with NetworkError if there is no response and with AuthorizationError
 * if it is not metadata, names another issuer, or an endpoint of another origin: codes and tokens are for one origin.
 */
export async function discoverAuthorizationServer(
  options: AuthorizationServerOptions,
  isNamed = false,
): Promise<AuthorizationServer> {
  const { issuer, clientId, signal } = options;
  let config: openid.Configuration;
  try {
    config = await openid.discovery(issuer, clientId, undefined, openid.None(), {
      algorithm: "oauth2",
      timeout: TIME_LIMIT_SECONDS,
      [openid.customFetch]: fetchThrough(options, TIME_LIMIT_SECONDS),
      // `parseBaseUrl` has decided whether plain http is allowed.
      ...(issuer.protocol === "http:" ? { execute: [openid.allowInsecureRequests] } : {}),
    });
  } catch (error) {
    const own = issuerIn(error);
    if (!isNamed && own !== undefined && isSamePlatform(own, issuer.href)) {
      return await discoverAuthorizationServer({ ...options, issuer: new URL(own) }, true);
    }
    throw authorizationErrorOf(error, issuer, signal);
  }
  const metadata = config.serverMetadata();
  for (const name of USED_ENDPOINTS) assertSameOrigin(metadata[name], name, issuer);
  return { issuer, config, signal };
}

/** Throws AuthorizationError for a missing URL or one of another origin. */
export function assertSameOrigin(text: unknown, name: string, issuer: URL): void {
  const url = typeof text === "string" ? parseUrl(text) : undefined;
  if (url?.origin === issuer.origin && url.username === "" && url.password === "") return;
  const found = typeof text === "string" ? `is ${text.slice(0, 200)}` : "is missing";
  throw new AuthorizationError("untrusted_address", `The ${name} of ${issuer.host} ${found}`, {
    hint: "It must have the same origin as the authorization server. Check --auth-url.",
  });
}

/** Metadata, tokens and errors are far smaller. */
const MAX_BYTES = 1024 * 1024;
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * Sends the protocol library's requests over the same transport as all others, with the same proxies, certificate
 * authorities and time limits, and without following redirects. A 5xx response becomes an AuthorizationError that a later
 * attempt may not get.
 */
function fetchThrough(options: AuthorizationServerOptions, timeLimit: number): openid.CustomFetch {
  const { transport, userAgent, signal, onAttempt } = options;
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    const started = performance.now();
    const report = (outcome: string): void =>
      onAttempt?.({ method, url: url.origin + url.pathname, outcome, milliseconds: performance.now() - started });
    try {
      const response = await transport.send({
        method,
        url,
        headers: { ...headers, "User-Agent": userAgent },
        body: body instanceof URLSearchParams ? body.toString() : undefined,
        timeLimit,
        maxBytes: MAX_BYTES,
        signal,
      });
      report(String(response.status));
      if (response.status >= 500) {
        const message = `The authorization server ${url.host} returned ${response.status}`;
        const hint = "This is a problem of the server. Try again later.";
        throw new AuthorizationError("temporarily_unavailable", message, { hint, passing: true });
      }
      const entries = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
      return new Response(BODILESS.has(response.status) ? null : response.text, {
        status: response.status,
        headers: entries,
      });
    } catch (error) {
      report((error as Error).message);
      throw error;
    }
  };
}

const MAX_TEXT_LENGTH = 300;

/** Returns an error with the fix; the messages of the protocol library are too general. */
export function authorizationErrorOf(error: unknown, issuer: URL, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason as Error;
  const known = causesOf(error).find((cause) => cause instanceof AuthorizationError || cause instanceof NetworkError);
  if (known !== undefined) return known;
  const own = issuerIn(error);
  if (own !== undefined) {
    const shown = own.slice(0, 200);
    return new AuthorizationError("other_issuer", `The platform at ${issuer.host} signs users in at ${shown}`, {
      hint: `If you trust that address, pass --auth-url ${shown}`,
    });
  }
  if (error instanceof openid.ResponseBodyError || error instanceof openid.AuthorizationResponseError) {
    const description = error.error_description?.slice(0, MAX_TEXT_LENGTH);
    return new AuthorizationError(error.error, description ?? `The authorization server returned ${error.error}`);
  }
  const detail = causesOf(error).at(-1)?.message ?? String(error);
  return new AuthorizationError("invalid_answer", `The response of ${issuer.host} is not valid: ${detail}`, {
    hint: "Another server may have responded. Check --base-url and --auth-url.",
    cause: error,
  });
}

/** Returns the issuer in the metadata if it is not the requested one. */
function issuerIn(error: unknown): string | undefined {
  const cause = error instanceof openid.ClientError ? error.cause : undefined;
  if (typeof cause !== "object" || cause === null || !("attribute" in cause) || cause.attribute !== "issuer") return;
  const body = "body" in cause ? cause.body : undefined;
  if (typeof body !== "object" || body === null || !("issuer" in body)) return;
  return typeof body.issuer === "string" ? body.issuer : undefined;
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}
