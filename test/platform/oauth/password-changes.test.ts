import type crypto from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ENGINES } from "../storage/test-database.ts";
import { type PostgresServer, usePostgres } from "../../support/postgres.ts";
import { Browser } from "./support/browser.ts";
import { type EmbeddedPlatform, startEmbedded } from "./support/embedded-platform.ts";
import { isSignedIn, signIn } from "./support/sign-in.ts";

/** Holds the next check of a password until it is released, as a slow machine would. */
const slow = vi.hoisted(() => {
  let held: { begun: () => void; released: Promise<void> } | undefined;
  return {
    hold() {
      let release!: () => void;
      let begun!: () => void;
      const isBegun = new Promise<void>((resolve) => (begun = resolve));
      held = { begun, released: new Promise<void>((resolve) => (release = resolve)) };
      return { isBegun, release };
    },
    take() {
      const taken = held;
      held = undefined;
      return taken;
    },
  };
});

vi.mock("node:crypto", async (load) => {
  const original = await load<typeof crypto>();
  const scrypt = (...[password, salt, bytes, options, done]: Required<Parameters<typeof original.scrypt>>) => {
    const hold = slow.take();
    hold?.begun();
    void (hold?.released ?? Promise.resolve()).then(() => original.scrypt(password, salt, bytes, options, done));
  };
  return { ...original, scrypt };
});

const OLD = "the old password";
const NEW = "the new password";
const EMAIL = "owner@example.com";
const saves = ({ action }: { action: string }) => action === "/account/details";

describe.each(ENGINES)("a change of the password on %s", (engine) => {
  let server: (PostgresServer & { remove(): Promise<void> }) | undefined;
  let platform: EmbeddedPlatform;
  let owner: Browser;

  beforeEach(async () => {
    server = engine === "PostgreSQL" ? await usePostgres() : undefined;
    platform = await startEmbedded(server && { database: await server.createDatabase(), masterKey: "5a".repeat(32) });
    owner = new Browser(platform.baseUrl);
    await owner.get(platform.signInUrl);
    expect((await change(owner, { new_password: OLD })).text).toContain("Saved.");
  });
  afterEach(async () => {
    await platform.close();
    await server?.remove();
  });

  const change = async (browser: Browser, fields: Record<string, string>) =>
    browser.trySubmit(await browser.get("/account"), { email: EMAIL, ...fields }, saves);

  it("rejects a sign-in with the old password that began earlier", async () => {
    const { isBegun, release } = slow.hold();
    const signingIn = signIn(new Browser(platform.baseUrl), EMAIL, OLD);
    await isBegun;
    expect((await change(owner, { current_password: OLD, new_password: NEW })).text).toContain("Saved.");
    release();
    const visit = await signingIn;
    expect([visit.status, isSignedIn(visit)]).toEqual([401, false]);
    expect(isSignedIn(await owner.get("/account"))).toBe(true);
  });

  it("rejects another change that began earlier", async () => {
    const other = new Browser(platform.baseUrl);
    expect(isSignedIn(await signIn(other, EMAIL, OLD))).toBe(true);
    const { isBegun, release } = slow.hold();
    const changing = change(other, { current_password: OLD, new_password: "a third password" });
    await isBegun;
    expect((await change(owner, { current_password: OLD, new_password: NEW })).text).toContain("Saved.");
    release();
    expect((await changing).status).toBe(403);
    expect(isSignedIn(await other.get("/account"))).toBe(false);
    expect(isSignedIn(await signIn(new Browser(platform.baseUrl), EMAIL, NEW))).toBe(true);
  });
});
