import { expect } from "vitest";
import { postAtOnce } from "../support/at-once.ts";
import { type AuthorizationServer, type JsonResponse, post, proves } from "../support/authorization-server.ts";
import type { Check } from "../support/check.ts";

const DEVICE_CODE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

function begin(server: AuthorizationServer): Promise<JsonResponse> {
  return post(server.endpoints.device, { scope: server.scopes.join(" "), ...proves(server, "public") });
}

function pollFields(server: AuthorizationServer, device_code: string, app: "public" | "confidential" = "public") {
  return { grant_type: DEVICE_CODE_GRANT, device_code, ...proves(server, app) };
}

function poll(server: AuthorizationServer, code: string, app?: "public" | "confidential"): Promise<JsonResponse> {
  return post(server.endpoints.token, pollFields(server, code, app));
}

export const DEVICE_CHECKS: readonly Check[] = [
  {
    name: "a device gets a code to show, of 8 letters of a 20-letter set, for 10 minutes",
    async run(server) {
      const { status, body, headers } = await begin(server);
      expect(status).toBe(200);
      expect(body.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
      expect(body.expires_in).toBe(600);
      expect(new URL(body.verification_uri_complete).searchParams.get("user_code")).toBe(body.user_code);
      expect(headers.get("cache-control")).toContain("no-store");
    },
  },
  {
    name: "a poll before the user's choice is pending, and an immediate second one is too early",
    async run(server) {
      const { body } = await begin(server);
      expect((await poll(server, body.device_code)).body.error).toBe("authorization_pending");
      expect((await poll(server, body.device_code)).body.error).toBe("slow_down");
    },
  },
  {
    name: "once the user allows it, one poll gets tokens that work, and no other gets any",
    async run(server) {
      const { body } = await begin(server);
      expect(await server.decideDevice(body.user_code, "approve")).toBe(true);
      const given = await poll(server, body.device_code);
      expect(given.status).toBe(200);
      expect(await server.works(given.body.access_token)).toBe(true);
      expect((await poll(server, body.device_code)).body.error).toBe("invalid_grant");
    },
  },
  {
    name: "of 10 polls at once, one gets tokens",
    async run(server) {
      const { body } = await begin(server);
      await server.decideDevice(body.user_code, "approve");
      const responses = await postAtOnce(server.endpoints.token, pollFields(server, body.device_code), 10);
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(responses.filter(({ body }) => body.error === "invalid_grant")).toHaveLength(9);
    },
  },
  {
    name: "the device learns of a denial",
    async run(server) {
      const { body } = await begin(server);
      await server.decideDevice(body.user_code, "deny");
      expect((await poll(server, body.device_code)).body.error).toBe("access_denied");
    },
  },
  {
    name: "a code can be approved or denied once",
    async run(server) {
      const { body } = await begin(server);
      expect(await server.decideDevice(body.user_code, "deny")).toBe(true);
      expect(await server.decideDevice(body.user_code, "approve")).toBe(false);
    },
  },
  {
    name: "a code is read in lower case and without its dash",
    async run(server) {
      const { body } = await begin(server);
      expect(await server.decideDevice(` ${String(body.user_code).toLowerCase().replace("-", "")} `, "approve")).toBe(
        true,
      );
      expect((await poll(server, body.device_code)).status).toBe(200);
    },
  },
  {
    name: "a device code does not work for another app",
    async run(server) {
      const { body } = await begin(server);
      await server.decideDevice(body.user_code, "approve");
      expect((await poll(server, body.device_code, "confidential")).body.error).toBe("invalid_grant");
    },
  },
  {
    name: "an unknown device code is rejected",
    async run(server) {
      expect((await poll(server, "unknown")).body.error).toBe("invalid_grant");
    },
  },
  {
    name: "an unknown scope is rejected",
    async run(server) {
      const response = await post(server.endpoints.device, { scope: "read_minds", ...proves(server, "public") });
      expect(response).toMatchObject({ status: 400, body: { error: "invalid_scope" } });
    },
  },
];
