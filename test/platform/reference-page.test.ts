import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { EVENT_TYPES } from "../../src/contract/event-types.ts";
import { it, startChromium } from "../support/chromium.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";

let platform: ServedPlatform;
let browser: Browser;
let page: Page;
/** What the browser complained about: scripts' errors, and what the page's policy forbade. */
const complaints: string[] = [];
/** Every address that was asked for. */
const asked: string[] = [];

beforeAll(async () => {
  [platform, browser] = await Promise.all([servePlatform(), startChromium()]);
  // One page for all tests: to draw it takes a browser seconds.
  page = await browser.newPage({ colorScheme: "light" });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(`${platform.baseUrl}/docs`);
  await page.locator("#operations-Customers-createCustomer").waitFor();
});
afterAll(() => Promise.all([platform.stop(), browser.close()]));

describe("the API reference", () => {
  it("shows every operation of the document, loads nothing from elsewhere, and breaks no rule of its policy", async () => {
    const document = (await (await fetch(`${platform.baseUrl}/openapi.json`)).json()) as { paths: object };
    const count = Object.values(document.paths).flatMap((path: object) => Object.keys(path)).length;
    expect(await page.locator(".opblock").count()).toBe(count + EVENT_TYPES.length);
    await page.locator("#operations-Customers-createCustomer .opblock-summary-control").first().click();
    await page.getByRole("listitem").getByText("Email already in use").waitFor();
    expect(complaints).toEqual([]);
    expect(asked.filter((url) => !url.startsWith(platform.baseUrl) && !url.startsWith("data:"))).toEqual([]);
    expect(asked.filter((url) => url.endsWith("/openapi.json"))).toHaveLength(1);
  });

  it("shows what webhook endpoints are sent, for each type of event", async () => {
    const webhooks = page.locator(".webhooks .opblock");
    expect(await webhooks.locator(".opblock-summary-path").allTextContents()).toEqual([...EVENT_TYPES]);
    const completed = webhooks.filter({ hasText: "order.completed" });
    await completed.locator(".opblock-summary-control").click();
    await completed.getByText("Service-Signature").waitFor();
    const payload = JSON.parse((await completed.locator(".body-param__example").textContent())!);
    expect(payload).toMatchObject({ type: "order.completed", data: { object: { status: "completed" } } });
  });

  it("sends a request that is tried, with the credential that was given", async () => {
    await page.locator(".btn.authorize").click();
    const field = page.locator(".modal-ux input").first();
    await field.fill(platform.sandboxKey);
    await page.locator(".modal-ux .btn.authorize").first().click();
    await page.locator(".modal-ux .btn-done").first().click();
    const operation = page.locator("#operations-Identity-getIdentity");
    await operation.locator(".opblock-summary-control").click();
    await operation.locator(".try-out__btn").click();
    await operation.locator(".execute").click();
    await operation.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
    expect(await operation.locator(".live-responses-table").textContent()).toContain(platform.ready.account);
    expect(complaints).toEqual([]);
  });

  it("follows the system's colours", async () => {
    const backgrounds: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      backgrounds.push(await page.evaluate("getComputedStyle(document.documentElement).backgroundColor"));
    }
    expect(backgrounds).toEqual(["rgb(255, 255, 255)", "rgb(28, 32, 34)"]);
  });
});

describe("its files", () => {
  it("are kept by browsers for good, under names that change with them", async () => {
    const page = await (await fetch(`${platform.baseUrl}/docs`)).text();
    const urls = [...page.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, url]) => url!);
    expect(urls).toHaveLength(2);
    for (const url of urls) {
      const zipped = await fetch(platform.baseUrl + url);
      const plain = await fetch(platform.baseUrl + url, { headers: { "Accept-Encoding": "identity" } });
      expect(zipped.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(zipped.headers.get("content-type")).toMatch(url.endsWith(".css") ? /^text\/css/ : /^text\/javascript/);
      expect(zipped.headers.get("content-encoding")).toBe("gzip");
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(await plain.text()).toBe(await zipped.text());
      expect((await fetch(`${platform.baseUrl}${url}x`)).status).toBe(404);
    }
  });

  it("come under a policy that allows nothing from elsewhere and no inline script but the page's own", async () => {
    const policy = (await fetch(`${platform.baseUrl}/docs`)).headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });
});
