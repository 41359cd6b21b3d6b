import type { IncomingMessage } from "node:http";
import { parseCredential } from "../../contract/credentials.ts";
import { type Environment, ENVIRONMENTS } from "../../contract/environments.ts";
import { HEADERS } from "../../contract/headers.ts";
import type { Scope } from "../../contract/scopes.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { holds, parseAddress } from "../../network/addresses.ts";
import { ApiError, CHALLENGE, insufficientScope } from "../domain/api-error.ts";
import { rangesOf } from "../domain/api-keys.ts";
import type { Caller } from "../domain/request-context.ts";
import type { With } from "../tools.ts";
import {
  assertKeyUsable,
  assertTokenUsable,
  callerOfKey,
  callerOfSession,
  callerOfToken,
  sessionEnded,
  unauthorized,
} from "./credentials.ts";
import type { KeyUsage } from "../security/key-usage.ts";
import type { Vault } from "../security/vault.ts";
import { findTokenByDigest } from "../storage/oauth-grants.ts";
import { findKeyByDigest } from "../storage/api-keys.ts";
import type { Queries } from "../storage/database.ts";
import { findSessionCaller } from "../storage/sessions.ts";

/**
 * Authenticates the caller by API key, access token, or the session of one of the platform's own pages. Throws
 * ApiError: 401, 403 if the key may not be used from the caller's address or the session by another site's page, 400
 * for more than one Authorization header, or 429 after many rejected ones. `identified` is called with the owner before
 * it is known whether the credential may be used: for the request log only.
 */
export type Authenticate = (request: IncomingMessage, identified: (caller: Caller) => void) => Promise<Caller>;

interface SessionTools extends With<"vault" | "publicUrl"> {
  database: Queries;
  /** Returns real time, not that of an environment. */
  now: () => number;
  usage: KeyUsage;
}

type AuthenticateTools = SessionTools & With<"clientAddress"> & Partial<With<"rateLimit">>;

export function createAuthenticate(tools: AuthenticateTools): Authenticate {
  const { database, vault, now, usage, clientAddress, rateLimit } = tools;
  type Identified = (caller: Caller) => void;
  const proveKey = async (secret: string, address: string | undefined, identified: Identified) => {
    const key = await findKeyByDigest(database, vault.digest(secret));
    if (key === undefined) {
      throw unauthorized("invalid_credential", "This platform has no API key with this value.");
    }
    const caller = callerOfKey(key);
    identified(caller);
    assertKeyUsable(key, now());
    assertAddress(caller, address);
    usage.note(key, now());
    return caller;
  };
  const proveToken = async (secret: string, identified: Identified) => {
    const token = await findTokenByDigest(database, vault.digest(secret));
    if (token === undefined) {
      throw unauthorized(
        "invalid_credential",
        "This platform has no such access token. It may have expired, or belong to another platform.",
      );
    }
    const caller = callerOfToken(token);
    identified(caller);
    assertTokenUsable(token, now());
    return caller;
  };
  const proveSession = createProveSession(tools);
  const prove: Authenticate = async (request, identified) => {
    const session = await proveSession(request, identified);
    if (session !== undefined) return session;
    const credential = bearerOf(request);
    switch (parseCredential(credential)?.kind) {
      case "secret_key":
      case "restricted_key":
        return proveKey(credential, clientAddress(request), identified);
      case "access_token":
        return proveToken(credential, identified);
      default:
        throw notACredential(credential);
    }
  };
  return async (request, identified) => {
    try {
      return await prove(request, identified);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        await rateLimit?.countRejection(request, clientAddress(request));
      }
      throw error;
    }
  };
}

/** Throws ApiError 403 if no user is signed in, or the user lacks the role. */
export function assertSession({ role }: Caller, requiredRole: "member" | "owner"): void {
  if (role === undefined) {
    throw new ApiError("session_required", "Requires a user who is signed in to the dashboard, not a key or token.");
  }
  if (requiredRole === "owner" && role !== "owner") {
    throw new ApiError("owner_required", "Ask an owner of the account to do this.");
  }
}

