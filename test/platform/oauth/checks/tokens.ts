import { expect } from "vitest";
import { postAtOnce } from "../support/at-once.ts";
import {
  appOf,
  type AuthorizationServer,
  authorizationUrl,
  exchange,
  type JsonResponse,
  newProof,
  obtainCode,
  obtainTokens,
  post,
  proves,
  refreshWith,
} from "../support/authorization-server.ts";
import type { Check } from "../support/check.ts";

const PAST_GRACE_MS = 31_000;

const codeFields = (server: AuthorizationServer, code: string, verifier: string) => ({
  grant_type: "authorization_code",
  code,
  code_verifier: verifier,
  redirect_uri: appOf(server, "public").redirectUri,
  ...proves(server, "public"),
});

async function refreshAtOnce(server: AuthorizationServer): Promise<JsonResponse[]> {
  const { refresh_token } = await obtainTokens(server, "public");
  const fields = { grant_type: "refresh_token", refresh_token, ...proves(server, "public") };
  return postAtOnce(server.endpoints.token, fields, 10);
}

export const TOKEN_CHECKS: readonly Check[] = [
  {
    name: "a code returns a Bearer token for at most an hour, and the response must not be cached",
    async run(server) {
      const proof = newProof();
      const response = await exchange(server, "public", await obtainCode(server, "public", proof), proof);
      expect(response).toMatchObject({ status: 200, body: { token_type: "Bearer" } });
      expect(response.body.expires_in).toBeGreaterThan(0);
      expect(response.body.expires_in).toBeLessThanOrEqual(3600);
      expect(response.body.scope.split(" ").sort()).toEqual([...server.scopes].sort());
      expect(response.headers.get("cache-control")).toContain("no-store");
      expect(await server.works(response.body.access_token)).toBe(true);
    },
  },
  {
    name: "of 10 exchanges of a code at once, one succeeds",
    async run(server) {
      const proof = newProof();
      const code = await obtainCode(server, "public", proof);
      const responses = await postAtOnce(server.endpoints.token, codeFields(server, code, proof.verifier), 10);
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(new Set(responses.filter(({ status }) => status !== 200).map(({ body }) => body.error))).toEqual(
        new Set(["invalid_grant"]),
      );
    },
  },
  {
    name: "a code that is used again revokes its tokens",
    async run(server) {
      const proof = newProof();
      const code = await obtainCode(server, "public", proof);
      const { body: tokens } = await exchange(server, "public", code, proof);
      expect((await exchange(server, "public", code, proof)).body.error).toBe("invalid_grant");
      expect(await server.works(tokens.access_token)).toBe(false);
      expect((await refreshWith(server, "public", tokens.refresh_token)).body.error).toBe("invalid_grant");
    },
  },
  {
    name: "a code that is used again with a wrong verifier revokes nothing",
    async run(server) {
      const proof = newProof();
      const code = await obtainCode(server, "public", proof);
      const { body: tokens } = await exchange(server, "public", code, proof);
      expect((await exchange(server, "public", code, newProof())).body.error).toBe("invalid_grant");
      expect(await server.works(tokens.access_token)).toBe(true);
    },
  },
  {
    name: "a wrong verifier does not use the code up",
    async run(server) {
      const proof = newProof();
      const code = await obtainCode(server, "public", proof);
      expect((await exchange(server, "public", code, newProof())).body.error).toBe("invalid_grant");
      expect((await exchange(server, "public", code, proof)).status).toBe(200);
    },
  },
  {
    name: "a code does not work for another app, and is not used up by it",
    async run(server) {
      const proof = newProof();
      const code = await obtainCode(server, "public", proof);
      const { redirectUri: redirect_uri } = appOf(server, "public");
      const response = await exchange(server, "confidential", code, proof, { redirect_uri });
      expect(response.body.error).toBe("invalid_grant");
      expect((await exchange(server, "public", code, proof)).status).toBe(200);
    },
  },
  {
    name: "a code does not work without the redirect URI of its request",
    async run(server) {
      const proof = newProof();
      const code = await obtainCode(server, "public", proof);
      const { redirect_uri: _, ...without } = codeFields(server, code, proof.verifier);
      expect((await post(server.endpoints.token, without)).status).toBe(400);
    },
  },
  {
    name: "a code does not work without its verifier, or with one that is too short",
    async run(server) {
      const proof = newProof();
      const code = await obtainCode(server, "public", proof);
      const { code_verifier: _, ...without } = codeFields(server, code, proof.verifier);
      expect((await post(server.endpoints.token, without)).status).toBe(400);
      expect((await exchange(server, "public", code, { ...proof, verifier: "short" })).status).toBe(400);
    },
  },
  {
    name: "a verifier cannot stand in for a challenge that was never sent",
    async run(server) {
      const proof = newProof();
      const without = { code_challenge: undefined, code_challenge_method: undefined };
      const { redirect } = await server.authorize(authorizationUrl(server, "confidential", proof, without));
      expect(redirect?.searchParams.get("code") ?? null).toBeNull();
    },
  },
  {
    name: "a refresh rotates the token, and reuse of the old token revokes the family",
    async run(server) {
      const first = await obtainTokens(server, "public");
      const { status, body: second } = await refreshWith(server, "public", first.refresh_token);
      expect(status).toBe(200);
      expect(second.refresh_token).not.toBe(first.refresh_token);
      server.advance(PAST_GRACE_MS);
      expect((await refreshWith(server, "public", first.refresh_token)).body.error).toBe("invalid_grant");
      expect((await refreshWith(server, "public", second.refresh_token)).body.error).toBe("invalid_grant");
      expect(await server.works(second.access_token)).toBe(false);
    },
  },
  {
    name: "of 10 refreshes at once, one succeeds",
    async run(server) {
      const responses = await refreshAtOnce(server);
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(responses.filter(({ body }) => body.error === "invalid_grant")).toHaveLength(9);
    },
  },
  {
    name: "of 10 refreshes at once, the successful one gets a valid token",
    async run(server) {
      const winner = (await refreshAtOnce(server)).find(({ status }) => status === 200);
      expect(await server.works(winner!.body.access_token)).toBe(true);
      expect((await refreshWith(server, "public", winner!.body.refresh_token)).status).toBe(200);
    },
  },
  {
    name: "within the grace period the direct parent gets another successor, and one token stays valid",
    async run(server) {
      const first = await obtainTokens(server, "public");
      const { body: lost } = await refreshWith(server, "public", first.refresh_token);
      server.advance(29_000);
      const { status, body: kept } = await refreshWith(server, "public", first.refresh_token);
      expect(status).toBe(200);
      expect((await refreshWith(server, "public", kept.refresh_token)).status).toBe(200);
      expect((await refreshWith(server, "public", lost.refresh_token)).body.error).toBe("invalid_grant");
    },
  },
  {
    name: "a successor that is replaced within the grace period is revoked with its access token, and no other",
    async run(server) {
      const first = await obtainTokens(server, "public");
      server.advance(1000);
      const { body: lost } = await refreshWith(server, "public", first.refresh_token);
      const { body: lostToo } = await refreshWith(server, "public", first.refresh_token);
      const { body: kept } = await refreshWith(server, "public", first.refresh_token);
      expect(await server.works(lost.access_token)).toBe(false);
      expect(await server.works(lostToo.access_token)).toBe(false);
      expect(await server.works(kept.access_token)).toBe(true);
      expect(await server.works(first.access_token)).toBe(true);
    },
  },
  {
    name: "once the successor was used, its parent revokes the family, however early",
    async run(server) {
      const first = await obtainTokens(server, "public");
      const { body: second } = await refreshWith(server, "public", first.refresh_token);
      const { body: third } = await refreshWith(server, "public", second.refresh_token);
      expect((await refreshWith(server, "public", first.refresh_token)).body.error).toBe("invalid_grant");
      expect((await refreshWith(server, "public", third.refresh_token)).body.error).toBe("invalid_grant");
      expect(await server.works(third.access_token)).toBe(false);
    },
  },
  {
    name: "a refresh cannot request more scopes",
    async run(server) {
      const proof = newProof();
      const [less, more] = server.scopes;
      const { body } = await exchange(
        server,
        "public",
        await obtainCode(server, "public", proof, { scope: less }),
        proof,
      );
      const wider = await refreshWith(server, "public", body.refresh_token, { scope: `${less} ${more}` });
      expect(wider).toMatchObject({ status: 400, body: { error: "invalid_scope" } });
      expect((await refreshWith(server, "public", body.refresh_token)).body.scope).toBe(less);
    },
  },
  {
    name: "a refresh can request fewer scopes, and the next one all of them again",
    async run(server) {
      const { refresh_token } = await obtainTokens(server, "public");
      const [less] = server.scopes;
      const narrow = await refreshWith(server, "public", refresh_token, { scope: less });
      expect(narrow.body.scope).toBe(less);
      const whole = await refreshWith(server, "public", narrow.body.refresh_token);
      expect(whole.body.scope.split(" ").sort()).toEqual([...server.scopes].sort());
    },
  },
  {
    name: "a refresh token does not work for another app",
    async run(server) {
      const { refresh_token } = await obtainTokens(server, "public");
      expect((await refreshWith(server, "confidential", refresh_token)).body.error).toBe("invalid_grant");
      expect((await refreshWith(server, "public", refresh_token)).status).toBe(200);
    },
  },
  {
    name: "revoking an unknown token is 200",
    async run(server) {
      expect((await post(server.endpoints.revoke, { token: "unknown", ...proves(server, "public") })).status).toBe(200);
    },
  },
  {
    name: "another app's token cannot be revoked",
    async run(server) {
      const tokens = await obtainTokens(server, "public");
      await post(server.endpoints.revoke, { token: tokens.access_token, ...proves(server, "confidential") });
      await post(server.endpoints.revoke, { token: tokens.refresh_token, ...proves(server, "confidential") });
      expect(await server.works(tokens.access_token)).toBe(true);
      expect((await refreshWith(server, "public", tokens.refresh_token)).status).toBe(200);
    },
  },
  {
    name: "revoking a refresh token revokes its access token too",
    async run(server) {
      const tokens = await obtainTokens(server, "confidential");
      const fields = { token: tokens.refresh_token, token_type_hint: "refresh_token" };
      expect((await post(server.endpoints.revoke, { ...fields, ...proves(server, "confidential") })).status).toBe(200);
      expect(await server.works(tokens.access_token)).toBe(false);
      expect((await refreshWith(server, "confidential", tokens.refresh_token)).body.error).toBe("invalid_grant");
    },
  },
  {
    name: "revoking an access token revokes only that token",
    async run(server) {
      const tokens = await obtainTokens(server, "public");
      await post(server.endpoints.revoke, { token: tokens.access_token, ...proves(server, "public") });
      expect(await server.works(tokens.access_token)).toBe(false);
    },
  },
];
