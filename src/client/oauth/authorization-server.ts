import * as openid from "openid-client";
import { AuthorizationError } from "../errors.ts";
import type { Transport } from "../transport.ts";
import { authorizationErrorOf } from "./failures.ts";
import { fetchThrough } from "./fetch.ts";

export interface AuthorizationServerOptions {
  /** `{auth_url}`, from `parseBaseUrl`: the name that the server must give itself. */
  issuer: URL;
  clientId: string;
  transport: Transport;
  userAgent: string;
  /** Aborts whatever is under way, with its reason. */
  signal: AbortSignal;
  /** Told of each request; never given a query, a body or a credential. */
  onAttempt?: (attempt: { method: string; url: string; outcome: string; milliseconds: number }) => void;
}

/** An OAuth server whose metadata was read and believed. */
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
 * Reads the server's metadata (RFC 8414). Rejects with NetworkError where nothing answers and with AuthorizationError
 * where the answer is no metadata, is another server's, or leads elsewhere: codes and tokens are for one origin.
 */
export async function discoverAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const { issuer, clientId, signal } = options;
  let config: openid.Configuration;
  try {
    config = await openid.discovery(issuer, clientId, undefined, openid.None(), {
      algorithm: "oauth2",
      timeout: TIME_LIMIT_SECONDS,
      [openid.customFetch]: fetchThrough(options, TIME_LIMIT_SECONDS),
      // Whether plain http is acceptable was decided when the address was parsed.
      ...(issuer.protocol === "http:" ? { execute: [openid.allowInsecureRequests] } : {}),
    });
  } catch (error) {
    throw authorizationErrorOf(error, issuer, signal);
  }
  const metadata = config.serverMetadata();
  for (const name of USED_ENDPOINTS) assertSameOrigin(metadata[name], name, issuer);
  return { issuer, config, signal };
}

/** Throws AuthorizationError for an address that does not belong to the server, and for none at all. */
export function assertSameOrigin(text: unknown, name: string, issuer: URL): void {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.origin === issuer.origin && url.username === "" && url.password === "") return;
  const found = typeof text === "string" ? `leads to ${text.slice(0, 200)}` : "is missing";
  throw new AuthorizationError("untrusted_address", `The ${name} of ${issuer.host} ${found}`, {
    hint: "It must lie on the authorization server itself. Check --auth-url.",
  });
}
