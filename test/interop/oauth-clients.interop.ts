import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OurServer, ourServer } from "../platform/oauth/support/our-server.ts";
import { type RunningPlatform, startPlatform } from "../support/platform.ts";
import { importPackage } from "./support/packages.ts";

/** In a separate process: in its own, the platform replaces the dispatcher of `fetch`, which the clients use. */
let platform: RunningPlatform;
let server: OurServer;

beforeAll(async () => {
  platform = await startPlatform();
  const { baseUrl, sandboxKey, ready } = platform;
  server = await ourServer({ baseUrl, sandboxKey, signInUrl: ready.sign_in_url!, advance: () => {} });
});
afterAll(() => platform.stop());

const SCOPES = ["read_customers", "write_customers"];

/** Allows the app, and returns where the browser is then sent. */
async function authorize(url: string | URL): Promise<URL> {
  return (await server.authorize(new URL(url))).redirect!;
}

interface Arctic {
  OAuth2Client: new (id: string, secret: string | null, redirectUri: string) => ArcticClient;
  CodeChallengeMethod: { S256: number };
  generateState: () => string;
  generateCodeVerifier: () => string;
}

interface ArcticClient {
  createAuthorizationURLWithPKCE: (
    url: string,
    state: string,
    method: number,
    verifier: string,
    scopes: string[],
  ) => URL;
  validateAuthorizationCode: (url: string, code: string, verifier: string) => Promise<ArcticTokens>;
  refreshAccessToken: (url: string, token: string, scopes: string[]) => Promise<ArcticTokens>;
  revokeToken: (url: string, token: string) => Promise<void>;
}

interface ArcticTokens {
  accessToken: () => string;
  refreshToken: () => string;
}

interface SimpleOAuth2 {
  AuthorizationCode: new (settings: object) => {
    authorizeURL: (parameters: object) => string;
    getToken: (parameters: object) => Promise<SimpleToken>;
  };
}

interface SimpleToken {
  token: { access_token: string };
  refresh: () => Promise<SimpleToken>;
  revokeAll: () => Promise<void>;
}

interface Badgateway {
  OAuth2Client: new (settings: object) => {
    authorizationCode: {
      getAuthorizeUri: (parameters: object) => Promise<string>;
      getTokenFromCodeRedirect: (url: URL, parameters: object) => Promise<BadgatewayToken>;
    };
    refreshToken: (token: BadgatewayToken) => Promise<BadgatewayToken>;
    revoke: (token: BadgatewayToken) => Promise<void>;
  };
  generateCodeVerifier: () => Promise<string>;
}

interface BadgatewayToken {
  accessToken: string;
  refreshToken: string;
}

interface PassportOAuth2 {
  Strategy: new (settings: object, verify: (...values: unknown[]) => void) => PassportStrategy;
}

/** Passport itself adds the methods for the outcome. */
interface PassportStrategy {
  redirect: (url: string) => void;
  success: (user: { token: string }) => void;
  fail: (reason: unknown) => void;
  error: (error: unknown) => void;
  authenticate: (request: { session: object; query: Record<string, string> }) => void;
}

