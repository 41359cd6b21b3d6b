import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { exampleOf, inputFieldsOf, OBJECT_KINDS, pathOf, RESOURCES } from "../../../src/contract/resources.ts";
import { type Api, apiOf } from "../../support/api.ts";
import { exchange, newProof, obtainCode, obtainTokens, post, proves } from "./support/authorization-server.ts";
import { Browser } from "./support/browser.ts";
import type { EmbeddedPlatform } from "./support/embedded-platform.ts";
import { type OurServer, ourServer } from "./support/our-server.ts";
import { sessionApi } from "./support/sign-in.ts";
import { type PreparedAccount, startWithTwoAccounts } from "./support/two-accounts.ts";

let platform: EmbeddedPlatform;
let accounts: [PreparedAccount, PreparedAccount];
/** Each account with its owner's credentials. */
let servers: [OurServer, OurServer];

beforeAll(async () => {
  ({ platform, accounts } = await startWithTwoAccounts());
  servers = [await serverOf(accounts[0]), await serverOf(accounts[1])];
});
afterAll(() => platform.close());

const serverOf = (account: PreparedAccount) => ourServer({ ...platform, ...account });
const asSession = (browser: Browser, environment?: string) => sessionApi(platform.baseUrl, browser, environment);
const me = async (token: string) => (await apiOf(platform.baseUrl, token)("GET", "/v1/me")).body;

/** One credential of each kind for each account and environment. */
async function credentials(): Promise<{ name: string; api: Api }[]> {
  const found: { name: string; api: Api }[] = [];
  for (const [index, { sandboxKey, liveKey }] of accounts.entries()) {
    const server = servers[index]!;
    const withScopes = { ...server, scopes: ["write_api_keys", "write_oauth_apps"] as const };
    const proof = newProof();
    const scope = "read_api_keys write_api_keys read_oauth_apps write_oauth_apps";
    for (const environment of ["sandbox", "live"]) {
      const code = await obtainCode(withScopes, "public", proof, { scope, environment });
      const { body } = await exchange(withScopes, "public", code, proof);
      found.push({ name: `${index} ${environment} token`, api: apiOf(platform.baseUrl, body.access_token) });
    }
    found.push({ name: `${index} sandbox key`, api: apiOf(platform.baseUrl, sandboxKey) });
    found.push({ name: `${index} live key`, api: apiOf(platform.baseUrl, liveKey) });
  }
  return found;
}

describe("an object of one environment of one account", () => {
  it("does not exist elsewhere: keys and apps", async () => {
    const all = await credentials();
    const placeOf = (name: string) => name.split(" ").slice(0, 2).join(" ");
    for (const owner of all) {
      const { body: key } = await owner.api("POST", "/v1/api_keys", { scopes: ["api_keys:read"] });
      const redirect_uris = ["https://a.example/"];
      const { body: app } = await owner.api("POST", "/v1/oauth_apps", { name: "A", redirect_uris });
      for (const other of all) {
        const same = placeOf(owner.name) === placeOf(other.name);
        for (const path of [`/v1/api_keys/${key.id}`, `/v1/oauth_apps/${app.id}`]) {
          expect((await other.api("GET", path)).status, `${other.name} sees ${owner.name}'s`).toBe(same ? 200 : 404);
        }
        const listed = JSON.stringify([
          (await other.api("GET", "/v1/api_keys?limit=100")).body,
          (await other.api("GET", "/v1/oauth_apps?limit=100")).body,
        ]);
        expect(listed.includes(key.id), `${other.name} lists ${owner.name}'s key`).toBe(same);
        expect(listed.includes(app.id), `${other.name} lists ${owner.name}'s app`).toBe(same);
        if (same) continue;
        expect((await other.api("POST", `/v1/api_keys/${key.id}/revoke`)).status).toBe(404);
        expect((await other.api("DELETE", `/v1/oauth_apps/${app.id}`)).status).toBe(404);
        expect((await other.api("POST", `/v1/oauth_apps/${app.id}/rotate_secret`)).status).toBe(404);
      }
    }
  });
});

