import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { getAtOnce } from "./support/at-once.ts";
import { Browser, formsOf } from "./support/browser.ts";
import { embeddedPlatform, startEmbedded } from "./support/embedded-platform.ts";
import { isSignedIn, newLink, signedIn } from "./support/sign-in.ts";

const PASSWORD = "correct horse battery";
const MINUTE = 60_000;
const DAY = 86_400_000;

const platform = embeddedPlatform();

describe("the one-time link", () => {
  it("signs in the owner of an empty database, once", async () => {
    const fresh = await startEmbedded();
    const first = new Browser(fresh.baseUrl);
    const visit = await first.get(fresh.signInUrl);
    expect(new URL(visit.url).pathname).toBe("/account");
    expect(visit.text).toContain("owner@localhost");
    const second = await new Browser(fresh.baseUrl).get(fresh.signInUrl);
    expect(second.status).toBe(410);
    expect(second.text).toContain("<span>serve</span> <span>link</span>");
    await fresh.close();
  });

  it("is valid for 15 minutes", async () => {
    const early = await newLink(platform);
    const late = await newLink(platform);
    platform.advance(14 * MINUTE);
    expect(isSignedIn(await new Browser(platform.baseUrl).get(early))).toBe(true);
    platform.advance(MINUTE);
    expect((await new Browser(platform.baseUrl).get(late)).status).toBe(410);
  });

  it("works in only one of 5 concurrent browsers", async () => {
    const link = await newLink(platform);
    const statuses = (await getAtOnce(link, 5)).map(({ status }) => status);
    expect(statuses.sort((a, b) => a - b)).toEqual([303, 410, 410, 410, 410]);
  });

  it("is not used up by a prefetch or a HEAD request", async () => {
    const link = await newLink(platform);
    const head = await fetch(link, { method: "HEAD", redirect: "manual" });
    expect([head.status, head.headers.get("location")]).toEqual([303, "/dashboard"]);
    expect((await fetch(link, { headers: { "Sec-Purpose": "prefetch;prerender" } })).status).toBe(503);
    expect(isSignedIn(await new Browser(platform.baseUrl).get(link))).toBe(true);
  });

  it("leads a signed-in user to the home page, even after it was used", async () => {
    const browser = new Browser(platform.baseUrl);
    const link = await newLink(platform);
    await browser.get(link);
    expect(isSignedIn(await browser.get(link))).toBe(true);
  });

  it("leads to the page that the browser asked for, once", async () => {
    const browser = new Browser(platform.baseUrl);
    const asked = `${platform.baseUrl}/oauth/device?user_code=BCDF-GHJK`;
    await browser.get(asked);
    expect((await browser.get(await newLink(platform))).url).toBe(asked);
    expect(new URL((await browser.get(await newLink(platform))).url).pathname).toBe("/account");
  });

  it("is only created for a user who can read the file beside the database", async () => {
    const file = `${platform.database}.admin`;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { url } = JSON.parse(readFileSync(file, "utf8")) as { url: string };
    for (const Authorization of ["", "Bearer guessed", `Bearer ${platform.liveKey}`]) {
      const response = await fetch(`${url}/admin/sign_in_links`, { method: "POST", headers: { Authorization } });
      expect(response.status).toBe(401);
    }
  });
});

describe("the browser session", () => {
  it("is a cookie that scripts and other sites cannot see, new at every sign-in", async () => {
    const browser = new Browser(platform.baseUrl);
    const page = await browser.send("GET", new URL("/sign-in", platform.baseUrl));
    const [before] = browser.cookies.values();
    const [line] = page.headers.getSetCookie();
    expect(line).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
    await browser.get(await newLink(platform));
    const [after] = browser.cookies.values();
    expect(after).not.toBe(before);
  });

  it("is a cookie that no other host of the domain can set, over https", async () => {
    const secure = await startEmbedded({ publicUrl: "https://board.example" });
    const browser = new Browser(secure.listenUrl);
    const page = await browser.send("GET", new URL("/sign-in", secure.listenUrl));
    const [line] = page.headers.getSetCookie();
    expect(line).toMatch(/^__Host-service_session_[0-9a-f]{8}=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const link = new URL(await newLink(secure));
    await browser.get(link.pathname + link.search);
    expect(isSignedIn(await browser.get("/account"))).toBe(true);
    const [[name, value] = []] = browser.cookies;
    const call = (cookie: string | undefined, origin: string) =>
      fetch(`${secure.listenUrl}/v1/me`, {
        headers: { Cookie: `${cookie}=${value}`, "Service-Environment": "live", Origin: origin },
      });
    expect((await call(name, "https://board.example")).status).toBe(200);
    expect((await call(name, "https://board.example:8443")).status).toBe(403);
    expect((await call(name, "http://board.example")).status).toBe(403);
    expect((await call(name?.replace("__Host-", ""), "https://board.example")).status).toBe(401);
    await secure.close();
  });

  it("ends when another begins in the same browser", async () => {
    const browser = await signedIn(platform);
    const before = browser.copy();
    const link = await newLink(platform);
    await browser.get(link);
    expect(isSignedIn(await browser.get("/account"))).toBe(true);
    expect(isSignedIn(await before.get("/account"))).toBe(false);
  });

  it("ends after a week", async () => {
    const browser = await signedIn(platform);
    platform.advance(7 * DAY - MINUTE);
    expect(isSignedIn(await browser.get("/account"))).toBe(true);
    platform.advance(2 * MINUTE);
    expect(isSignedIn(await browser.get("/account"))).toBe(false);
  });

  it("ends immediately at sign-out, also for a copied cookie", async () => {
    const browser = await signedIn(platform);
    const thief = browser.copy();
    const page = await browser.get("/account");
    await browser.submit(page, {}, ({ action }) => action === "/sign-out");
    expect(isSignedIn(await browser.get("/account"))).toBe(false);
    expect(isSignedIn(await thief.get("/account"))).toBe(false);
  });

  it.each(["/sign-out", "/account/details"])("a form of another site changes nothing: %s", async (path) => {
    const browser = await signedIn(platform);
    for (const csrf of ["", "x", "A".repeat(22)]) {
      expect((await browser.post(path, { csrf, email: "evil@example.com", new_password: PASSWORD })).status).toBe(403);
    }
    const other = await signedIn(platform);
    const { csrf } = formsOf(await other.get("/account"))[0]!.fields as { csrf: string };
    expect((await browser.post(path, { csrf, email: "evil@example.com" })).status).toBe(403);
    expect((await browser.get("/account")).text).not.toContain("evil@example.com");
  });
});
