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

  it("finds what readers call by another name", async () => {
    for (const [words, expected] of [
      ["ngrok", /^concepts.html#forwarding-to-localhost$/],
      ["expose localhost", /^concepts.html#forwarding-to-localhost$/],
      ["webhook.site", /^commands-webhooks.html#service-webhooks-capture$/],
      ["flask", /^frameworks.html#/],
      ["django", /^frameworks.html#python$/],
      ["php", /^frameworks.html#php$|#verify-signatures$/],
      ["ruby on rails", /^frameworks.html#ruby$|#verify-signatures$/],
      ["java", /^receiving-webhooks.html#verify-signatures$/],
      ["cypress", /^test-states.html#/],
      ["playwright", /^testing.html#testing-an-application$/],
      ["mock server", /^testing.html#testing-an-application$/],
      ["simulate event", /^commands-trigger.html#service-trigger$/],
      ["how to simulate an event", /^commands-trigger.html#service-trigger$/],
      ["event types", /^concepts.html#event-types$|^\/docs\/reference#events$/],
      ["list of event types", /^concepts.html#event-types$|^\/docs\/reference#events$/],
      ["time travel", /^concepts.html#the-test-clock$/],
      ["reset database", /^commands-sandbox.html#service-sandbox-reset$/],
      ["how do I get an api key", /^authentication.html#api-keys$/],
      ["ip whitelist", /^commands-keys.html#service-keys-create$/],
      ["dead letter", /^concepts.html#deliveries$/],
      ["ECONNRESET", /^troubleshooting.html#cannot-reach-the-platform-exit-code-7$/],
      ["EADDRINUSE", /^troubleshooting.html#the-port-is-in-use$/],
      ["custom domain", /^deploying.html#behind-a-proxy$/],
      ["javascript sdk", /^clients.html#generate-a-client$/],
      ["swagger", /^clients.html#generate-a-client$/],
      ["resend webhook", /^concepts.html#replays$/],
      ["go live", /^concepts.html#from-the-sandbox-to-live-mode$/],
      ["gitlab ci", /^testing-receivers.html#/],
    ] as const) {
      const first = await search(words);
      await expect.poll(() => first.getAttribute("href", { timeout: 1000 }).catch(() => words)).toMatch(expected);
    }
  });

  it("leads to the troubleshooting of what does not work", async () => {
    for (const [words, expected] of [
      ["webhook not arriving", /#listen-connects-but-no-events-arrive$|#an-endpoint-gets-no-deliveries$/],
      ["webhooks do not arrive", /#listen-connects-but-no-events-arrive$|#an-endpoint-gets-no-deliveries$/],
      ["my webhook is not received", /#listen-connects-but-no-events-arrive$|#an-endpoint-gets-no-deliveries$/],
      ["why is my webhook not received?", /#listen-connects-but-no-events-arrive$|#an-endpoint-gets-no-deliveries$/],
      ["signature verification failed", /#the-signature-does-not-match$/],
      ["browser doesn't open", /#the-browser-does-not-open$/],
    ] as const) {
      const first = await search(words);
      await expect.poll(() => first.getAttribute("href", { timeout: 1000 }).catch(() => words)).toMatch(expected);
    }
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
