import { readFileSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requestSignInLink } from "../../src/platform/admin/client.ts";
import { apiOf } from "../support/api.ts";
import { obtainTokens } from "./support/authorization-server.ts";
import { getAtOnce } from "./support/at-once.ts";
import { Browser, formsOf, type Visit } from "./support/browser.ts";
import { type EmbeddedPlatform, startEmbedded } from "./support/embedded-platform.ts";
import { ourServer } from "./support/our-server.ts";

const PASSWORD = "correct horse battery";
const MINUTE = 60_000;
const DAY = 86_400_000;

let platform: EmbeddedPlatform;

beforeAll(async () => {
  platform = await startEmbedded();
});
afterAll(() => platform.close());

const newLink = async () => (await requestSignInLink(platform.database, fetch)).sign_in_url;
const isSignedIn = (visit: Visit) => visit.text.includes("Signed in as");

async function signedIn(): Promise<Browser> {
  const browser = new Browser(platform.baseUrl);
  expect(isSignedIn(await browser.get(await newLink()))).toBe(true);
  return browser;
}

async function signIn(browser: Browser, email: string, password: string): Promise<Visit> {
  return browser.submit(await browser.get("/sign-in"), { email, password });
}

const saves = ({ action }: { action: string }) => action === "/account/details";

describe("the one-time link", () => {
  it("signs the owner of an empty database in, once", async () => {
    const first = new Browser(platform.baseUrl);
    const visit = await first.get(platform.signInUrl);
    expect(new URL(visit.url).pathname).toBe("/account");
    expect(visit.text).toContain("owner@localhost");
    const second = await new Browser(platform.baseUrl).get(platform.signInUrl);
    expect(second.status).toBe(410);
    expect(second.text).toContain("service serve link");
  });

  it("works for 15 minutes", async () => {
    const early = await newLink();
    const late = await newLink();
    platform.advance(14 * MINUTE);
    expect(isSignedIn(await new Browser(platform.baseUrl).get(early))).toBe(true);
    platform.advance(MINUTE);
    expect((await new Browser(platform.baseUrl).get(late)).status).toBe(410);
  });

  it("is used up by one of 5 browsers at once", async () => {
    const link = await newLink();
    const statuses = (await getAtOnce(link, 5)).map(({ status }) => status);
    expect(statuses.sort((a, b) => a - b)).toEqual([303, 410, 410, 410, 410]);
  });

  it("is not used up by whoever only looks", async () => {
    const link = await newLink();
    await fetch(link, { method: "HEAD" });
    expect((await fetch(link, { headers: { "Sec-Purpose": "prefetch;prerender" } })).status).toBe(503);
    expect(isSignedIn(await new Browser(platform.baseUrl).get(link))).toBe(true);
  });

  it("brings those who are signed in home, even when it is used", async () => {
    const browser = new Browser(platform.baseUrl);
    const link = await newLink();
    await browser.get(link);
    expect(isSignedIn(await browser.get(link))).toBe(true);
  });

  it("is only made for whoever can read the file beside the database", async () => {
    const file = `${platform.database}.admin`;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { url } = JSON.parse(readFileSync(file, "utf8")) as { url: string };
    for (const Authorization of ["", "Bearer guessed", `Bearer ${platform.liveKey}`]) {
      const reply = await fetch(`${url}/admin/sign_in_links`, { method: "POST", headers: { Authorization } });
      expect(reply.status).toBe(401);
    }
  });
});

