import { afterAll, beforeAll, expect } from "vitest";
import type { Browser } from "../../oauth/support/browser.ts";
import { type ServedPlatform, servePlatform } from "../../support/platform.ts";
import { makeConfigDir } from "../../support/run-cli.ts";
import { decide, followRedirect, loginEnv, type RunningLogin, signedInPerson, startLogin } from "./running-login.ts";

/** A platform, its owner's browser, and how the two sign the command in. */
export interface OwnedPlatform {
  readonly platform: ServedPlatform;
  readonly person: Browser;
  /** Starts `service login` up to the address that a browser opens. */
  readonly begin: (args?: readonly string[], dir?: string) => Promise<RunningLogin>;
  /** The owner allows it, and the command ends well. */
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
