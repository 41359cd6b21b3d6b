import { expect } from "vitest";
import {
  type AuthorizationServer,
  authorizationUrl,
  exchange,
  newProof,
  obtainCode,
  type Outcome,
  withPort,
} from "../support/authorization-server.ts";
import type { Check } from "../support/check.ts";

/** The server shows the error to the user and does not redirect. */
function expectPage({ redirect, status }: Outcome): void {
  expect(redirect?.href).toBeUndefined();
  expect(status).toBeGreaterThanOrEqual(400);
}

/** The server redirects to the app with the error. */
function expectError({ redirect }: Outcome, error: string): void {
  expect(redirect?.searchParams.get("error")).toBe(error);
  expect(redirect?.searchParams.get("code")).toBeNull();
}

const CHANGED_REDIRECTS: Record<string, (uri: string) => string> = {
  "another path": (uri) => `${uri}2`,
  "a path below": (uri) => `${uri}/x`,
  "a slash more": (uri) => `${uri}/`,
  "a query": (uri) => `${uri}?x=1`,
  "another host": (uri) => uri.replace("//", "//evil."),
  "the host as a user": (uri) => uri.replace("//", "//x@"),
  "another user's host": (uri) => uri.replace("//app.example.com", "//app.example.com@evil.example"),
  "a fragment": (uri) => `${uri}#x`,
  "another scheme": (uri) => uri.replace("https:", "http:"),
  "another port": (uri) => uri.replace("example.com", "example.com:8443"),
  "another case": (uri) => uri.replace("app.", "APP."),
  "an escaped path": (uri) => uri.replace("callback", "c%61llback"),
  "a step up": (uri) => uri.replace("callback", "x/../callback"),
};

const CHANGED_LOOPBACKS: Record<string, (uri: string) => string> = {
  "another path": (uri) => `${uri}/x`,
  localhost: (uri) => uri.replace("127.0.0.1", "localhost"),
  https: (uri) => uri.replace("http:", "https:"),
  "another address": (uri) => uri.replace("127.0.0.1", "127.0.0.2"),
  "all addresses": (uri) => uri.replace("127.0.0.1", "0.0.0.0"),
  "a user": (uri) => uri.replace("//", "//x@"),
  "a longer host": (uri) => uri.replace("127.0.0.1", "127.0.0.1.evil.example"),
};