describe("the session", () => {
  it("is a cookie that scripts and other sites do not see, new at every sign-in", async () => {
    const browser = new Browser(platform.baseUrl);
    const page = await browser.send("GET", new URL("/sign-in", platform.baseUrl));
    const [before] = browser.cookies.values();
    const [line] = page.headers.getSetCookie();
    expect(line).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
    await browser.get(await newLink());
    const [after] = browser.cookies.values();
    expect(after).not.toBe(before);
  });

  it("ends where another begins in the same browser", async () => {
    const browser = await signedIn();
    const before = browser.copy();
    const link = await newLink();
    await browser.get(link);
    expect(isSignedIn(await browser.get("/account"))).toBe(true);
    expect(isSignedIn(await before.get("/account"))).toBe(false);
  });

  it("ends after a week", async () => {
    const browser = await signedIn();
    platform.advance(7 * DAY - MINUTE);
    expect(isSignedIn(await browser.get("/account"))).toBe(true);
    platform.advance(2 * MINUTE);
    expect(isSignedIn(await browser.get("/account"))).toBe(false);
  });

  it("ends at once when one signs out, also where the cookie was copied", async () => {
    const browser = await signedIn();
    const thief = browser.copy();
    const page = await browser.get("/account");
    await browser.submit(page, {}, ({ action }) => action === "/sign-out");
    expect(isSignedIn(await browser.get("/account"))).toBe(false);
    expect(isSignedIn(await thief.get("/account"))).toBe(false);
  });

  it.each(["/sign-out", "/account/details", "/account/people", "/account/people/remove", "/account/apps/revoke"])(
    "a form of another site changes nothing: %s",
    async (path) => {
      const browser = await signedIn();
      for (const csrf of ["", "x", "A".repeat(22)]) {
        expect((await browser.post(path, { csrf, email: "evil@example.com", new_password: PASSWORD })).status).toBe(
          403,
        );
      }
      const other = await signedIn();
      const { csrf } = formsOf(await other.get("/account"))[0]!.fields as { csrf: string };
      expect((await browser.post(path, { csrf, email: "evil@example.com" })).status).toBe(403);
      expect((await browser.get("/account")).text).not.toContain("evil@example.com");
    },
  );
});

describe("email and password", () => {
  let owner: Browser;

  beforeAll(async () => {
    owner = await signedIn();
    const page = await owner.get("/account");
    const saved = await owner.submit(page, { email: "Ada@Example.com", new_password: PASSWORD }, saves);
    expect(saved.text).toContain("Saved.");
  });

  it("sign in, without regard to the email's case", async () => {
    const browser = new Browser(platform.baseUrl);
    expect(isSignedIn(await signIn(browser, "ada@example.COM", PASSWORD))).toBe(true);
  });

  it("answer the same to a wrong password and to an unknown email", async () => {
    const wrong = await signIn(new Browser(platform.baseUrl), "ada@example.com", "wrong password");
    const unknown = await signIn(new Browser(platform.baseUrl), "eve@example.com", "wrong password");
    const withoutSecrets = ({ text }: Visit) =>
      text.replaceAll(/value="[\w-]{22}"/g, "").replaceAll(/(ada|eve)@example\.com/g, "");
    expect(wrong.status).toBe(401);
    expect(unknown.status).toBe(401);
    expect(withoutSecrets(wrong)).toBe(withoutSecrets(unknown));
  });

  it("are not guessed: after 5 failures even the right password waits, and others sign in meanwhile", async () => {
    platform.advance(60 * MINUTE);
    const browser = new Browser(platform.baseUrl);
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await signIn(browser, "ada@example.com", `wrong ${attempt}`)).status).toBe(401);
    }
    const refused = await signIn(browser, "ada@example.com", PASSWORD);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await signIn(browser, "bob@example.com", "wrong")).status).toBe(401);
    platform.advance(Number(refused.headers.get("retry-after")) * 1000);
    expect(isSignedIn(await signIn(browser, "ada@example.com", PASSWORD))).toBe(true);
  });

  it("are not guessed for many people from one address", async () => {
    platform.advance(60 * MINUTE);
    const browser = new Browser(platform.baseUrl);
    const visits = await Promise.all(
      Array.from({ length: 12 }, (_, index) => signIn(browser, `nobody${index}@example.com`, "wrong password")),
    );
    expect(visits.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(visits.filter(({ status }) => status === 429)).toHaveLength(2);
    platform.advance(60 * MINUTE);
  });

  it("a form with a next page of another site leads home instead", async () => {
    const browser = new Browser(platform.baseUrl);
    const page = await browser.get("/sign-in");
    for (const next of ["https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)"]) {
      const fresh = browser.copy();
      const visit = await fresh.submit(page, { email: "ada@example.com", password: PASSWORD, next });
      expect(new URL(visit.url).origin + new URL(visit.url).pathname).toBe(`${platform.baseUrl}/account`);
    }
  });

  it.each([
    ["a short one", "short", "at least 10"],
    ["the email itself", "ada@example.com", "must not be the email"],
    ["an endless one", "x".repeat(201), "at most 200"],
  ])("a new password is refused: %s", async (_what, password, why) => {
    const browser = await signedIn();
    const form = { email: "ada@example.com", new_password: password };
    const visit = await browser.submit(await browser.get("/account"), form, saves);
    expect(visit.status).toBe(400);
    expect(visit.text).toContain(why);
  });

  it("a change asks for the current password of whoever did not come by a link", async () => {
    const browser = new Browser(platform.baseUrl);
    const page = await signIn(browser, "ada@example.com", PASSWORD);
    const change = { email: "ada@example.com", new_password: "another good password" };
    expect((await browser.submit(page, change, saves)).status).toBe(403);
    const wrong = await browser.submit(page, { ...change, current_password: "no" }, saves);
    expect(wrong.text).toContain("The current password is wrong.");
    expect(isSignedIn(await signIn(new Browser(platform.baseUrl), "ada@example.com", PASSWORD))).toBe(true);
  });

  it("a new password signs every other browser out", async () => {
    const other = await signedIn();
    const browser = await signedIn();
    const change = { email: "ada@example.com", new_password: `${PASSWORD} 2` };
    const saved = await browser.submit(await browser.get("/account"), change, saves);
    expect(saved.text).toContain("Saved.");
    expect(isSignedIn(await browser.get("/account"))).toBe(true);
    expect(isSignedIn(await other.get("/account"))).toBe(false);
    expect((await signIn(new Browser(platform.baseUrl), "ada@example.com", PASSWORD)).status).toBe(401);
  });

  it("input that is no form is refused on a page", async () => {
    const browser = new Browser(platform.baseUrl);
    await browser.get("/sign-in");
    const headers = { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
    const send = (body: string, type: string) =>
      fetch(`${platform.baseUrl}/sign-in`, { method: "POST", body, headers: { ...headers, "Content-Type": type } });
    expect((await send("{}", "application/json")).status).toBe(415);
    expect((await send("email=%zz", "application/x-www-form-urlencoded")).status).toBe(400);
    expect((await send("email=a%00b", "application/x-www-form-urlencoded")).status).toBe(400);
    expect((await send(`email=${"a".repeat(70_000)}`, "application/x-www-form-urlencoded")).status).toBe(413);
  });
});

