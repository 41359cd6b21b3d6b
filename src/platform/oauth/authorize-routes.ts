import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { OAUTH_PATHS } from "../../contract/scopes.ts";
import { html } from "../pages/html.ts";
import { PageError, seeOther, sendPage } from "../pages/page.ts";
import { formOf } from "../pages/parameters.ts";
import { signInPage } from "../sign-in/views.ts";
import type { SignedIn, BrowserSession, BrowserSessions } from "../sign-in/browser-sessions.ts";
import { findEnvironmentNumber } from "../storage/accounts.ts";
import { insertCode } from "../storage/oauth-codes.ts";
import {
  redirectWith,
  type AuthorizationRequest,
  readAuthorizationRequest,
  AuthorizationError,
} from "./authorization-request.ts";
import { consentPage } from "./consent-view.ts";
import type { GrantTools } from "./tokens.ts";

const CODE_SECONDS = 60;

/** Serves the consent page. */
export function authorizeRoutes(
  scope: FastifyInstance,
  { database, vault, random, clock, baseUrl }: GrantTools & { baseUrl: () => string },
  browserSessions: BrowserSessions,
): void {
  scope.get(OAUTH_PATHS.authorize, (request, reply) =>
    handle(request, reply, async (asked, browser) => sendPage(reply, 200, consent(browser, asked, request.url))),
  );

  scope.post(OAUTH_PATHS.authorize, (request, reply) =>
    handle(request, reply, async (asked, browser) => {
      const result = await decide(asked, browser, formOf(request.body).get("decision"));
      const uri = redirectWith(asked.redirectUri, baseUrl(), { ...result, state: asked.state });
      return seeOther(reply, uri);
    }),
  );

  /** Both methods parse the same query, so the user's choice applies to what was shown. */
  const handle = async (
    request: FastifyRequest,
    reply: FastifyReply,
    act: (asked: AuthorizationRequest, browser: SignedIn) => Promise<FastifyReply>,
  ) => {
    const browser = await browserSessions.of(request, reply);
    if (request.method === "POST") browserSessions.assertCsrf(browser, formOf(request.body));
    const next = request.url;
    try {
      const asked = await readAuthorizationRequest(database, request.url);
      if (!isSignedIn(browser)) return await sendPage(reply, 200, signInPage(browser, { next }));
      return await act(asked, browser);
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error;
      const { redirectUri, state, code, message } = error;
      // Anyone who registers an app could otherwise use this address to send people to their own site (RFC 9700
      // 4.11.2).
      if (!isSignedIn(browser)) {
        const problem = `The app's request is invalid: ${message.replace(/\.$/, "")}. Sign in to return to the app.`;
        return sendPage(reply, 400, signInPage(browser, { next, problem }));
      }
      const parameters = { error: code, error_description: message, state };
      return seeOther(reply, redirectWith(redirectUri, baseUrl(), parameters));
    }
  };

  const decide = async (asked: AuthorizationRequest, { user }: SignedIn, decision: string | undefined) => {
    switch (decision) {
      case "approve":
        return { code: await newCode(asked, user.user_id, user.account_id) };
      case "deny":
        return { error: "access_denied", error_description: "The user denied access." };
      default:
        throw new PageError(400, "Allow or deny?", "The form contains no choice. Go back and choose one.");
    }
  };

  const newCode = async (asked: AuthorizationRequest, userId: string, accountId: string): Promise<string> => {
    const code = Buffer.from(random.bytes(32)).toString("base64url");
    const now = clock.now();
    await database.write(async (tx) =>
      insertCode(tx, {
        digest: vault.digest(code),
        app_id: asked.client.id,
        user_id: userId,
        environment: await findEnvironmentNumber(tx, accountId, asked.environment),
        scopes: JSON.stringify(asked.scopes),
        redirect_uri: asked.sentRedirectUri ?? null,
        challenge: asked.challenge,
        created: now,
        expires_at: now + CODE_SECONDS * 1000,
      }),
    );
    return code;
  };
}

function isSignedIn(browser: BrowserSession): browser is SignedIn {
  return browser.user !== undefined;
}

function consent(browser: SignedIn, asked: AuthorizationRequest, here: string) {
  const { origin, hostname } = new URL(asked.redirectUri);
  const isLocal = hostname === "127.0.0.1" || hostname === "[::1]" || hostname === "localhost";
  return consentPage(browser, {
    client: asked.client,
    scopes: asked.scopes,
    environment: asked.environment,
    here,
    outcome: isLocal
      ? html`You will be sent to an app on this computer.`
      : html`You will be sent to <strong>${origin}</strong>.`,
    // Browsers hold the redirect behind a form to this list, which has no spelling for IPv6 addresses.
    formTargets: [hostname.startsWith("[") ? "http:" : origin],
  });
}
