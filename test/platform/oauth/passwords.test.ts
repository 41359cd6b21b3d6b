import { scryptSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Passwords } from "../../../src/platform/domain/passwords.ts";
import { Connection } from "../../../src/platform/storage/sqlite/connection.ts";
import { loadSqlite } from "../../../src/platform/storage/sqlite/runtime.ts";
import { systemRandom } from "../../../src/platform/ports.ts";
import { Browser } from "./support/browser.ts";
import type { EmbeddedPlatform } from "./support/embedded-platform.ts";
import { startWithTwoAccounts } from "./support/two-accounts.ts";

const PASSWORD = "correct horse battery";

/** A hash of an earlier version with half the cost. */
function olderHash(): string {
  const salt = Buffer.alloc(16, 7);
  const hash = scryptSync(PASSWORD, salt, 32, { N: 2 ** 14, r: 8, p: 3 });
  return ["scrypt", 14, 8, 3, salt.toString("base64"), hash.toString("base64")].join("$");
}

const passwords = new Passwords(systemRandom);

describe("a password hash", () => {
  it("matches only its password, and differs each time", async () => {
    const [one, two] = await Promise.all([passwords.hash(PASSWORD), passwords.hash(PASSWORD)]);
    expect(one).not.toBe(two);
    expect(await passwords.verify(PASSWORD, one)).toBe(true);
    expect(await passwords.verify(`${PASSWORD} `, one)).toBe(false);
    expect(await passwords.verify("", null)).toBe(false);
    expect(await passwords.verify("", "scrypt$15$8$3$AAAA")).toBe(false);
  });

  it("matches the same characters in another Unicode normalization form", async () => {
    expect(await passwords.verify("caf\u00e9 caf\u00e9", await passwords.hash("cafe\u0301 cafe\u0301"))).toBe(true);
  });

  it("of an earlier version still matches, and is recognized as outdated", async () => {
    expect(await passwords.verify(PASSWORD, olderHash())).toBe(true);
    expect(passwords.isOutdated(olderHash())).toBe(true);
    expect(passwords.isOutdated(await passwords.hash(PASSWORD))).toBe(false);
  });
});

describe("at sign-in", () => {
  let platform: EmbeddedPlatform;

  beforeAll(async () => {
    ({ platform } = await startWithTwoAccounts({ password: olderHash(), passwordCost: undefined }));
  });
  afterAll(() => platform.close());

  it("an outdated hash is replaced", async () => {
    const browser = new Browser(platform.baseUrl);
    const form = { email: "owner@other.example", password: PASSWORD };
    expect((await browser.submit(await browser.get("/sign-in"), form)).text).toContain("Signed in as");
    const file = new Connection(await loadSqlite(), platform.database, { readOnly: true });
    const row = file.get("SELECT password FROM users WHERE email = 'owner@other.example'");
    file.close();
    expect(passwords.isOutdated(String(row!["password"]))).toBe(false);
    const again = new Browser(platform.baseUrl);
    expect((await again.submit(await again.get("/sign-in"), form)).text).toContain("Signed in as");
  });
});