describe("the account's people", () => {
  const invites = ({ action }: { action: string }) => action === "/account/people";

  async function invite(owner: Browser, email: string): Promise<string> {
    const visit = await owner.submit(await owner.get("/account"), { email }, invites);
    return /value="(http[^"]*\/invitation\?token=[^"]*)"/.exec(visit.text)![1]!;
  }

  it("are invited by a link that asks for a password, and sign in with it", async () => {
    const owner = await signedIn();
    const link = await invite(owner, "bob@example.com");
    const bob = new Browser(platform.baseUrl);
    const page = await bob.get(link);
    expect(page.text).toContain("bob@example.com");
    expect((await bob.submit(page, { password: "short" })).status).toBe(400);
    expect(isSignedIn(await bob.submit(page, { password: PASSWORD }))).toBe(true);
    expect((await new Browser(platform.baseUrl).get(link)).status).toBe(410);
    expect(isSignedIn(await signIn(new Browser(platform.baseUrl), "bob@example.com", PASSWORD))).toBe(true);
  });

  it("are not invited twice, nor by members", async () => {
    const owner = await signedIn();
    const link = await invite(owner, "carol@example.com");
    const again = await owner.submit(await owner.get("/account"), { email: "CAROL@example.com" }, invites);
    expect(again.status).toBe(409);
    const carol = new Browser(platform.baseUrl);
    const page = await carol.submit(await carol.get(link), { password: PASSWORD });
    expect(formsOf(page).some(invites)).toBe(false);
    const { csrf } = formsOf(page)[0]!.fields as { csrf: string };
    expect((await carol.post("/account/people", { csrf, email: "dave@example.com" })).status).toBe(403);
    expect((await carol.post("/account/people/remove", { csrf, user: "x" })).status).toBe(403);
  });

  it("are out once removed, everywhere", async () => {
    const owner = await signedIn();
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

  it("an owner cannot be removed", async () => {
    const owner = await signedIn();
    const server = await ourServer({ ...platform, signInUrl: await newLink() });
    const { access_token } = await obtainTokens(server, "public");
    const { user } = (await apiOf(platform.baseUrl, access_token)("GET", "/v1/me")).body as { user: { id: string } };
    const { csrf } = formsOf(await owner.get("/account"))[0]!.fields as { csrf: string };
    await owner.post("/account/people/remove", { csrf, user: user.id });
    expect(isSignedIn(await owner.get("/account"))).toBe(true);
  });
});
