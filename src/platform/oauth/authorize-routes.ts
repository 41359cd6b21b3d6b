import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Environment } from "../../contract/environments.ts";
import { isLoopback } from "../../network/connect-options.ts";
import { OAUTH_PATHS, type Scope } from "../../contract/scopes.ts";
import { matchesRedirectUri } from "../domain/oauth-apps.ts";
import { html } from "../http/pages/html.ts";
import { PageError, seeOther, sendPage } from "../http/pages/page.ts";
import { formOf, ParameterError, type Parameters, queryOf } from "../http/pages/parameters.ts";
import { isSignedIn, type PageTools, type SignedIn } from "./browser-sessions.ts";
import { askToSignIn, consentPage } from "./views.ts";
import { findEnvironmentNumber } from "../storage/accounts.ts";
import type { Database } from "../storage/database.ts";
import type { ClientRow } from "../storage/oauth-apps.ts";
import { insertCode } from "../storage/oauth-grants.ts";
import { environmentFor, lookUpClient } from "./clients.ts";
import { OAuthError } from "./oauth-error.ts";
import { parseScopeNames } from "./scope-names.ts";

/** A validated authorization request of an app. */
interface AuthorizationRequest {
  client: ClientRow;
  redirectUri: string;
  /** The parameter as it was sent: the token request must repeat it. */
  sentRedirectUri: string | undefined;
  state: string;
  challenge: string;
  scopes: Scope[];
  environment: Environment;
}

/** An invalid request, reported to the app by redirect. */
class AuthorizationError extends OAuthError {
  override name = "AuthorizationError";
  readonly redirectUri: string;
  readonly state: string | undefined;

  constructor(redirectUri: string, state: string | undefined, { code, message }: OAuthError) {
    super(code, message);
    this.redirectUri = redirectUri;
    this.state = state;
  }
}

/**
 * Parses the query of `/oauth/authorize`. Throws PageError until the redirect URI is known to be valid,
 * AuthorizationError from then on.
 */
async function readAuthorizationRequest(database: Database, url: string): Promise<AuthorizationRequest> {
  const parameters = read(url);
  const client = await lookUpClient(database, parameters.get("client_id"));
  if (client === undefined) throw wrong("No app is registered with this client_id.");
  const redirectUri = redirectUriOf(client, parameters);
  const state = parameters.repeated.has("state") ? undefined : parameters.get("state");
  try {
    const [repeated] = parameters.repeated;
    if (repeated !== undefined) throw new OAuthError("invalid_request", `${repeated.slice(0, 60)} is repeated`);
    if (state === undefined) throw new OAuthError("invalid_request", "state is missing");
    return {
      client,
      redirectUri,
      sentRedirectUri: parameters.get("redirect_uri"),
      state,
      challenge: challengeOf(parameters),
      scopes: parseScopeNames(parameters.get("scope")),
      environment: environmentFor(client, parameters),
    };
  } catch (error) {
    throw error instanceof OAuthError ? new AuthorizationError(redirectUri, state, error) : error;
  }
}

/**
 * Returns the redirect that carries a response, with `iss` so that a client of several servers knows the issuer (RFC
 * 9207).
 */
