import { afterAll, beforeAll } from "vitest";
import type { Browser } from "../../oauth/support/browser.ts";
import { type RunningPlatform, startPlatform } from "../../support/platform.ts";
import { signedInPerson } from "./running-login.ts";

/** A platform, and its owner's browser. */
export interface OwnedPlatform {
  readonly platform: RunningPlatform;
  readonly person: Browser;
}

/** For all tests of a file, started before and stopped after them. Call it at the top of the file. */
export function ownedPlatform(): OwnedPlatform {
  let platform: RunningPlatform;
  let person: Browser;
  beforeAll(async () => {
    platform = await startPlatform();
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
  };
}
