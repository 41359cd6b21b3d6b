import { afterAll, beforeAll, expect } from "vitest";
import type { Browser } from "../../oauth/support/browser.ts";
import { type ServedPlatform, servePlatform } from "../../support/platform.ts";
import { makeConfigDir } from "../../support/run-cli.ts";
import { decide, followRedirect, loginEnv, type RunningLogin, signedInPerson, startLogin } from "./running-login.ts";

/** A platform and its owner's browser, to sign the CLI in. */
export interface OwnedPlatform {
  readonly platform: ServedPlatform;
  readonly person: Browser;
  /** Starts `service login` and resolves with the URL for the browser. */
  readonly begin: (args?: readonly string[], dir?: string) => Promise<RunningLogin>;
  /** Approves the sign-in, and waits for the command to succeed. */
  readonly finish: (login: RunningLogin) => Promise<void>;
}

/** For all tests of a file, started before and stopped after them. Call it at the top of the file. */
export function ownedPlatform(): OwnedPlatform {
  let platform: ServedPlatform;
  let person: Browser;
  beforeAll(async () => {
    platform = await servePlatform();
    person = await signedInPerson(platform);
  });
  afterAll(() => platform.stop());

  return {
    get platform() {
      return platform;
    },
    get person() {
      return person;
    },
    begin: (args = [], dir = makeConfigDir()) => startLogin(["--no-browser", ...args], loginEnv(platform, dir)),
    async finish(login) {
      await followRedirect(await decide(person, login.announcement.authorization_url!, "approve"));
      expect(await login.ended).toMatchObject({ exitCode: 0 });
    },
  };
}
