import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiOf } from "../../support/api.ts";
import { obtainTokens } from "./support/authorization-server.ts";
import { Browser } from "./support/browser.ts";
import { type EmbeddedPlatform, startEmbedded } from "./support/embedded-platform.ts";
import { ourServer } from "./support/our-server.ts";
import { isSignedIn, newLink, sessionApi, signedIn, signIn } from "./support/sign-in.ts";

const PASSWORD = "correct horse battery";

let platform: EmbeddedPlatform;

beforeAll(async () => {
  platform = await startEmbedded();
});
afterAll(() => platform.close());

describe("the users of an account", () => {
  const apiAs = (browser: Browser) => sessionApi(platform.baseUrl, browser);

  async function invite(owner: Browser, email: string): Promise<{ id: string; link: string }> {
    const { body } = await apiAs(owner)("POST", "/v1/users", { email });
    return { id: body.id, link: body.invitation_url };
  }

  it("are invited by a link that asks for a password, and sign in with it", async () => {
    const owner = await signedIn(platform);
    const { link } = await invite(owner, "bob@example.com");
    const bob = new Browser(platform.baseUrl);
    const page = await bob.get(link);
    expect(page.text).toContain("bob@example.com");
    expect((await bob.trySubmit(page, { password: "short" })).status).toBe(400);
    expect(isSignedIn(await bob.submit(page, { password: PASSWORD }))).toBe(true);
    expect((await new Browser(platform.baseUrl).get(link)).status).toBe(410);
    expect(isSignedIn(await signIn(new Browser(platform.baseUrl), "bob@example.com", PASSWORD))).toBe(true);
  });

  it("can be invited again until they join, but not by members", async () => {
    const owner = await signedIn(platform);
    const earlier = await invite(owner, "carol@example.com");
    const { id, link } = await invite(owner, "CAROL@example.com");
    const carol = new Browser(platform.baseUrl);
    expect((await carol.get(earlier.link)).status).toBe(410);
    await carol.submit(await carol.get(link), { password: PASSWORD });
    expect((await apiAs(owner)("POST", "/v1/users", { email: "carol@example.com" })).status).toBe(409);
    expect((await apiAs(carol)("POST", "/v1/users", { email: "dave@example.com" })).status).toBe(403);
    expect((await apiAs(carol)("DELETE", `/v1/users/${id}`)).status).toBe(403);
  });

  it("lose all access once removed", async () => {
    const owner = await signedIn(platform);
    const erin = new Browser(platform.baseUrl);
    const { id, link } = await invite(owner, "erin@example.com");
    await erin.submit(await erin.get(link), { password: PASSWORD });
    expect((await apiAs(owner)("DELETE", `/v1/users/${id}`)).status).toBe(200);
    expect((await apiAs(owner)("GET", `/v1/users`)).body.data).not.toContainEqual(expect.objectContaining({ id }));
    expect(isSignedIn(await erin.get("/account"))).toBe(false);
    expect((await signIn(new Browser(platform.baseUrl), "erin@example.com", PASSWORD)).status).toBe(401);
  });

  it("include an owner who cannot be removed", async () => {
    const owner = await signedIn(platform);
    const server = await ourServer({ ...platform, signInUrl: await newLink(platform) });
    const { access_token } = await obtainTokens(server, "public");
    const { user } = (await apiOf(platform.baseUrl, access_token)("GET", "/v1/me")).body as { user: { id: string } };
    expect((await apiAs(owner)("DELETE", `/v1/users/${user.id}`)).status).toBe(404);
    expect(isSignedIn(await owner.get("/account"))).toBe(true);
  });
});