describe("third-party OAuth clients with their defaults", () => {
  it.each(["public", "confidential"] as const)("arctic signs in, refreshes and revokes as a %s app", async (kind) => {
    const arctic = await importPackage<Arctic>("arctic", "3.7.0");
    const { authorize: authorizeUrl, token, revoke } = server.endpoints;
    const { id, secret, redirectUri } = server.confidentialApp;
    const client =
      kind === "public"
        ? new arctic.OAuth2Client(server.publicApp.id, null, server.publicApp.redirectUri)
        : new arctic.OAuth2Client(id, secret, redirectUri);
    const state = arctic.generateState();
    const verifier = arctic.generateCodeVerifier();
    const method = arctic.CodeChallengeMethod.S256;
    const back = await authorize(client.createAuthorizationURLWithPKCE(authorizeUrl, state, method, verifier, SCOPES));
    expect(back.searchParams.get("state")).toBe(state);
    const first = await client.validateAuthorizationCode(token, back.searchParams.get("code")!, verifier);
    expect(await server.works(first.accessToken())).toBe(true);
    const second = await client.refreshAccessToken(token, first.refreshToken(), SCOPES);
    expect(await server.works(second.accessToken())).toBe(true);
    await client.revokeToken(revoke, second.refreshToken());
    expect(await server.works(second.accessToken())).toBe(false);
  });

  it("simple-oauth2 signs in, refreshes and revokes", async () => {
    const { AuthorizationCode } = await importPackage<SimpleOAuth2>("simple-oauth2", "5.1.0");
    const { id, secret, redirectUri: redirect_uri } = server.confidentialApp;
    const paths = { authorizePath: "/oauth/authorize", tokenPath: "/oauth/token", revokePath: "/oauth/revoke" };
    const client = new AuthorizationCode({ client: { id, secret }, auth: { tokenHost: platform.baseUrl, ...paths } });
    // The library leaves PKCE to its user.
    const code_verifier = "v".repeat(43);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code_verifier));
    const challenge = { code_challenge: Buffer.from(digest).toString("base64url"), code_challenge_method: "S256" };
    const back = await authorize(client.authorizeURL({ redirect_uri, scope: SCOPES, state: "state", ...challenge }));
    const first = await client.getToken({ code: back.searchParams.get("code"), redirect_uri, code_verifier });
    expect(await server.works(first.token.access_token)).toBe(true);
    const second = await first.refresh();
    expect(await server.works(second.token.access_token)).toBe(true);
    await second.revokeAll();
    expect(await server.works(second.token.access_token)).toBe(false);
  });

  it("@badgateway/oauth2-client finds the endpoints, signs in, refreshes and revokes", async () => {
    const { OAuth2Client, generateCodeVerifier } = await importPackage<Badgateway>(
      "@badgateway/oauth2-client",
      "3.3.1",
    );
    const { id: clientId, secret: clientSecret, redirectUri } = server.confidentialApp;
    const client = new OAuth2Client({ server: `${platform.baseUrl}/`, clientId, clientSecret });
    const flow = { redirectUri, state: "state", codeVerifier: await generateCodeVerifier() };
    const back = await authorize(await client.authorizationCode.getAuthorizeUri({ ...flow, scope: SCOPES }));
    const first = await client.authorizationCode.getTokenFromCodeRedirect(back, flow);
    expect(await server.works(first.accessToken)).toBe(true);
    const second = await client.refreshToken(first);
    expect(await server.works(second.accessToken)).toBe(true);
    await client.revoke(second);
    expect(await server.works(second.accessToken)).toBe(false);
  });

  it("passport-oauth2 signs in", async () => {
    const { Strategy } = await importPackage<PassportOAuth2>("passport-oauth2", "1.8.0");
    const { id, secret, redirectUri } = server.confidentialApp;
    const settings = {
      authorizationURL: server.endpoints.authorize,
      tokenURL: server.endpoints.token,
      clientID: id,
      clientSecret: secret,
      callbackURL: redirectUri,
      scope: SCOPES,
      state: true,
      pkce: true,
    };
    const strategy = new Strategy(settings, (token, _refresh, _profile, done) => (done as Done)(null, { token }));
    const session = {};
    const step = (query: Record<string, string>) =>
      new Promise<string>((resolve, reject) => {
        const outcome = { redirect: resolve, success: ({ token }: { token: string }) => resolve(token) };
        Object.assign(strategy, outcome, { fail: reject, error: reject }).authenticate({ session, query });
      });
    const back = await authorize(await step({}));
    expect(await server.works(await step(Object.fromEntries(back.searchParams)))).toBe(true);
  });
});

type Done = (error: null, user: object) => void;
