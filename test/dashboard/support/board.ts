import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { requestSignInLink } from "../../../src/platform/admin.ts";
import { systemClock } from "../../../src/platform/ports.ts";
import type { PlatformSettings } from "../../../src/platform/start.ts";
import { type EmbeddedPlatform, startEmbedded } from "../../platform/oauth/support/embedded-platform.ts";
import { type Api, apiOf } from "../../support/api.ts";
import { startChromium } from "../../support/chromium.ts";
import { PATIENCE } from "../../support/patience.ts";

const BUILT = fileURLToPath(new URL("../../../dist/dashboard/", import.meta.url));

/** A platform with its dashboard, and a browser in which the owner is signed in. */
export interface Board {
  platform: EmbeddedPlatform;
  api: Api;
  page: Page;
  /** Errors in the browser's console, and violations of the content policy. */
  complaints: string[];
  /** Opens a page from the menu. */
  menu(name: string): Promise<void>;
  /** Navigates to a page of the dashboard without a page load. */
  show(path: string): Promise<void>;
  /** Opens the search for everything, and waits until it receives the keys. */
  openPalette(): Promise<void>;
  /** Chooses an item of the page's menu. */
  choose(item: string): Promise<void>;
  /** Reloads the overview, which clears cached responses and closes dialogs. */
  restart(): Promise<void>;
  /** Signs the owner in with another browser. */
  signInElsewhere(): Promise<BrowserContext>;
  close(): Promise<void>;
}

export async function openBoard(settings: Partial<PlatformSettings> = {}): Promise<Board> {
  const [platform, browser] = await Promise.all([
    // Pages compare its times with those of the browser.
    startEmbedded({ dashboard: BUILT, allowPrivateTargets: true, clock: systemClock, ...settings }),
    startChromium(),
  ]);
  const complaints: string[] = [];
  const signIn = async (link: string) => {
    const context = await newContext(browser, platform.baseUrl);
    const page = await context.newPage();
    page.on("pageerror", ({ message }) => complaints.push(message));
    // The page itself shows rejected calls.
    page.on("console", (message) => {
      if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
        complaints.push(message.text());
    });
    await page.goto(link);
    return { context, page };
  };
  const { page } = await signIn(platform.signInUrl);
  return {
    platform,
    api: apiOf(platform.baseUrl, platform.sandboxKey),
    page,
    complaints,
    menu: (name) => page.locator("#menu").getByRole("link", { name, exact: true }).click(),
    async show(path) {
      const address = JSON.stringify(`/dashboard/${path}`);
      await page.evaluate(`history.pushState(null, "", ${address}); dispatchEvent(new PopStateEvent("popstate"))`);
    },
    async openPalette() {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").and(page.locator(":focus")).waitFor();
    },
    async choose(item) {
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("menuitem", { name: item }).click();
    },
    async restart() {
      await page.goto(`${platform.baseUrl}/dashboard/sandbox`);
      await page.locator("#menu").waitFor();
    },
    async signInElsewhere() {
      return (await signIn((await requestSignInLink(platform.database)).sign_in_url)).context;
    },
    async close() {
      await browser.close();
      await platform.close();
    },
  };
}

async function newContext(browser: Browser, origin: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  context.setDefaultTimeout(PATIENCE);
  return context;
}