export function assertScope(caller: Pick<Caller, "scopes">, scope: Scope): void {
  if (caller.scopes.includes(scope)) return;
  throw insufficientScope(`Requires the scope ${scope}, which the credential does not have.`, [scope]);
}

function assertAddress({ ipAllowlist, credential }: Caller, peer: string | undefined): void {
  if (ipAllowlist.length === 0) return;
  const address = parseAddress(peer ?? "");
  if (address !== undefined && rangesOf(ipAllowlist).some((range) => holds(range, address))) return;
  throw new ApiError(
    "ip_not_allowed",
    `The key ${credential.id} may not be used from ${peer ?? "an unknown address"}.`,
    { headers: { "WWW-Authenticate": `${CHALLENGE}, error="insufficient_scope"` } },
  );
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
    throw unauthorized("invalid_credential", "The Authorization header must have the form: Bearer <key>.");
  }
  return token;
}

function notACredential(text: string): ApiError {
  const detail = /^(sk|rk)_(live|sandbox)_|^at_/.test(text)
    ? "The key is incomplete or mistyped."
    : "This is neither an API key (sk_…, rk_…) nor an access token (at_…).";
  return unauthorized("invalid_credential", detail);
}

/**
 * The tag keeps platforms on one host apart, since cookies are not bound to a port. Over https the prefix makes
 * browsers reject a cookie of this name that another host of the domain, or a plain http page, has set.
 */
export function sessionCookieName(vault: Vault, publicUrl: URL | undefined): string {
  const prefix = publicUrl?.protocol === "https:" ? "__Host-" : "";
  return `${prefix}service_session_${vault.tag("session-cookie").toString("hex").slice(0, 8)}`;
}

/**
 * Authenticates the session of one of the platform's own pages. Returns undefined if the request has none.
 *
 * Other sites can cause requests that carry the cookie, so it counts as a credential only with `Service-Environment`,
 * which a page of another site cannot send (no preflight grants that header), and only if the
 * browser says that the request came from this origin.
 */
function createProveSession({ database, vault, now, usage, publicUrl }: SessionTools) {
  const cookie = sessionCookieName(vault, publicUrl);
  return async (request: IncomingMessage, identified: (caller: Caller) => void): Promise<Caller | undefined> => {
    const { headers } = request;
    const environment = headers[HEADERS.environment.toLowerCase()];
    if (headers.authorization !== undefined || environment === undefined) return undefined;
    const token = cookieOf(headers.cookie, cookie);
    if (token === undefined) return undefined;
    if (!isEnvironment(environment)) {
      throw new ApiError("invalid_header", `${HEADERS.environment} must be one of ${ENVIRONMENTS.join(", ")}.`);
    }
    const session = await findSessionCaller(database, vault.digest(token), environment, now());
    if (session === undefined) throw sessionEnded();
    const caller = callerOfSession(session);
    // Periodic reads of open pages would fill the request log.
    if (request.method !== "GET") identified(caller);
    assertSameOrigin(request, publicUrl);
    usage.note(session, now());
    return caller;
  };
}

/** Browsers send the origin of a request. Without it, only reads are allowed. */
function assertSameOrigin({ method, headers }: IncomingMessage, publicUrl: URL | undefined): void {
  const site = headers["sec-fetch-site"];
  const { origin, host } = headers;
  const isOwn =
    (site === undefined || site === "same-origin") && (origin === undefined || isOrigin(origin, host, publicUrl));
  const isKnown = site !== undefined || origin !== undefined;
  if (isOwn && (isKnown || method === "GET")) return;
  throw new ApiError("cross_site_request", "Only the dashboard's own pages may use a session.");
}

/** A proxy may replace the Host header; the page's origin is then the public URL's. */
function isOrigin(origin: string, host: string | undefined, publicUrl: URL | undefined): boolean {
  return origin === publicUrl?.origin || (host !== undefined && parseUrl(origin)?.host === host);
}

function isEnvironment(text: string | string[]): text is Environment {
  return (ENVIRONMENTS as readonly unknown[]).includes(text);
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  const pair = header?.split(";").find((part) => part.trim().startsWith(`${name}=`));
  return pair?.trim().slice(name.length + 1);
}