function redirectWith(redirectUri: string, issuer: string, parameters: Record<string, string | undefined>): string {
  const pairs = Object.entries({ ...parameters, iss: issuer }).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${encodeURIComponent(value)}`,
  );
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}

function read(url: string): Parameters {
  try {
    const parameters = queryOf(url);
    if (!parameters.repeated.has("client_id") && !parameters.repeated.has("redirect_uri")) return parameters;
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    throw wrong(error.message);
  }
  throw wrong("A parameter is repeated.");
}

function redirectUriOf(client: ClientRow, parameters: Parameters): string {
  const registered = JSON.parse(client.redirect_uris) as string[];
  const authorization = parameters.get("redirect_uri");
  if (authorization === undefined) {
    const [only, ...others] = registered;
    if (only !== undefined && others.length === 0) return only;
    throw wrong("The app has several redirect URIs, so its request must contain redirect_uri.");
  }
  if (registered.some((uri) => matchesRedirectUri(uri, authorization))) return authorization;
  throw wrong("The redirect_uri of the app's request is not registered.");
}

function challengeOf(parameters: Parameters): string {
  const type = parameters.get("response_type");
  if (type === undefined) throw new OAuthError("invalid_request", "response_type is missing");
  if (type !== "code") throw new OAuthError("unsupported_response_type", "response_type must be code");
  if ((parameters.get("response_mode") ?? "query") !== "query") {
    throw new OAuthError("invalid_request", "response_mode must be query");
  }
  const challenge = parameters.get("code_challenge");
  if (challenge === undefined) throw new OAuthError("invalid_request", "code_challenge is missing: PKCE is required");
  if (parameters.get("code_challenge_method") !== "S256") {
    throw new OAuthError("invalid_request", "code_challenge_method must be S256");
  }
  if (!/^[\w-]{43}$/.test(challenge)) {
    throw new OAuthError("invalid_request", "code_challenge must be a SHA-256 digest in base64url: 43 characters");
  }
  return challenge;
}

function wrong(detail: string): PageError {
  return new PageError(400, "Invalid request", `${detail} For your safety, you were not redirected to the app.`);
}

const CODE_SECONDS = 60;

/** Serves the consent page. */
export function authorizeRoutes(scope: FastifyInstance, tools: PageTools): void {
  const { database, vault, random, clock, baseUrl, browserSessions } = tools;
  /** Both methods parse the same query, so the user's choice applies to what was shown. */
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    const isForm = request.method === "POST";
    const browser = isForm
      ? (await browserSessions.submitted(request, reply)).browser
      : await browserSessions.of(request, reply);
    const next = request.url;
    try {
      const authorization = await readAuthorizationRequest(database, request.url);
      if (!isSignedIn(browser)) return askToSignIn(reply, browserSessions, browser, next);
      if (!isForm) return sendPage(reply, 200, consent(browser, authorization, request.url));
      const result = await decide(authorization, browser, formOf(request.body).get("decision"));
      const { redirectUri, state } = authorization;
      return seeOther(reply, redirectWith(redirectUri, baseUrl(), { ...result, state }));
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error;
      const { redirectUri, state, code, message } = error;
      // Anyone who registers an app could otherwise use this address to send people to their own site (RFC 9700
      // 4.11.2).
      if (!isSignedIn(browser)) {
        const problem = `The app's request is invalid: ${message.replace(/\.$/, "")}. Sign in to return to the app.`;
        return askToSignIn(reply, browserSessions, browser, next, problem);
      }
      const parameters = { error: code, error_description: message, state };
      return seeOther(reply, redirectWith(redirectUri, baseUrl(), parameters));
    }
  };

  const decide = async (authorization: AuthorizationRequest, { user }: SignedIn, decision: string | undefined) => {
    if (decision === "deny") return { error: "access_denied", error_description: "The user denied access." };
    if (decision !== "approve") {
      throw new PageError(400, "Allow or deny?", "The form contains no choice. Go back and choose one.");
    }
    const code = Buffer.from(random.bytes(32)).toString("base64url");
    const now = clock.now();
    await database.write(async (tx) =>
      insertCode(tx, {
        digest: vault.digest(code),
        app_id: authorization.client.id,
        user_id: user.user_id,
        environment: await findEnvironmentNumber(tx, user.account_id, authorization.environment),
        scopes: JSON.stringify(authorization.scopes),
        redirect_uri: authorization.sentRedirectUri ?? null,
        challenge: authorization.challenge,
        created: now,
        expires_at: now + CODE_SECONDS * 1000,
      }),
    );
    return { code };
  };

  scope.get(OAUTH_PATHS.authorize, handle);
  scope.post(OAUTH_PATHS.authorize, handle);
}

function consent(browser: SignedIn, authorization: AuthorizationRequest, here: string) {
  const { origin, hostname } = new URL(authorization.redirectUri);
  return consentPage(browser, {
    client: authorization.client,
    scopes: authorization.scopes,
    environment: authorization.environment,
    here,
    outcome: isLoopback(hostname)
      ? html`You will be sent to an app on this computer.`
      : html`You will be sent to <strong>${origin}</strong>.`,
    // Browsers hold the redirect behind a form to this list, which has no spelling for IPv6 addresses.
    formTargets: [hostname.startsWith("[") ? "http:" : origin],
  });
}
