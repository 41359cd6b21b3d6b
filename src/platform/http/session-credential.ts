import type { IncomingMessage } from "node:http";
import { ENVIRONMENTS, type Environment } from "../../contract/environments.ts";
import { HEADERS } from "../../contract/headers.ts";
import { ApiError } from "../domain/api-error.ts";
import type { Queries } from "../storage/database.ts";
import { findSessionCaller } from "../storage/sessions.ts";
import type { Vault } from "../secrets/vault.ts";
import type { Caller } from "../domain/request-context.ts";
import { callerOfSession, sessionEnded } from "./credentials.ts";

/**
 * The tag keeps platforms on one host apart, since cookies are not bound to a port. Over https the prefix makes
 * browsers reject a cookie of this name that another host of the domain, or a plain http page, has set.
 */
export function sessionCookieName(vault: Vault, publicUrl: URL | undefined): string {
  const prefix = publicUrl?.protocol === "https:" ? "__Host-" : "";
  return `${prefix}service_session_${vault.tag("session-cookie").toString("hex").slice(0, 8)}`;
}

interface SessionTools {
  database: Queries;
  vault: Vault;
  /** Real time. */
  now: () => number;
  /** The public URL of the platform, if configured. */
  publicUrl: URL | undefined;
}

/**
 * Authenticates the session of one of the platform's own pages. Returns undefined if the request has none.
 *
 * Other sites can cause requests that carry the cookie, so it counts as a credential only with `Service-Environment`,
 * which a page of another site cannot send (no preflight grants that header), and only if the
 * browser says that the request came from this origin.
 */
export function createProveSession({ database, vault, now, publicUrl }: SessionTools) {
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
  return origin === publicUrl?.origin || (URL.canParse(origin) && new URL(origin).host === host);
}

function isEnvironment(text: string | string[]): text is Environment {
  return (ENVIRONMENTS as readonly unknown[]).includes(text);
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  const pair = header?.split(";").find((part) => part.trim().startsWith(`${name}=`));
  return pair?.trim().slice(name.length + 1);
}
