import { beforeAll, describe, expect, it } from "vitest";
import { apiOf } from "../../support/api.ts";
import { authorizationUrl, exchange, newProof, obtainCode, withPort } from "./support/authorization-server.ts";
import { Browser, formsOf } from "./support/browser.ts";
import { embeddedPlatform, startEmbedded } from "./support/embedded-platform.ts";
import { type OurServer, ourServer, THIRD_PARTY_REDIRECT } from "./support/our-server.ts";

const PASSWORD = "correct horse battery";

const platform = embeddedPlatform();
let server: OurServer;

beforeAll(async () => {
  server = await ourServer(platform);
});

const ask = (overrides: Record<string, string | undefined> = {}, app: "public" | "confidential" = "public") =>
  authorizationUrl(server, app, newProof(), overrides).href;

describe("the consent page", () => {
  it("shows which app requests which scopes, in which environment, and where it redirects", async () => {
    const { text } = await server.browser.get(ask({}, "confidential"));
    expect(text).toContain("<bdi>Reports</bdi> wants access to the account “Default account”");
    expect(text).toContain("Sandbox");
    expect(text).toContain("see and change customers");
    expect(text).toContain("https://app.example.com");
    expect(text).toContain("owner@localhost");
  });

  it("lists only permissions that the scopes grant", async () => {
    const { text } = await server.browser.get(ask({ scope: "read_request_logs write_request_logs read_listen" }));
    const [, list] = /<ul class="scopes">(.*?)<\/ul>/s.exec(text)!;
    expect(
      list!
        .replaceAll(/<[^>]+>/g, " ")
        .trim()
        .split(/\s{2,}/),
    ).toEqual(["see request logs", "receive events with a listener"]);
  });

  it("warns of scopes with far-reaching effects", async () => {
    const { text } = await server.browser.get(ask({ scope: "write_api_keys" }));
    expect(text).toContain("stay valid after you revoke this access");
    expect((await server.browser.get(ask({ scope: "read_api_keys" }))).text).not.toContain("stay valid");
  });

  it("runs no script, and its form redirects to the app only", async () => {
    const { headers, text } = await server.browser.get(ask({}, "confidential"));
    const policy = headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' https://app.example.com;");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(text).not.toMatch(/<script|\bon\w+=|\bstyle="/);
  });

  it("shows an app's name as text", async () => {
    const name = `<img src=x onerror=alert(1)> "'&\`</title>`;
    const api = apiOf(platform.baseUrl, platform.sandboxKey);
    const { body: app } = await api("POST", "/v1/oauth_apps", { name, redirect_uris: [THIRD_PARTY_REDIRECT] });
    const hostile = { ...server, confidentialApp: { ...server.confidentialApp, id: app.client_id } };
    const { text } = await server.browser.get(authorizationUrl(hostile, "confidential", newProof()).href);
    expect(text).toContain("&#60;img src=x onerror=alert(1)&#62;");
    expect(text).not.toContain("<img");
  });

  it("does not interpret a hostile request as markup", async () => {
    const { text } = await new Browser(platform.baseUrl).get(ask({ state: `"><script>alert(1)</script>` }));
    expect(text).not.toContain("<script>alert");
  });
});

describe("the environment of a grant", () => {
  const environmentOf = async (overrides: Record<string, string | undefined>) => {
    const proof = newProof();
    const code = await obtainCode(server, "public", proof, overrides);
    const { body } = await exchange(server, "public", code, proof);
    return (await apiOf(platform.baseUrl, body.access_token)("GET", "/v1/me")).body.environment;
  };

  it("is the sandbox unless live mode is requested, as the page shows", async () => {
    expect(await environmentOf({})).toBe("sandbox");
    expect(await environmentOf({ environment: "live" })).toBe("live");
    const { text } = await server.browser.get(ask({ environment: "live" }));
    expect(text).toContain("Live");
    expect(text).toContain("real data");
  });

  it("is the registered app's own", async () => {
    const rejected = await server.open(new URL(ask({ environment: "live" }, "confidential")));
    expect(rejected.redirect?.searchParams.get("error")).toBe("invalid_request");
    const live = apiOf(platform.baseUrl, platform.liveKey);
    const { body: app } = await live("POST", "/v1/oauth_apps", { name: "L", redirect_uris: [THIRD_PARTY_REDIRECT] });
    const liveServer = {
      ...server,
      confidentialApp: { ...server.confidentialApp, id: app.client_id, secret: app.client_secret },
    };
    const proof = newProof();
    const { body } = await exchange(
      liveServer,
      "confidential",
      await obtainCode(liveServer, "confidential", proof),
      proof,
    );
    const me = await apiOf(platform.baseUrl, body.access_token)("GET", "/v1/me");
    expect(me.body.environment).toBe("live");
  });

  it("is one of two", async () => {
    const outcome = await server.open(new URL(ask({ environment: "test" })));
    expect(outcome.redirect?.searchParams.get("error")).toBe("invalid_request");
  });
});