export const AUTHORIZATION_CHECKS: readonly Check[] = [
  ...Object.entries(CHANGED_REDIRECTS).map(([what, change]) => ({
    name: `a redirect address with ${what} is rejected on a page`,
    run: async (server: AuthorizationServer) => {
      const redirect_uri = change(server.confidentialApp.redirectUri);
      expectPage(await server.open(authorizationUrl(server, "confidential", newProof(), { redirect_uri })));
    },
  })),
  ...Object.entries(CHANGED_LOOPBACKS).map(([what, change]) => ({
    name: `a loopback redirect with ${what} is rejected on a page`,
    run: async (server: AuthorizationServer) => {
      const redirect_uri = change(withPort(server.publicApp.redirectUri, 50_000));
      expectPage(await server.open(authorizationUrl(server, "public", newProof(), { redirect_uri })));
    },
  })),
  {
    name: "a loopback redirect works on any port, and the code on that port alone",
    async run(server) {
      const proof = newProof();
      const redirect_uri = withPort(server.publicApp.redirectUri, 50_001);
      const code = await obtainCode(server, "public", proof, { redirect_uri });
      const elsewhere = { redirect_uri: withPort(server.publicApp.redirectUri, 50_002) };
      expect((await exchange(server, "public", code, proof, elsewhere)).body.error).toBe("invalid_grant");
      const again = await obtainCode(server, "public", proof, { redirect_uri });
      expect((await exchange(server, "public", again, proof, { redirect_uri })).status).toBe(200);
    },
  },
  ...(["public", "confidential"] as const).flatMap((app) => [
    {
      name: `a request without a challenge is rejected for a ${app} app`,
      run: async (server: AuthorizationServer) => {
        const without = { code_challenge: undefined, code_challenge_method: undefined };
        expectError(await server.open(authorizationUrl(server, app, newProof(), without)), "invalid_request");
      },
    },
    {
      name: `the plain method is rejected for a ${app} app`,
      run: async (server: AuthorizationServer) => {
        const proof = newProof();
        const plain = { code_challenge: proof.verifier, code_challenge_method: "plain" };
        expectError(await server.open(authorizationUrl(server, app, proof, plain)), "invalid_request");
      },
    },
    {
      name: `a challenge without a method, which would mean plain, is rejected for a ${app} app`,
      run: async (server: AuthorizationServer) => {
        const without = { code_challenge_method: undefined };
        expectError(await server.open(authorizationUrl(server, app, newProof(), without)), "invalid_request");
      },
    },
  ]),
  ...[42, 44, 129].map((length) => ({
    name: `a challenge of ${length} characters is rejected`,
    run: async (server: AuthorizationServer) => {
      const wrong = { code_challenge: "a".repeat(length) };
      expectError(await server.open(authorizationUrl(server, "public", newProof(), wrong)), "invalid_request");
    },
  })),
  {
    name: "iss comes with the code",
    async run(server) {
      const { redirect } = await server.authorize(authorizationUrl(server, "public", newProof()));
      expect(redirect?.searchParams.get("iss")).toBe(server.issuer);
      expect(redirect?.searchParams.get("state")).toBe("a-state");
    },
  },
  {
    name: "iss comes with a denial",
    async run(server) {
      const outcome = await server.authorize(authorizationUrl(server, "public", newProof()), "deny");
      expectError(outcome, "access_denied");
      expect(outcome.redirect?.searchParams.get("iss")).toBe(server.issuer);
      expect(outcome.redirect?.searchParams.get("state")).toBe("a-state");
    },
  },
  {
    name: "iss comes with an error",
    async run(server) {
      const outcome = await server.open(authorizationUrl(server, "public", newProof(), { scope: "read_minds" }));
      expectError(outcome, "invalid_scope");
      expect(outcome.redirect?.searchParams.get("iss")).toBe(server.issuer);
    },
  },
  {
    name: "the response is a 303 to the app",
    async run(server) {
      expect((await server.authorize(authorizationUrl(server, "public", newProof()))).status).toBe(303);
      expect((await server.authorize(authorizationUrl(server, "public", newProof()), "deny")).status).toBe(303);
    },
  },
  {
    name: "the consent page cannot be framed and is not cached",
    async run(server) {
      const { headers } = await server.open(authorizationUrl(server, "public", newProof()));
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("cache-control")).toContain("no-store");
    },
  },
  {
    name: "an unknown app is rejected on a page",
    async run(server) {
      const client_id = `${server.publicApp.id}x`;
      expectPage(await server.open(authorizationUrl(server, "public", newProof(), { client_id })));
    },
  },
  {
    name: "no app is rejected on a page",
    async run(server) {
      expectPage(await server.open(authorizationUrl(server, "public", newProof(), { client_id: undefined })));
    },
  },
  {
    name: "with several registered redirect URIs, the request must name one",
    async run(server) {
      expectPage(await server.open(authorizationUrl(server, "public", newProof(), { redirect_uri: undefined })));
    },
  },
  {
    name: "a request without scopes is rejected",
    async run(server) {
      expectError(
        await server.open(authorizationUrl(server, "public", newProof(), { scope: undefined })),
        "invalid_scope",
      );
    },
  },
  {
    name: "200 unknown scopes are rejected",
    async run(server) {
      const scope = Array.from({ length: 200 }, (_, index) => `read_${index}`).join(" ");
      expectError(await server.open(authorizationUrl(server, "public", newProof(), { scope })), "invalid_scope");
    },
  },
  {
    name: "a scope that is named 200 times is one scope",
    async run(server) {
      const proof = newProof();
      const scope = Array.from({ length: 200 }, () => server.scopes[0]).join(" ");
      const response = await exchange(server, "public", await obtainCode(server, "public", proof, { scope }), proof);
      expect(response.body.scope).toBe(server.scopes[0]);
    },
  },
  {
    name: "a state of 4 KB is returned unchanged",
    async run(server) {
      const state = `${"a+b/c=&?#% é".repeat(128)}${"z".repeat(4096)}`.slice(0, 4096);
      const { redirect } = await server.authorize(authorizationUrl(server, "public", newProof(), { state }));
      expect(redirect?.searchParams.get("state")).toBe(state);
    },
  },
  {
    name: "a request without state is rejected",
    async run(server) {
      expectError(
        await server.open(authorizationUrl(server, "public", newProof(), { state: undefined })),
        "invalid_request",
      );
    },
  },
  {
    name: "a token is never given in the redirect",
    async run(server) {
      const url = authorizationUrl(server, "public", newProof(), { response_type: "token" });
      const { redirect } = await server.open(url);
      expect(redirect?.href).toContain("error=unsupported_response_type");
      expect(redirect?.href).not.toContain("access_token");
    },
  },
  {
    name: "a repeated parameter is rejected",
    async run(server) {
      const twice = authorizationUrl(server, "public", newProof());
      twice.searchParams.append("scope", server.scopes[0]);
      expectError(await server.open(twice), "invalid_request");
      const addresses = authorizationUrl(server, "public", newProof());
      addresses.searchParams.append("redirect_uri", server.confidentialApp.redirectUri);
      expectPage(await server.open(addresses));
    },
  },
];
