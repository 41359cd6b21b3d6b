import { expect } from "vitest";
import {
  type AuthorizationServer,
  newProof,
  obtainCode,
  obtainTokens,
  post,
  proves,
  refreshWith,
  appOf,
  exchange,
} from "../support/authorization-server.ts";
import type { Check } from "../support/check.ts";

function basic({ confidentialApp: { id, secret } }: AuthorizationServer, wrong = ""): Record<string, string> {
  const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret + wrong)}`;
  return { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** A refresh request of the confidential app without client authentication. */
async function refreshFields(server: AuthorizationServer): Promise<Record<string, string>> {
  const { refresh_token } = await obtainTokens(server, "confidential");
  return { grant_type: "refresh_token", refresh_token };
}

export const CLIENT_CHECKS: readonly Check[] = [
  {
    name: "an app authenticates with the header, form-encoded",
    async run(server) {
      expect((await post(server.endpoints.token, await refreshFields(server), basic(server))).status).toBe(200);
    },
  },
  {
    name: "an app authenticates with the form",
    async run(server) {
      const { refresh_token } = await obtainTokens(server, "confidential");
      expect((await refreshWith(server, "confidential", refresh_token)).status).toBe(200);
    },
  },
  {
    name: "both at once is rejected",
    async run(server) {
      const fields = { ...(await refreshFields(server)), ...proves(server, "confidential") };
      const response = await post(server.endpoints.token, fields, basic(server));
      expect(response).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    },
  },
  {
    name: "a wrong secret in the header is 401 and says how",
    async run(server) {
      const response = await post(server.endpoints.token, await refreshFields(server), basic(server, "x"));
      expect(response).toMatchObject({ status: 401, body: { error: "invalid_client" } });
      expect(response.headers.get("www-authenticate")).toMatch(/^Basic /);
    },
  },
  {
    name: "a wrong secret in the form is 401",
    async run(server) {
      const fields = { ...(await refreshFields(server)), ...proves(server, "confidential"), client_secret: "wrong" };
      expect(await post(server.endpoints.token, fields)).toMatchObject({
        status: 401,
        body: { error: "invalid_client" },
      });
    },
  },
  {
    name: "no secret is 401 for a confidential app",
    async run(server) {
      const fields = { ...(await refreshFields(server)), client_id: server.confidentialApp.id };
      expect((await post(server.endpoints.token, fields)).body.error).toMatch(/invalid_client|invalid_request/);
    },
  },
  {
    name: "an unknown app is 401",
    async run(server) {
      const fields = { grant_type: "refresh_token", refresh_token: "x", client_id: "app_unknown" };
      expect(await post(server.endpoints.token, fields)).toMatchObject({
        status: 401,
        body: { error: "invalid_client" },
      });
    },
  },
  {
    name: "a code with a wrong secret returns no token and is not used up",
    async run(server) {
      const proof = newProof();
      const code = await obtainCode(server, "confidential", proof);
      const wrong = await exchange(server, "confidential", code, proof, { client_secret: "wrong" });
      expect(wrong.status).toBe(401);
      expect((await exchange(server, "confidential", code, proof)).status).toBe(200);
    },
  },
  {
    name: "the query is ignored",
    async run(server) {
      const proof = newProof();
      const code = await obtainCode(server, "public", proof);
      const fields = {
        grant_type: "authorization_code",
        code,
        code_verifier: proof.verifier,
        redirect_uri: appOf(server, "public").redirectUri,
        ...proves(server, "public"),
      };
      const url = `${server.endpoints.token}?${new URLSearchParams(fields).toString()}`;
      const response = await post(url, "");
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(JSON.stringify(response.body)).not.toContain("access_token");
      expect((await post(server.endpoints.token, fields)).status).toBe(200);
    },
  },
  {
    name: "JSON is rejected",
    async run(server) {
      const fields = { ...(await refreshFields(server)), ...proves(server, "confidential") };
      const headers = { "Content-Type": "application/json" };
      const response = await post(server.endpoints.token, JSON.stringify(fields), headers);
      expect(response).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    },
  },
  {
    name: "a repeated parameter is rejected",
    async run(server) {
      const fields = { ...(await refreshFields(server)), ...proves(server, "confidential") };
      const twice = `${new URLSearchParams(fields).toString()}&grant_type=refresh_token`;
      expect(await post(server.endpoints.token, twice)).toMatchObject({
        status: 400,
        body: { error: "invalid_request" },
      });
    },
  },
  {
    name: "GET returns no token",
    async run(server) {
      const fields = { ...(await refreshFields(server)), ...proves(server, "confidential") };
      const response = await fetch(`${server.endpoints.token}?${new URLSearchParams(fields).toString()}`);
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(await response.text()).not.toContain("access_token");
    },
  },
  {
    name: "an unknown or missing grant type is rejected",
    async run(server) {
      const app = proves(server, "confidential");
      const unknown = await post(server.endpoints.token, { grant_type: "password", username: "a", ...app });
      expect(unknown).toMatchObject({ status: 400, body: { error: "unsupported_grant_type" } });
      expect(await post(server.endpoints.token, app)).toMatchObject({
        status: 400,
        body: { error: "invalid_request" },
      });
    },
  },
];