describe("the user's choice", () => {
  it("requires a sign-in first, and then continues", async () => {
    const fresh = await startEmbedded();
    const own = await ourServer(fresh);
    const account = await own.browser.get("/account");
    const form = { email: "ada@example.com", new_password: PASSWORD };
    await own.browser.submit(account, form, ({ action }) => action === "/account/details");
    const browser = new Browser(fresh.baseUrl);
    const page = await browser.get(authorizationUrl(own, "public", newProof(), { state: "from before" }).href);
    expect(page.text).toContain("<h1>Sign in</h1>");
    const question = await browser.submit(page, { email: "ada@example.com", password: PASSWORD });
    expect(question.text).toContain("wants access to");
    const { left, status } = await browser.submit(question, { decision: "approve" });
    expect(status).toBe(303);
    expect(left?.searchParams.get("state")).toBe("from before");
    expect(left?.searchParams.get("code")).toMatch(/^[\w-]{43}$/);
    await fresh.close();
  });

  it("does not redirect to an app with an invalid request before the sign-in", async () => {
    const fresh = await startEmbedded();
    const own = await ourServer(fresh);
    const account = await own.browser.get("/account");
    const form = { email: "ada@example.com", new_password: PASSWORD };
    await own.browser.submit(account, form, ({ action }) => action === "/account/details");
    for (const [name, value] of [
      ["scope", "<b>everything</b>"],
      ["state", undefined],
      ["code_challenge", undefined],
      ["response_type", "token"],
    ] as const) {
      const url = authorizationUrl(own, "confidential", newProof(), { [name]: value }).href;
      const browser = new Browser(fresh.baseUrl);
      const page = await browser.get(url);
      expect(page, name).toMatchObject({ status: 400, left: undefined });
      expect(page.text).toContain("The app&#39;s request is invalid");
      expect(page.text).not.toContain("<b>");
      const respond = { decision: "approve", csrf: formsOf(page)[0]!.fields["csrf"]! };
      expect(await browser.post(url, respond), name).toMatchObject({ status: 400, left: undefined });
      const { left } = await browser.submit(page, { email: "ada@example.com", password: PASSWORD });
      expect(left?.href, name).toContain(`${THIRD_PARTY_REDIRECT}?error=`);
    }
    await fresh.close();
  });

  it("is rejected in another session", async () => {
    const url = ask();
    const question = await server.browser.get(url);
    const outsider = new Browser(platform.baseUrl);
    await outsider.get(url);
    const rejected = await outsider.trySubmit(question, { decision: "approve" });
    expect(rejected).toMatchObject({ status: 403, left: undefined });
    expect(rejected.text).toContain("no longer valid");
  });

  it("is rejected without its hidden field", async () => {
    for (const csrf of ["", "wrong", "A".repeat(22)]) {
      const rejected = await server.browser.post(ask(), { decision: "approve", csrf });
      expect(rejected).toMatchObject({ status: 403, left: undefined });
    }
  });

  it("issues a code each time after the back button or a double click", async () => {
    const question = await server.browser.get(ask());
    const [one, two] = await Promise.all([
      server.browser.submit(question, { decision: "approve" }),
      server.browser.submit(question, { decision: "approve" }),
    ]);
    const codes = [one, two].map(({ left }) => left?.searchParams.get("code"));
    expect(new Set(codes).size).toBe(2);
    const denied = await server.browser.submit(question, { decision: "deny" });
    expect(denied.left?.searchParams.get("error")).toBe("access_denied");
  });

  it("is requested again if it is neither allow nor deny", async () => {
    const question = await server.browser.get(ask());
    expect(await server.browser.trySubmit(question, {})).toMatchObject({ status: 400, left: undefined });
    expect(await server.browser.trySubmit(question, { decision: "maybe" })).toMatchObject({ status: 400 });
  });

  it("after signing out leads to the sign-in page, not to a code", async () => {
    const fresh = await startEmbedded();
    const own = await ourServer(fresh);
    const url = authorizationUrl(own, "public", newProof()).href;
    const question = await own.browser.get(url);
    const { csrf } = formsOf(question)[0]!.fields as { csrf: string };
    fresh.advance(8 * 86_400_000);
    const visit = await own.browser.post(url, { csrf, decision: "approve" });
    expect(visit.left).toBeUndefined();
    expect(visit.text).toContain("<h1>Sign in</h1>");
    await fresh.close();
  });
});

describe("authorization codes", () => {
  it("expire after 60 seconds", async () => {
    const fresh = await startEmbedded();
    const own = await ourServer(fresh);
    const proof = newProof();
    const early = await obtainCode(own, "public", proof);
    fresh.advance(59_000);
    expect((await exchange(own, "public", early, proof)).status).toBe(200);
    const late = await obtainCode(own, "public", proof);
    fresh.advance(60_000);
    expect((await exchange(own, "public", late, proof)).body.error).toBe("invalid_grant");
    await fresh.close();
  });

  it("are sent to [::1] as well, and to port 80, written or omitted", async () => {
    const fresh = await startEmbedded();
    const own = await ourServer(fresh);
    const addresses = [
      withPort("http://[::1]/callback", 50_100),
      "http://127.0.0.1:80/callback",
      "http://127.0.0.1/callback",
    ];
    for (const redirect_uri of addresses) {
      const proof = newProof();
      const code = await obtainCode(own, "public", proof, { redirect_uri });
      expect((await exchange(own, "public", code, proof, { redirect_uri })).status).toBe(200);
    }
    await fresh.close();
  });
});
