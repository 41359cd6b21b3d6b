import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiOf } from "../../support/api.ts";
import { obtainTokens } from "./support/authorization-server.ts";
import { Browser, formsOf } from "./support/browser.ts";
import { type EmbeddedPlatform, startEmbedded } from "./support/embedded-platform.ts";
import { ourServer } from "./support/our-server.ts";
import { isSignedIn, newLink, signedIn, signIn } from "./support/sign-in.ts";

const PASSWORD = "correct horse battery";

let platform: EmbeddedPlatform;

beforeAll(async () => {
  platform = await startEmbedded();
});
afterAll(() => platform.close());

describe("the users of an account", () => {
  const invites = ({ action }: { action: string }) => action === "/account/people";

  async function invite(owner: Browser, email: string): Promise<string> {
    const visit = await owner.submit(await owner.get("/account"), { email }, invites);
    return /value="(http[^"]*\/invitation\?token=[^"]*)"/.exec(visit.text)![1]!;
  }

  it("are invited by a link that asks for a password, and sign in with it", async () => {
    const owner = await signedIn(platform);
    const link = await invite(owner, "bob@example.com");
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
    const link = await invite(owner, "CAROL@example.com");
    const carol = new Browser(platform.baseUrl);
    expect((await carol.get(earlier)).status).toBe(410);
    const page = await carol.submit(await carol.get(link), { password: PASSWORD });
    const again = await owner.trySubmit(await owner.get("/account"), { email: "carol@example.com" }, invites);
    expect(again.status).toBe(409);
    expect(formsOf(page).some(invites)).toBe(false);
    const { csrf } = formsOf(page)[0]!.fields as { csrf: string };
    expect((await carol.post("/account/people", { csrf, email: "dave@example.com" })).status).toBe(403);
    expect((await carol.post("/account/people/remove", { csrf, user: "x" })).status).toBe(403);
  });

  it("lose all access once removed", async () => {
    const owner = await signedIn(platform);
    const erin = new Browser(platform.baseUrl);
    await erin.submit(await erin.get(await invite(owner, "erin@example.com")), { password: PASSWORD });
    const page = await owner.get("/account");
    const row = page.text.slice(page.text.indexOf("erin@example.com"));
    const user = /name="user" value="(usr_\w+)"/.exec(row)![1]!;
    const after = await owner.submit(page, { user }, ({ action }) => action === "/account/people/remove");
    expect(after.text).not.toContain("erin@example.com");
    expect(isSignedIn(await erin.get("/account"))).toBe(false);
    expect((await signIn(new Browser(platform.baseUrl), "erin@example.com", PASSWORD)).status).toBe(401);
  });

  it("include an owner who cannot be removed", async () => {
    const owner = await signedIn(platform);
    const server = await ourServer({ ...platform, signInUrl: await newLink(platform) });
    const { access_token } = await obtainTokens(server, "public");
    const { user } = (await apiOf(platform.baseUrl, access_token)("GET", "/v1/me")).body as { user: { id: string } };
    const { csrf } = formsOf(await owner.get("/account"))[0]!.fields as { csrf: string };
    await owner.post("/account/people/remove", { csrf, user: user.id });
    expect(isSignedIn(await owner.get("/account"))).toBe(true);
  });
});