describe("every operation on an object of another account", () => {
  const CHANGES: Record<string, object> = {
    webhook_endpoints: { description: "x" },
    api_keys: { name: "x" },
    oauth_apps: { name: "x" },
  };

  /** Objects of each kind by the path of their collection. */
  async function objectsOf({ sandboxKey }: PreparedAccount, browser: Browser): Promise<Record<string, string>> {
    const api = apiOf(platform.baseUrl, sandboxKey);
    const created = async (path: string, body: object) => (await api("POST", path, body)).body.id as string;
    const first = async (path: string) => (await api("GET", path)).body.data[0].id as string;
    const session = asSession(browser);
    const endpoint = { url: "https://example.com/hook", events: ["*"] };
    const webhookEndpoint = await created("/v1/webhook_endpoints", endpoint);
    const ids: Record<string, string> = {};
    for (const kind of OBJECT_KINDS) {
      const required = inputFieldsOf(kind).filter(([, field]) => field.required);
      const body = required.map(([name, field]) => [name, field.of === undefined ? exampleOf(field) : ids[field.of]]);
      ids[kind] = await created(pathOf(kind), Object.fromEntries(body));
    }
    return {
      ...Object.fromEntries(OBJECT_KINDS.map((kind) => [RESOURCES[kind].plural, ids[kind]!])),
      webhook_endpoints: webhookEndpoint,
      events: await first("/v1/events"),
      deliveries: await first("/v1/deliveries"),
      bulk_operations: await created("/v1/deliveries/retry", { status: "failed" }),
      request_logs: await first("/v1/request_logs"),
      api_keys: await created("/v1/api_keys", {}),
      oauth_apps: await created("/v1/oauth_apps", { name: "A", redirect_uris: ["https://a.example/"] }),
      users: (await session("POST", "/v1/users", { email: "isolated@example.com" })).body.id,
      sessions: (await session("GET", "/v1/sessions")).body.data[0].id,
      oauth_grants: (await session("GET", "/v1/oauth_grants")).body.data[0].id,
      faults: await created("/v1/faults", { match: { path: "/v1/versions" }, effect: "delay", delay_ms: 1 }),
      snapshots: (await api("POST", "/v1/sandbox/snapshots", { name: "isolated" })).body.name,
    };
  }

  it("returns the same as for an unknown ID", async () => {
    await obtainTokens(servers[0], "public");
    const objects = await objectsOf(accounts[0], servers[0].browser);
    const { body: document } = await apiOf(platform.baseUrl, undefined)("GET", "/openapi.json");
    const paths = Object.entries<Record<string, object>>(document.paths).filter(([path]) => path.includes("{id}"));
    const operations = paths.flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((name) => /^(get|post|patch|delete)$/.test(name))
        .map((name) => ({ path, method: name.toUpperCase(), kind: /([^/]+)\/\{id\}/.exec(path)![1]! })),
    );
    expect(operations.length).toBeGreaterThan(25);
    const outsiders: Record<string, Api> = {
      "key of another account": apiOf(platform.baseUrl, accounts[1].sandboxKey),
      "session of another account": asSession(servers[1].browser),
      "key of the other environment": apiOf(platform.baseUrl, accounts[0].liveKey),
    };
    for (const { path, method, kind } of operations) {
      const id = objects[kind];
      if (id === undefined) throw new Error(`add an object for ${path}`);
      const body = method === "PATCH" ? (CHANGES[kind] ?? { metadata: {} }) : undefined;
      for (const [name, outsider] of Object.entries(outsiders)) {
        const foreign = await outsider(method, path.replace("{id}", id), body);
        const unknown = await outsider(method, path.replace("{id}", `${id.slice(0, -3)}zzz`), body);
        expect([404, 403], `${method} ${path} by a ${name}`).toContain(foreign.status);
        expect([foreign.status, foreign.body.code], `${method} ${path}`).toEqual([unknown.status, unknown.body.code]);
        if (foreign.status === 403) expect(["session_required", "sandbox_only"]).toContain(foreign.body.code);
      }
    }
    const owner = apiOf(platform.baseUrl, accounts[0].sandboxKey);
    for (const { path, kind } of operations.filter(({ path, method }) => method === "GET" && path.endsWith("{id}"))) {
      expect((await owner("GET", path.replace("{id}", objects[kind]!))).status, path).toBe(200);
    }
  });

  it("does not reveal to a listener whether an event ID exists in another account", async () => {
    const theirs = apiOf(platform.baseUrl, accounts[0].sandboxKey);
    await theirs("POST", "/v1/orders", { amount: 2, currency: "EUR" });
    const foreign = (await theirs("GET", "/v1/events?limit=1")).body.data[0].id as string;
    const framesAfter = async (after: string) => {
      const url = `${platform.baseUrl.replace("http", "ws")}/v1/listen?after=${after}`;
      const headers = { Authorization: `Bearer ${accounts[1].sandboxKey}` };
      const socket = new WebSocket(url, "service.listen.v1", { headers });
      const frames: { frame: string; cursor?: string }[] = [];
      await new Promise<void>((resolve, reject) => {
        socket.on("error", reject);
        socket.on("message", (data: Buffer) => {
          frames.push(JSON.parse(data.toString()) as (typeof frames)[number]);
          if (frames.length === 2) resolve();
        });
      });
      socket.terminate();
      return frames.map(({ frame }) => frame);
    };
    expect(await framesAfter(foreign)).toEqual(["ready", "gap"]);
    expect(await framesAfter(foreign.replace(/.{3}$/, "zzz"))).toEqual(["ready", "gap"]);
  });
});

