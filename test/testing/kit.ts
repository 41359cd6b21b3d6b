import type * as testing from "../../src/testing/index.ts";

export const BUILT = new URL("../../dist/testing/index.js", import.meta.url).href;

/** `service-cli/testing`, as built. */
export const { startPlatform, PlatformError } = (await import(BUILT)) as typeof testing;
