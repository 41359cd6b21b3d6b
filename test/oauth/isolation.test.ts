import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, apiOf } from "../support/api.ts";
import { exchange, newProof, obtainCode, obtainTokens, post, proves } from "./support/authorization-server.ts";
import { Browser } from "./support/browser.ts";
import type { EmbeddedPlatform } from "./support/embedded-platform.ts";
import { type OurServer, ourServer } from "./support/our-server.ts";
import { type PreparedAccount, startWithTwoAccounts } from "./support/two-accounts.ts";

let platform: EmbeddedPlatform;
let accounts: [PreparedAccount, PreparedAccount];
/** Each account as its own owner sees it. */
let servers: [OurServer, OurServer];

beforeAll(async () => {
  ({ platform, accounts } = await startWithTwoAccounts());
  servers = [await serverOf(accounts[0]), await serverOf(accounts[1])];
});
afterAll(() => platform.close());

const serverOf = (account: PreparedAccount) => ourServer({ ...platform, ...account });
const me = async (token: string) => (await apiOf(platform.baseUrl, token)("GET", "/v1/me")).body;

/** One credential for each account and environment, of each kind. */
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

describe("what belongs to one environment of one account", () => {
  it("is nowhere else: keys and apps", async () => {
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

describe("an app of one account", () => {
  it("works for the people of another, in their own account", async () => {
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
    expect(text).toContain("wants to use Other account");
    expect(text).toContain("<bdi>Default account</bdi>");
    const tokens = await obtainTokens(foreign, "confidential");
    expect((await me(tokens.access_token)).account.id).toBe(accounts[1].id);
  });
});

describe("a user", () => {
  it("stands behind the token, in the account that is theirs", async () => {
    for (const [index, server] of servers.entries()) {
      const tokens = await obtainTokens(server, "public");
      const { account, user } = await me(tokens.access_token);
      expect(account.id).toBe(accounts[index]!.id);
      expect(user.email).toBe(index === 0 ? "owner@localhost" : "owner@other.example");
    }
  });

  it("sees the people of their own account, and removes no others", async () => {
    const mine = await servers[0].browser.get("/account");
    expect(mine.text).not.toContain("owner@other.example");
    const invited = await servers[1].browser.submit(
      await servers[1].browser.get("/account"),
      { email: "member@other.example" },
      ({ action }) => action === "/account/people",
    );
    const stranger = /name="user" value="(usr_\w+)"/.exec(invited.text)![1]!;
    const csrf = /name="csrf" value="([^"]+)"/.exec(mine.text)![1]!;
    await servers[0].browser.post("/account/people/remove", { csrf, user: stranger });
    expect((await servers[1].browser.get("/account")).text).toContain("member@other.example");
  });

  it("cannot take the email of somebody in another account", async () => {
    const page = await servers[0].browser.get("/account");
    const form = { email: "OWNER@other.example", new_password: "correct horse battery" };
    const refused = await servers[0].browser.trySubmit(page, form, ({ action }) => action === "/account/details");
    expect(refused.status).toBe(409);
    expect((await servers[0].browser.get("/account")).text).toContain("owner@localhost");
  });

  it("takes back their own apps' access, nobody else's", async () => {
    const tokens = await obtainTokens(servers[1], "public");
    const theirs = await servers[1].browser.get("/account");
    const grant = /name="grant" value="(gra_\w+)"/.exec(theirs.text)![1]!;
    const csrf = /name="csrf" value="([^"]+)"/.exec((await servers[0].browser.get("/account")).text)![1]!;
    await servers[0].browser.post("/account/apps/revoke", { csrf, grant });
    expect(await servers[1].works(tokens.access_token)).toBe(true);
  });

  it("who is removed leaves no token that works", async () => {
    const owner = servers[0].browser;
    const invited = await owner.submit(
      await owner.get("/account"),
      { email: "leaver@example.com" },
      ({ action }) => action === "/account/people",
    );
    const link = /value="(http[^"]*\/invitation\?token=[^"]*)"/.exec(invited.text)![1]!;
    const browser = new Browser(platform.baseUrl);
    await browser.submit(await browser.get(link), { password: "correct horse battery" });
    const leaver: OurServer = {
      ...servers[0],
      browser,
      async authorize(url, decision = "approve") {
        const { left, status, headers } = await browser.submit(await browser.get(url.href), { decision });
        return { redirect: left, status, headers };
      },
    };
    const tokens = await obtainTokens(leaver, "public");
    expect((await me(tokens.access_token)).user.email).toBe("leaver@example.com");
    const page = await owner.get("/account");
    const user = (await me(tokens.access_token)).user.id as string;
    const wide = await obtainTokens({ ...leaver, scopes: ["write_api_keys", "read_orders"] }, "public");
    const { body: key } = await apiOf(platform.baseUrl, wide.access_token)("POST", "/v1/api_keys", {
      name: "<b>Left</b>",
    });
    const removed = await owner.submit(page, { user }, ({ action }) => action === "/account/people/remove");
    expect(removed.text).toContain("API keys that they created still work");
    expect(removed.text).toContain(`<bdi>&#60;b&#62;Left&#60;/b&#62;</bdi> <code>${key.id}</code>`);
    expect(await servers[0].works(tokens.access_token)).toBe(false);
    const fields = { grant_type: "refresh_token", refresh_token: tokens.refresh_token, ...proves(leaver, "public") };
    expect((await post(leaver.endpoints.token, fields)).body.error).toBe("invalid_grant");
  });
});
