import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { it, startChromium } from "../support/chromium.ts";
import { servePlatform, type ServedPlatform } from "../support/platform.ts";

describe("the search of the documentation", () => {
  let platform: ServedPlatform;
  let browser: Browser | undefined;
  let page: Page;
  beforeAll(async () => {
    platform = await servePlatform();
    browser = await startChromium().catch(() => undefined);
    page = (await browser?.newPage())!;
    await page?.goto(`${platform.baseUrl}/docs/guides/`);
  });
  afterAll(async () => {
    await browser?.close();
    await platform.stop();
  });

  const search = async (words: string) => {
    await page.locator("#search input").fill(words);
    return page.locator("#search ol a").first();
  };

  it("says what kind of page each result is", async () => {
    await search("idempotency key");
    const kinds = page.locator("#search ol a .kind");
    await expect
      .poll(() => kinds.allTextContents())
      .toEqual(expect.arrayContaining(["Guide", "API", "Error", "Command"]));
    await search("what is a listener");
    await expect.poll(() => page.locator("#search ol a").first().getAttribute("href")).toBe("glossary.html#listener");
    await page.locator("#search ol a").first().click();
    expect(await page.locator("p:target").textContent()).toContain("receives sandbox events");
  });

  it("shows sections with some of the words if none has all", async () => {
    await search("kubernetes blorptastic");
    await page.getByText("No section has all of these words").waitFor();
    expect(await page.locator("#search ol a").first().getAttribute("href")).toBe("deploying.html#kubernetes");
  });

  it("replaces no short word with one that differs in several letters", async () => {
    await search("floks");
    await page.getByText("No matches").waitFor();
    expect(await page.locator("#search ol a").count()).toBe(0);
  });

  it("offers pages to look at when nothing matches", async () => {
    await search("zzzz");
    await page.locator("#search [role=status]").getByRole("link", { name: "Commands" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/docs\/guides\/troubleshooting\.html$/);
  });
});
