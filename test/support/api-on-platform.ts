import { afterAll, beforeAll } from "vitest";
import { type Api, apiOf } from "./api.ts";
import { type ServedPlatform, servePlatform } from "./platform.ts";

/** A platform, and calls of its API with the keys of its first account. */
export interface ApiOnPlatform {
  readonly platform: ServedPlatform;
  /** Calls in the sandbox. */
  readonly api: Api;
  /** Calls in live mode. */
  readonly live: Api;
}

/** Starts a platform before the tests of a file and stops it afterwards. Call it at the top of the file. */
export function apiOnPlatform(): ApiOnPlatform {
  let platform: ServedPlatform;
  beforeAll(async () => {
    platform = await servePlatform();
  });
  afterAll(() => platform.stop());
  return {
    get platform() {
      return platform;
    },
    api: (...call) => apiOf(platform.baseUrl, platform.sandboxKey)(...call),
    live: (...call) => apiOf(platform.baseUrl, platform.liveKey)(...call),
  };
}
