import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERRORS } from "../../src/contract/errors.ts";
import { it as inChromium, startChromium } from "../support/chromium.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { runCli } from "../support/run-cli.ts";

let platform: ServedPlatform;
beforeAll(async () => {
  platform = await servePlatform();
});
afterAll(() => platform.stop());

const MAX_PAGE_BYTES = 100 * 1024;

describe("the guides at /docs/guides", () => {
  let browser: Browser | undefined;
  let page: Page;
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await startChromium().catch(() => undefined);
    if (browser === undefined) return;
    page = await browser.newPage();
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
  });
  afterAll(async () => {
    await browser?.close();
    expect(complaints).toEqual([]);
  });

  it("are what `service open docs` opens", async () => {
    const env = { SERVICE_BASE_URL: platform.baseUrl };
    const { stdout } = await runCli(["open", "docs", "--no-browser"], { env });
    const response = await fetch(stdout.trim());
    expect(response.url).toBe(`${platform.baseUrl}/docs/guides/`);
    expect(await response.text()).toContain('<h1 id="documentation">Documentation</h1>');
  });

  it("write commands in the text as readers can run them, like the reference and the pages of errors", async () => {
    const textOf = async (path: string) => (await fetch(platform.baseUrl + path)).text();
    const home = await textOf("/docs/guides/");
    const guides = [...home.matchAll(/href="([\w-]+\.html)"/g)].map(([, name]) => `/docs/guides/${name}`);
    const problems = Object.keys(ERRORS).map((code) => `/problems/${code}`);
    const texts = await Promise.all([...new Set(guides), ...problems, "/docs/reference"].map(textOf));
    const prose = texts.join("").replaceAll(/<(h[1-4])\b.*?<\/\1>|<\/?span[^>]*>/gs, "");
    expect(prose.match(/<code>service [^<]*/g)).toBeNull();
    expect(prose).toContain("<code>npx service-cli why &lt;id&gt;</code>");
  });

  it("show the lines of an error's response as they are sent", async () => {
    for (const code of Object.keys(ERRORS)) {
      const text = await (await fetch(`${platform.baseUrl}/problems/${code}`)).text();
      expect(text, code).toMatch(/<code>HTTP\/1\.1 \d{3} [\w ]+\nContent-Type: application\/problem\+json\n\n\{\n/);
    }
  });

  it("have descriptions that end with a sentence, and menus without empty groups", () => {
    const folder = new URL("../../dist/dashboard/guides/", import.meta.url);
    const pages = readdirSync(folder).filter((name) => name.endsWith(".html"));
    const descriptions = pages.map((name) => {
      const text = readFileSync(new URL(name, folder), "utf8");
      expect(text, name).not.toMatch(/<ul>\s*<\/ul>\s*<\/li>/);
      return [name, / name="description" content="([^"]*)"/.exec(text)?.[1] ?? ""] as const;
    });
    expect(
      descriptions.filter(([, text]) => text.length > 200 || (text.length > 120 && !/[.!?…]$/.test(text))),
    ).toEqual([]);
  });

  it("are sent again only after a change", async () => {
    const url = `${platform.baseUrl}/docs/guides/tutorial.html`;
    const tag = (await fetch(url)).headers.get("etag")!;
    expect((await fetch(url, { headers: { "If-None-Match": tag } })).status).toBe(304);
  });

  it("return 404 for an unknown page", async () => {
    const response = await fetch(`${platform.baseUrl}/docs/guides/..%2fpackage.json`);
    expect([response.status, await response.json()]).toEqual([404, expect.objectContaining({ code: "not_found" })]);
  });

  it("return a page with the menu for an unknown page in a browser", async () => {
    const response = await fetch(`${platform.baseUrl}/docs/guides/unknown`, { headers: { Accept: "text/html" } });
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('href="tutorial.html"')]);
  });

  it.each([
    ["tutorial", "tutorial.html"],
    ["README.md", "index.html"],
    ["README.html", "index.html"],
    ["../tutorial", "tutorial.html"],
    ["../commands", "commands.html"],
  ])("redirect %s to %s", async (name, target) => {
    const { status, url } = await fetch(`${platform.baseUrl}/docs/guides/${name}`);
    expect([status, url]).toEqual([200, `${platform.baseUrl}/docs/guides/${target}`]);
  });

  it("are Markdown at the same address with .md, whose links lead to Markdown", async () => {
    const readText = async (name: string) => {
      const response = await fetch(`${platform.baseUrl}/docs/guides/${name}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/markdown; charset=utf-8"]);
      return response.text();
    };
    expect(await readText("commands-listen.md")).toMatch(/^## service listen\n/);
    const tutorial = await readText("tutorial.md");
    expect(tutorial).toMatch(/^# Tutorial/);
    expect(tutorial).not.toMatch(/^```\w+ /m);
    const linked = [...tutorial.matchAll(/\]\(([\w-]+\.md)/g)].map(([, name]) => name!);
    expect(linked.length).toBeGreaterThan(5);
    await Promise.all(linked.map(readText));
  });

  inChromium("copy the Markdown of the page", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${platform.baseUrl}/docs/guides/glossary.html`);
    await page.getByRole("button", { name: "Copy page" }).click();
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^# Glossary\n/);
  });

  it.each(["/docs/reference", "/docs/guides/", "/docs/guides/style.css", "/docs/guides/listen.svg"])(
    "are compressed: %s",
    async (path) => {
      const { headers } = await fetch(platform.baseUrl + path, { headers: { "Accept-Encoding": "gzip" } });
      expect([headers.get("content-encoding"), headers.get("vary")]).toEqual(["gzip", "Accept-Encoding"]);
    },
  );

  inChromium("can be searched together with commands, API and errors", async () => {
    await page.goto(`${platform.baseUrl}/docs/guides/tutorial.html`);
    const results = page.locator("#search ol a");
    for (const [words, expected] of [
      ["raw body", "receiving-webhooks.html"],
      ["service webhooks check", "commands-webhooks.html"],
      ["cancel delivery", "/docs/reference/deliveries.html#cancelDelivery"],
      ["idempotency_key_reused", "errors.html#idempotency_key_reused"],
      ["install", "quick-start.html#install"],
      ["quick start", "quick-start.html#quick-start"],
      ["ECONNREFUSED", "troubleshooting.html"],
      ["payment.failed", "/docs/reference/webhooks-payment.html#onPaymentFailed"],
      ["port in use", "troubleshooting.html"],
      ["retry schedule", "receiving-webhooks.html#deliveries"],
    ] as const) {
      await page.keyboard.press("/");
      await page.locator("#search input").fill(words);
      await expect
        .poll(() => results.evaluateAll((links) => links.map((link) => link.getAttribute("href"))))
        .toContainEqual(expect.stringContaining(expected));
    }
    await page.locator("#search input").fill("service webhooks check");
    await results.first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/commands-webhooks\.html#/);
    await page.locator("#search input").fill("zzzz");
    await page.getByText("No matches").waitFor();
    // Below its message, not under it.
    await page.locator("#search input").fill("idempotncy");
    const message = await page.getByText("No matches. Showing results for “idempotency”").boundingBox();
    const first = await results.first().boundingBox();
    expect(first!.y).toBeGreaterThanOrEqual(message!.y + message!.height);
  });

  inChromium("have the same search and header on the pages of the API reference", async () => {
    await page.goto(`${platform.baseUrl}/docs/reference/orders.html`);
    await page.locator("#search input").fill("raw body");
    await page.locator('#search ol a[href*="receiving-webhooks.html"]').first().click();
    await page.waitForURL(/\/docs\/guides\/receiving-webhooks\.html#/);
    const header = async () => page.locator("header nav a").allTextContents();
    const guides = await header();
    await page.getByRole("navigation", { name: "Site" }).getByRole("link", { name: "API" }).click();
    await page.waitForURL(/\/docs\/reference$/);
    expect(await header()).toEqual(guides);
  });

  inChromium("have an anchor for each error code", async () => {
    await page.goto(`${platform.baseUrl}/docs/guides/errors.html`);
    for (const code of [...Object.keys(ERRORS), "signature_mismatch", "connection_refused"])
      expect(await page.locator(`[id="${code}"]`).count(), code).toBe(1);
    await page.locator("#email_taken a").first().click();
    await page.waitForURL(/\/problems\/email_taken$/);
  });

  inChromium("appear in search results with the found words marked", async () => {
    await page.goto(`${platform.baseUrl}/docs/guides/tutorial.html`);
    await page.locator("#search input").fill("--chaos");
    const first = page.locator("#search ol a").first();
    await expect.poll(() => first.locator("mark").first().textContent()).toBe("--chaos");
    await page.locator("#search input").fill("retry schedule");
    await expect.poll(() => first.locator("strong mark").allTextContents()).toEqual(["Retry", "schedule"]);
  });

  it("have one title each, with the name of a command as in the menu", () => {
    const folder = new URL("../../dist/dashboard/guides/", import.meta.url);
    const pages = readdirSync(folder).filter((name) => name.endsWith(".html"));
    const titles = pages.map((name) => {
      const found = readFileSync(new URL(name, folder), "utf8").matchAll(/<h1\b[^>]*>(.*?)<\/h1>/gs);
      return [name, ...[...found].map(([, title]) => title)];
    });
    expect(titles.filter((title) => title.length !== 2)).toEqual([]);
    expect(titles).toContainEqual(["commands-listen.html", "listen"]);
  });

  inChromium("copy one example of a command, without its comment", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${platform.baseUrl}/docs/guides/commands-serve.html`);
    const example = page.locator(".caption", { hasText: "A platform for one test run:" }).locator("+ .block");
    await example.getByRole("button", { name: "Copy" }).click();
    await example.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("npx service-cli serve --ephemeral --port 0\n");
  });

  inChromium("show no button above code, and break long examples as the help does", async () => {
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      for (const name of ["commands-orders.html", "commands-webhooks.html", "providers.html"]) {
        await page.goto(`${platform.baseUrl}/docs/guides/${name}`);
        await page.locator(".block button").first().waitFor();
        const covered = await page.evaluate(`[...document.querySelectorAll(".block")].filter((block) => {
          const [code, button] = ["pre", "button"].map((part) => block.querySelector(part).getBoundingClientRect());
          return code.right > button.left && code.top < button.bottom && button.top < code.bottom;
        }).length`);
        expect(covered, `${name} at ${width}`).toBe(0);
      }
    }
    await page.goto(`${platform.baseUrl}/docs/guides/commands-orders.html`);
    expect(await page.locator(".block pre").allTextContents()).toContainEqual(
      expect.stringMatching(/ \\\n {4}--customer cus_/),
    );
  });

  inChromium("copy code, and link each heading", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${platform.baseUrl}/docs/guides/tutorial.html`);
    const block = page.locator(".block", { hasText: "trigger order.completed" });
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("npx service-cli trigger order.completed\n");
    await page.locator("h2", { hasText: "5. Fix it" }).hover();
    await page.getByRole("link", { name: "Link to 5. Fix it" }).click();
    await page.waitForURL(/#5-fix-it$/);
    await page.getByRole("navigation", { name: "On this page" }).getByText("Ask why").click();
    await page.waitForURL(/#4-ask-why$/);
  });

  inChromium(
    "list the commands beside each of them, and give the defaults of flags no more space than they need",
    async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${platform.baseUrl}/docs/guides/commands-serve.html`);
      const menu = page.getByRole("navigation", { name: "Commands" });
      expect(await menu.locator("[aria-current=page]").allTextContents()).toEqual(["serve"]);
      const heading = await page.getByRole("columnheader", { name: "Default", exact: true }).first().boundingBox();
      expect(heading!.width).toBeLessThan(150);
      expect(await page.locator('[id="service-serve--ephemeral"]').textContent()).toContain("--ephemeral");
      await menu.getByRole("link", { name: "payments" }).click();
      await page.waitForURL(/commands-payments\.html$/);
    },
  );

  inChromium("have a menu on a phone, even without scripts", async () => {
    const context = await browser!.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
    const phone = await context.newPage();
    await phone.goto(`${platform.baseUrl}/docs/guides/tutorial.html`);
    const item = phone.getByRole("link", { name: "Troubleshooting" });
    expect(await item.isVisible()).toBe(false);
    await phone.getByRole("button", { name: "Menu" }).click();
    await item.click();
    await phone.waitForURL(/troubleshooting\.html$/);
    await context.close();
  });

  it("have search results without markup", async () => {
    const entries = (await (await fetch(`${platform.baseUrl}/docs/guides/search.json`)).json()) as { words: string }[];
    expect(entries.filter(({ words }) => words.includes("`"))).toEqual([]);
  });

  inChromium("show each line of a program as one line, and no flag in two lines", async () => {
    /** Returns the pieces of code that are in more than one line. */
    const broken = async (name: string, width: number, code: string, piece: RegExp) => {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${platform.baseUrl}/docs/guides/${name}`);
      await page.locator("#search input").waitFor();
      return page.evaluate(`(() => {
        const found = [];
        for (const part of document.querySelectorAll(${JSON.stringify(code)})) {
          const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
          for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
            for (const { 0: piece, index } of text.data.matchAll(${piece})) {
              const range = document.createRange();
              range.setStart(text, index);
              range.setEnd(text, index + piece.length);
              if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(piece);
            }
          }
        }
        return found;
      })()`);
    };
    expect(await broken("quick-start.html", 1280, "pre .language-js", /.+/g)).toEqual([]);
    expect(await broken("tutorial.html", 1280, "pre .language-js", /.+/g)).toEqual([]);
    expect(await broken("stripe-cli.html", 390, ":is(p, li) code", /--[\w-]+/g)).toEqual([]);
    expect(await broken("quick-start.html", 1280, ":is(p, li) code", /npm ci/g)).toEqual([]);
  });

  inChromium("are free of axe violations and never scroll sideways, wide and narrow", async () => {
    for (const name of ["", "tutorial.html", "quick-start.html", "commands-webhooks.html", "errors.html"]) {
      for (const width of [1300, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        await page.goto(`${platform.baseUrl}/docs/guides/${name}`);
        await page.locator("#search input").waitFor();
        expect(await page.evaluate("document.documentElement.scrollWidth"), `${name} at ${width}`).toBe(width);
        const cut = await page
          .locator("main table")
          .evaluateAll((parts) => parts.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length);
        if (width < 640) expect(cut, `${name} at ${width}`).toBe(0);
      }
      await page.evaluate(`${axe.source}; void 0`);
      const violations = await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))");
      expect(violations, name).toEqual([]);
    }
  });
});

it("`npm run docs:site` writes pages of at most 100 KB whose links all lead to files, and to anchors in them", () => {
  const folder = mkdtempSync(join(tmpdir(), "service-site-"));
  execFileSync(process.execPath, ["scripts/docs-site.js", folder]);
  const files = readdirSync(folder);
  expect(files).toEqual(expect.arrayContaining(["index.html", "api.html", "commands-listen.html", "search.json"]));
  const pages = new Map(
    files.filter((file) => file.endsWith(".html")).map((file) => [file, readFileSync(join(folder, file), "utf8")]),
  );
  const isAnchor = (page: string, anchor: string): boolean => pages.get(page)?.includes(` id="${anchor}"`) === true;
  const dead: string[] = [];
  for (const [name, text] of pages) {
    if (name !== "api.html") expect(statSync(join(folder, name)).size, name).toBeLessThan(MAX_PAGE_BYTES);
    const links = [...text.matchAll(/ (?:href|src)="(?!https?:|#)([^"#]*)/g)].map(([, link]) => link!);
    expect(
      links.filter((link) => !files.includes(link)),
      name,
    ).toEqual([]);
    const anchors = [...text.matchAll(/ href="([\w-]+\.html|)#([^"]+)/g)];
    dead.push(
      ...anchors
        .filter(([, page, anchor]) => !isAnchor(page || name, anchor!))
        .map(([, page, anchor]) => `${name}: ${page}#${anchor}`),
    );
  }
  expect(dead).toEqual([]);
  const found = JSON.parse(readFileSync(join(folder, "search.json"), "utf8")) as { url: string }[];
  expect(found.filter(({ url }) => !isAnchor(...(url.split("#") as [string, string])))).toEqual([]);
});