describe("an app of one account", () => {
  it("works for users of another account, in their own account", async () => {
    const foreign: OurServer = { ...servers[1], confidentialApp: servers[0].confidentialApp };
    const { text } = await servers[1].browser.get(
      `${foreign.endpoints.authorize}?${new URLSearchParams({
        response_type: "code",
        client_id: foreign.confidentialApp.id,
        redirect_uri: foreign.confidentialApp.redirectUri,
        scope: "read_customers",
        state: "s",
        code_challenge: newProof().challenge,
        code_challenge_method: "S256",
      }).toString()}`,
    );
    expect(text).toContain("wants access to the account “Other account”");
    expect(text).toContain("<bdi>Default account</bdi>");
    const tokens = await obtainTokens(foreign, "confidential");
    expect((await me(tokens.access_token)).account.id).toBe(accounts[1].id);
  });
});

describe("a user of one account", () => {
  it("owns the token, in their own account", async () => {
    for (const [index, server] of servers.entries()) {
      const tokens = await obtainTokens(server, "public");
      const { account, user } = await me(tokens.access_token);
      expect(account.id).toBe(accounts[index]!.id);
      expect(user.email).toBe(index === 0 ? "owner@localhost" : "owner@other.example");
    }
  });

  it("sees the users of their own account, and cannot remove others", async () => {
    const [mine, theirs] = [asSession(servers[0].browser), asSession(servers[1].browser)];
    const emailsOf = async (api: Api) =>
      (await api("GET", "/v1/users")).body.data.map(({ email }: { email: string }) => email);
    expect(await emailsOf(mine)).not.toContain("owner@other.example");
    const { body: outsider } = await theirs("POST", "/v1/users", { email: "member@other.example" });
    expect((await mine("DELETE", `/v1/users/${outsider.id}`)).status).toBe(404);
    expect(await emailsOf(theirs)).toContain("member@other.example");
  });

  it("cannot take the email address of a user in another account", async () => {
    const page = await servers[0].browser.get("/account");
    const form = { email: "OWNER@other.example", new_password: "correct horse battery" };
    const rejected = await servers[0].browser.trySubmit(page, form, ({ action }) => action === "/account/details");
    expect(rejected.status).toBe(409);
    expect((await servers[0].browser.get("/account")).text).toContain("owner@localhost");
  });

  it("revokes only their own apps' access", async () => {
    const tokens = await obtainTokens(servers[1], "public");
    const { body: grants } = await asSession(servers[1].browser)("GET", "/v1/oauth_grants");
    const revoke = asSession(servers[0].browser)("POST", `/v1/oauth_grants/${grants.data[0].id}/revoke`);
    expect((await revoke).status).toBe(404);
    expect(await servers[1].works(tokens.access_token)).toBe(true);
  });

  it("has no valid token after being removed", async () => {
    const owner = asSession(servers[0].browser);
    const { body: invited } = await owner("POST", "/v1/users", { email: "leaver@example.com" });
    const browser = new Browser(platform.baseUrl);
    await browser.submit(await browser.get(invited.invitation_url), { password: "correct horse battery" });
    const removedUser: OurServer = {
      ...servers[0],
      browser,
      async authorize(url, decision = "approve") {
        const { left, status, headers } = await browser.submit(await browser.get(url.href), { decision });
        return { redirect: left, status, headers };
      },
    };
    const tokens = await obtainTokens(removedUser, "public");
    expect((await me(tokens.access_token)).user.email).toBe("leaver@example.com");
    const wide = await obtainTokens({ ...removedUser, scopes: ["write_api_keys", "read_orders"] }, "public");
    const { body: key } = await apiOf(platform.baseUrl, wide.access_token)("POST", "/v1/api_keys", { name: "Left" });
    const { body: removed } = await owner("DELETE", `/v1/users/${invited.id}`);
    expect(removed.api_keys.data).toMatchObject([{ id: key.id, name: "Left" }]);
    expect(await servers[0].works(tokens.access_token)).toBe(false);
    const fields = {
      grant_type: "refresh_token",
      refresh_token: tokens.refresh_token,
      ...proves(removedUser, "public"),
    };
    expect((await post(removedUser.endpoints.token, fields)).body.error).toBe("invalid_grant");
  });
});
