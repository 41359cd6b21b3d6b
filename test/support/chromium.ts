import { type Browser, chromium } from "playwright-core";
import { inject, it as anyIt } from "vitest";

const response = await fetch(`${inject("sharedServersUrl")}/browser`);
const endpoint = response.ok ? await response.text() : undefined;

/** `it` for tests in a browser. They are skipped if there is none, which the run reports. */
export const it = anyIt.skipIf(endpoint === undefined);

/** Connects to the run's Chromium. Closing the connection closes the pages and contexts that it opened. */
export async function startChromium(): Promise<Browser> {
  return await chromium.connect(endpoint!);
}
