import { createHash } from "node:crypto";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseRange } from "../../../src/network/addresses.ts";
import { Passwords } from "../../../src/platform/domain/passwords.ts";
import { systemClock, systemRandom } from "../../../src/platform/ports.ts";
import { Browser, type Visit } from "./support/browser.ts";
import { type EmbeddedPlatform, embeddedPlatform } from "./support/embedded-platform.ts";
import { isSignedIn, signedIn, signIn } from "./support/sign-in.ts";
import { startWithTwoAccounts } from "./support/two-accounts.ts";

const PASSWORD = "correct horse battery";
const MINUTE = 60_000;

const platform = embeddedPlatform();

const saves = ({ action }: { action: string }) => action === "/account/details";

it("the page without any password asks for none, and runs only the script that copies its command", async () => {
  const { text, headers } = await new Browser(platform.baseUrl).get("/sign-in");
  expect(text).not.toContain('type="password"');
  const [[, script] = [], ...others] = [...text.matchAll(/<script>(.*?)<\/script>/gs)];
  expect(others).toEqual([]);
  const hash = createHash("sha256").update(script!).digest("base64");
  expect(headers.get("content-security-policy")).toContain(`script-src 'sha256-${hash}';`);
});

describe("email and password", () => {
  let owner: Browser;

  beforeAll(async () => {
    owner = await signedIn(platform);
    const page = await owner.get("/account");
    const saved = await owner.submit(page, { email: "Ada@Example.com", new_password: PASSWORD }, saves);
    expect(saved.text).toContain("Saved.");
  });

  // Forget earlier guesses.
  beforeEach(() => platform.advance(60 * MINUTE));

  it("sign in regardless of the email's case", async () => {
    const browser = new Browser(platform.baseUrl);
    expect(isSignedIn(await signIn(browser, "ada@example.COM", PASSWORD))).toBe(true);
  });

  it("get the same response for a wrong password and an unknown email", async () => {
    const wrong = await signIn(new Browser(platform.baseUrl), "ada@example.com", "wrong password");
    const unknown = await signIn(new Browser(platform.baseUrl), "eve@example.com", "wrong password");
    const withoutSecrets = ({ text }: Visit) =>
      text.replaceAll(/value="[\w-]{22}"/g, "").replaceAll(/(ada|eve)@example\.com/g, "");
    expect(wrong.status).toBe(401);
    expect(unknown.status).toBe(401);
    expect(withoutSecrets(wrong)).toBe(withoutSecrets(unknown));
  });

  it("cannot be guessed: after 5 failures even the right password waits, while others sign in", async () => {
    const browser = new Browser(platform.baseUrl);
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await signIn(browser, "ada@example.com", `wrong ${attempt}`)).status).toBe(401);
    }
    const rejected = await signIn(browser, "ada@example.com", PASSWORD);
    expect(rejected.status).toBe(429);
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await signIn(browser, "bob@example.com", "wrong")).status).toBe(401);
    platform.advance(Number(rejected.headers.get("retry-after")) * 1000);
    expect(isSignedIn(await signIn(browser, "ada@example.com", PASSWORD))).toBe(true);
  });

  describe("behind a proxy", () => {
    const EMAIL = "owner@other.example";
    let behind: EmbeddedPlatform;
    /** A clock that does not advance, so that the limit does not recover. */
    let elapsed: number;

    beforeEach(async () => {
      elapsed = 0;
      const trustedProxies = [parseRange("127.0.0.1/32")!];
      const clock = { ...systemClock, elapsed: () => elapsed };
      const password = await new Passwords(systemRandom, { logN: 4, r: 8, p: 1 }).hash(PASSWORD);
      ({ platform: behind } = await startWithTwoAccounts({ password, trustedProxies, clock }));
    });
    afterEach(() => behind.close());

    const statusFrom = async (address: string, password: string) => {
      const browser = new Browser(behind.baseUrl);
      browser.headers["X-Forwarded-For"] = address;
      return (await signIn(browser, EMAIL, password)).status;
    };

    it("does not lock a user after guesses from another network", async () => {
      for (let attempt = 0; attempt < 5; attempt++) expect(await statusFrom("203.0.113.1", "wrong")).toBe(401);
      expect(await statusFrom("203.0.113.1", PASSWORD)).toBe(429);
      for (let attempt = 0; attempt < 5; attempt++) {
        expect(await statusFrom(`2001:db8::${attempt}`, "wrong")).toBe(401);
      }
      expect(await statusFrom("2001:db8::ffff", PASSWORD)).toBe(429);
      expect(await statusFrom("203.0.113.2", PASSWORD)).toBe(200);
      expect(await statusFrom("2001:db8:0:1::1", PASSWORD)).toBe(200);
    });

    it("locks a user everywhere after 100 failures from many networks", async () => {
      const guesses = Array.from({ length: 25 }, (_, network) =>
        Promise.all(Array.from({ length: 4 }, () => statusFrom(`198.51.100.${network}`, "wrong"))),
      );
      expect(new Set((await Promise.all(guesses)).flat())).toEqual(new Set([401]));
      expect(await statusFrom("203.0.113.3", PASSWORD)).toBe(429);
      elapsed += 5000;
      expect(await statusFrom("203.0.113.3", PASSWORD)).toBe(200);
    });
  });

  it("limits guesses for many users from one address", async () => {
    const browser = new Browser(platform.baseUrl);
    const visits = await Promise.all(
      Array.from({ length: 12 }, (_, index) => signIn(browser, `nobody${index}@example.com`, "wrong password")),
    );
    expect(visits.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(visits.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  it("does not redirect to another site after the sign-in", async () => {
    const browser = new Browser(platform.baseUrl);
    const page = await browser.get("/sign-in");
    const elsewhere = [
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example/",
      "javascript:alert(1)",
      "/\u2028",
      "/\u{1f600}",
    ];
    for (const next of elsewhere) {
      const fresh = browser.copy();
      const visit = await fresh.submit(page, { email: "ada@example.com", password: PASSWORD, next });
      expect(new URL(visit.url).origin + new URL(visit.url).pathname).toBe(`${platform.baseUrl}/account`);
    }
  });

  it.each([
    ["a short one", "short", "at least 10"],
    ["the email itself", "ada@example.com", "must differ from the email"],
    ["an endless one", "x".repeat(201), "at most 200"],
  ])("rejects a new password: %s", async (_what, password, why) => {
    const browser = await signedIn(platform);
    const form = { email: "ada@example.com", new_password: password };
    const visit = await browser.trySubmit(await browser.get("/account"), form, saves);
    expect(visit.status).toBe(400);
    expect(visit.text).toContain(why);
  });

  it("requires the current password for a change unless the user followed a link", async () => {
    const browser = new Browser(platform.baseUrl);
    const page = await signIn(browser, "ada@example.com", PASSWORD);
    const change = { email: "ada@example.com", new_password: "another good password" };
    expect((await browser.trySubmit(page, change, saves)).status).toBe(403);
    const wrong = await browser.trySubmit(page, { ...change, current_password: "no" }, saves);
    expect(wrong.text).toContain("The current password is wrong.");
    expect(isSignedIn(await signIn(new Browser(platform.baseUrl), "ada@example.com", PASSWORD))).toBe(true);
  });

  it("signs out all other browsers after a new password", async () => {
    const other = await signedIn(platform);
    const browser = await signedIn(platform);
    const change = { email: "ada@example.com", new_password: `${PASSWORD} 2` };
    const saved = await browser.submit(await browser.get("/account"), change, saves);
    expect(saved.text).toContain("Saved.");
    expect(isSignedIn(await browser.get("/account"))).toBe(true);
    expect(isSignedIn(await other.get("/account"))).toBe(false);
    expect((await signIn(new Browser(platform.baseUrl), "ada@example.com", PASSWORD)).status).toBe(401);
    const back = { ...change, new_password: PASSWORD, current_password: change.new_password };
    expect((await browser.submit(await browser.get("/account"), back, saves)).text).toContain("Saved.");
  });

  it("rejects malformed forms on a page", async () => {
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
