import { afterAll, beforeAll, expect } from "vitest";
import type { Browser } from "../../platform/oauth/support/browser.ts";
import { type ServedPlatform, servePlatform } from "../../support/platform.ts";
import { createConfigDir } from "../../support/run-cli.ts";
import { decide, followRedirect, loginEnv, type RunningLogin, signedInUser, startLogin } from "./running-login.ts";

/** A platform and its owner's browser, for signing the CLI in. */
export interface OwnedPlatform {
  readonly platform: ServedPlatform;
  readonly user: Browser;
  /** Starts `service login` and resolves with the URL for the browser. */
  readonly begin: (args?: readonly string[], dir?: string) => Promise<RunningLogin>;
  /** Approves the sign-in and waits until the command succeeds. */
  readonly finish: (login: RunningLogin) => Promise<void>;
}

/** Starts both before the tests of a file and stops them afterwards. Call it at the top of the file. */
export function ownedPlatform(): OwnedPlatform {
  let platform: ServedPlatform;
  let user: Browser;
  beforeAll(async () => {
    platform = await servePlatform();
    user = await signedInUser(platform);
  });
  afterAll(() => platform.stop());

  return {
    get platform() {
      return platform;
    },
    get user() {
      return user;
    },
    begin: (args = [], dir = createConfigDir()) => startLogin(["--no-browser", ...args], loginEnv(platform, dir)),
    async finish(login) {
      await followRedirect(await decide(user, login.announcement.authorization_url!, "approve"));
      expect(await login.ended).toMatchObject({ exitCode: 0 });
    },
  };
}
