import { afterAll, beforeAll } from "vitest";
import type * as testing from "../../src/testing/index.ts";

export const BUILT = new URL("../../dist/testing/index.js", import.meta.url).href;

/** `service-cli/testing`, as built. */
export const { startPlatform, PlatformError } = (await import(BUILT)) as typeof testing;

/** Starts a platform before the tests of a file and closes it afterwards. Call it at the top of the file. */
export function kitPlatform(): testing.Platform {
  let platform: testing.Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.close());
  return new Proxy({} as testing.Platform, { get: (_target, name) => Reflect.get(platform, name) as unknown });
}
