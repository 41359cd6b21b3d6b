import { type Browser, chromium } from "playwright-core";
import { inject, it as anyIt } from "vitest";

const response = await fetch(`${inject("sharedServersUrl")}/browser`);
const endpoint = response.ok ? await response.text() : undefined;

/** `it` for tests in a browser: they are skipped where there is none, which the run has said. */
export const it = anyIt.skipIf(endpoint === undefined);

/** A connection to the run's Chromium. Closing it closes the pages and contexts that it opened. */
export async function startChromium(): Promise<Browser> {
  return await chromium.connect(endpoint!);
}
