import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { it, startChromium } from "../support/chromium.ts";
import { servePlatform, type ServedPlatform } from "../support/platform.ts";

describe("the documentation on a phone", () => {
  let platform: ServedPlatform;
  let browser: Browser | undefined;
  let phone: BrowserContext;
  beforeAll(async () => {
    platform = await servePlatform();
    browser = await startChromium().catch(() => undefined);
    phone = (await browser?.newContext({ viewport: { width: 390, height: 800 }, javaScriptEnabled: false }))!;
  });
  afterAll(async () => {
    await browser?.close();
    await platform.stop();
  });

  const open = async (path: string) => {
    const page = await phone.newPage();
    await page.goto(`${platform.baseUrl}/docs/${path}`);
    return page;
  };

  it("names the column of a number that begins a row", async () => {
    const page = await open("guides/concepts.html");
    const cell = page.locator("td[data-label=Attempt]", { hasText: /^2$/ });
    expect(await cell.boundingBox()).not.toBeNull();
    const label = "getComputedStyle(document.querySelector('td[data-label=Attempt]'), '::before').content";
    expect(await page.evaluate(label)).toContain("Attempt");
  });

  it("breaks no word of a command", async () => {
    const page = await open("guides/using-the-api.html");
    const command = page.locator("pre", { hasText: "node --env-file=.env.local" }).first();
    const { height } = (await command.boundingBox())!;
    expect(height).toBeLessThan(50);
  });

  it("lists the sections of a long page, and opens the dashboard from the menu", async () => {
    const page = await open("guides/errors.html");
    await page.locator("summary").click();
    await page.locator("details").getByRole("link", { name: "Exit codes" }).click();
    await page.waitForURL(/#exit-codes$/);
    await page.getByRole("button", { name: "Menu" }).click();
    expect(await page.locator("#menu").getByRole("link", { name: "Dashboard" }).isVisible()).toBe(true);
  });

  it("changes the theme in the menu", async () => {
    const context = await browser!.newContext({ viewport: { width: 390, height: 800 } });
    const page = await context.newPage();
    await page.goto(`${platform.baseUrl}/docs/guides/tutorial.html`);
    await page.getByRole("button", { name: "Menu" }).click();
    const button = page.locator("#menu").getByRole("button", { name: "Theme: " });
    await button.click();
    expect(await button.textContent()).toBe("Theme: light");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
    await context.close();
  });

  it("scrolls a sample instead of breaking its lines, and shows all languages without scripts", async () => {
    const page = await open("reference/orders.html");
    const samples = page.locator("#createOrder .samples pre");
    const styles =
      "[...document.querySelectorAll('#createOrder .samples pre')].map((one) => getComputedStyle(one).whiteSpace)";
    expect(await page.evaluate(styles)).toEqual(["pre", "pre", "pre", "pre"]);
    for (const sample of await samples.all()) expect(await sample.isVisible()).toBe(true);
  });

  it("says what needs scripts", async () => {
    for (const path of ["guides/errors.html", "reference"])
      expect(await (await open(path)).locator("noscript").isVisible()).toBe(true);
  });
});
