import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { beforeAll, afterAll, describe, expect, it as test } from "vitest";
import { EVENT_TYPES } from "../../src/contract/event-types.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { it, startChromium } from "../support/chromium.ts";
import { volume } from "../support/volume.ts";

const cli = cliOnPlatform();
let browser: Browser | undefined;
afterAll(() => browser?.close());

interface OpenApi {
  paths: Record<string, Record<string, { operationId: string; security: object[] }>>;
}

async function operations() {
  const { paths } = (await (await fetch(`${cli.platform.baseUrl}/openapi.json`)).json()) as OpenApi;
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

async function textOf(path: string): Promise<string> {
  return (await fetch(cli.platform.baseUrl + path)).text();
}

/** Returns the paths of all pages of the reference. */
async function pages(): Promise<string[]> {
  const found = (await textOf("/docs")).matchAll(/href="(\/docs\/reference\/[\w-]+)"/g);
  return ["/docs", ...new Set([...found].map(([, path]) => path!))];
}

/** What the suite leaves of the page for axe, which takes minutes for all of it. */
const ONE_OF_EACH_KIND = ["createCustomer", "listCustomers"];
const WIDE = { width: 1440, height: 900 };

describe("the API reference", () => {
  let page: Page;
  /** What the browser complained about: scripts' errors, and what the page's policy forbade. */
  const complaints: string[] = [];
  const requested: string[] = [];

  const open = async (path = "") => {
    // Another part of the same page would not be loaded again.
    await page.goto("about:blank");
    await page.goto(`${cli.platform.baseUrl}/docs${path}`);
    await page.locator("#menu input").waitFor();
  };
  beforeAll(async () => {
    browser = await startChromium().catch(() => undefined);
    if (browser === undefined) return;
    const context = await browser.newContext({ viewport: WIDE });
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: cli.platform.baseUrl });
    page = await context.newPage();
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => requested.push(request.url()));
    await open();
  });
  afterAll(() => {
    expect(complaints).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(cli.platform.baseUrl))).toEqual([]);
  });

  it("shows every operation and every event type of the OpenAPI document", async () => {
    const shown = (await Promise.all(await pages().then((found) => found.map(textOf)))).flatMap((html) =>
      [...html.matchAll(/<article id="(\w+)"/g)].map(([, id]) => id),
    );
    const calls = (await operations()).map(({ operationId }) => operationId);
    expect(shown).toEqual(expect.arrayContaining(calls));
    expect(shown).toHaveLength(calls.length + EVENT_TYPES.length);
    // The first page lists them all.
    const listed = await page.locator(".contents li").evaluateAll((found) => found.map(({ id }) => id));
    expect(new Set(listed)).toEqual(new Set(shown));
    await open("/reference/customers");
    const create = page.locator("#createCustomer");
    await create.getByText("Errors", { exact: true }).click();
    await create.getByText("Email already in use").waitFor();
    await page.getByRole("link", { name: "Webhooks: order.*" }).first().click();
    const body = JSON.parse((await page.locator("#onOrderCompleted .panel pre").nth(1).textContent())!);
    expect(body).toMatchObject({ type: "order.completed", data: { object: { status: "completed" } } });
  });

  it("finds operations by words of their summary, method and path", async () => {
    await open();
    await page.keyboard.press("/");
    await page.keyboard.type("/cancel deliver");
    const found = page.locator("#menu li[data-text]:visible");
    await expect.poll(() => found.allTextContents()).toEqual([expect.stringContaining("Cancel a pending delivery")]);
    await page.keyboard.press("Enter");
    await page.waitForURL(/#cancelDelivery$/);
    await page.locator("#menu input").fill("no such thing");
    await page.getByText("No matches").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#menu").getByRole("link", { name: "Cancel a pending delivery" }).waitFor();
  });

  it("redirects a link to an operation on the first page to the operation's own page", async () => {
    await open("#createCustomer");
    await page.waitForURL(/\/docs\/reference\/customers#createCustomer$/);
    await page.locator("#createCustomer").getByText("curl -X POST").waitFor();
  });

  it("has pages of at most 100 KB", async () => {
    const sizes = await Promise.all(
      (await pages()).map(async (path) => [path, Buffer.byteLength(await textOf(path))] as const),
    );
    expect(sizes.filter(([, bytes]) => bytes > 100 * 1024)).toEqual([]);
  });

  it("shows all samples in the chosen language, which it remembers, and copies them", async () => {
    await open("/reference/customers#createCustomer");
    const request = page.locator("#createCustomer .samples");
    await request.getByText("curl -X POST").waitFor();
    await request.getByRole("button", { name: "CLI" }).click();
    await open("/reference/orders#createOrder");
    await page.locator("#createOrder").getByText("service orders create --amount 1999 --currency EUR").waitFor();
    await page.locator("#createOrder .samples").getByRole("button", { name: "Copy" }).click();
    await expect
      .poll(() => page.evaluate("navigator.clipboard.readText()"))
      .toMatch(/^service orders create --amount 1999 --currency EUR --customer cus_\w{22} --metadata plan=team$/);
  });

  it("sends a request with a sandbox key and its body, and rejects a live key before it is sent", async () => {
    await open("/reference/customers#createCustomer");
    const form = page.locator("#createCustomer form");
    await page.locator("#createCustomer [data-try]").click();
    await form.getByLabel("Sandbox API key").fill(cli.platform.liveKey);
    const sent = requested.length;
    await form.getByRole("button", { name: "Send request" }).click();
    await form.getByText("This is a live key.").waitFor();
    expect(requested).toHaveLength(sent);
    await form.getByLabel("Sandbox API key").fill(cli.platform.sandboxKey);
    await form.getByLabel("Body").fill('{"email":"reader@example.com"}');
    await form.getByRole("button", { name: "Send request" }).click();
    await form.getByText(/^201 Created/).waitFor();
    const [customer] = await cli.json<{ id: string }[]>("customers", "list", "--email", "reader@example.com");
    await form.getByText(customer!.id).waitFor();

    // The key holds for other operations of the page, and is gone when the page is loaded again.
    await page.locator("#getCustomer [data-try]").click();
    const get = page.locator("#getCustomer form");
    await get.getByLabel("id").fill(customer!.id);
    await get.getByRole("button", { name: "Send request" }).click();
    await get.getByText(/^200 OK/).waitFor();
    expect(await page.content()).not.toContain(cli.platform.sandboxKey);
    expect(await page.evaluate("JSON.stringify([localStorage, sessionStorage])")).not.toContain("sk_sandbox_");
  });

  it("sends a request over plain HTTP from another machine", async () => {
    await open("/reference/customers#createCustomer");
    // Pages over plain HTTP from another machine do not have it.
    await page.evaluate("crypto.randomUUID = undefined");
    await page.locator("#createCustomer [data-try]").click();
    const form = page.locator("#createCustomer form");
    await form.getByLabel("Sandbox API key").fill(cli.platform.sandboxKey);
    await form.getByLabel("Body").fill('{"email":"elsewhere@example.com"}');
    await form.getByRole("button", { name: "Send request" }).click();
    await form.getByText(/^201 Created/).waitFor();
  });

  it("opens one form after a double click, and reloads the API description after an error", async () => {
    await page.route("**/openapi.json", (route) => route.abort());
    await open("/reference/customers#createCustomer");
    const button = page.locator("#createCustomer [data-try]");
    await button.click();
    await page.locator("#createCustomer").getByText("The platform could not be reached.").waitFor();
    await expect.poll(() => button.textContent()).toBe("Try it");
    await page.unroute("**/openapi.json");
    const clicks = "document.querySelector('#createCustomer [data-try]')";
    await page.evaluate(`${clicks}.click(); ${clicks}.click(); ${clicks}.click()`);
    const form = page.locator("#createCustomer form");
    await form.waitFor();
    expect(await form.count()).toBe(1);
    expect(await page.getByText("The platform could not be reached.").count()).toBe(0);
    await button.click();
    await form.waitFor({ state: "detached" });
    expect(complaints.splice(0)).toEqual([expect.stringContaining("ERR_FAILED")]);
  });

  it("has no accessibility violation, wide or narrow, in both themes", async () => {
    await open("/reference/customers#createCustomer");
    await page.locator("#createCustomer [data-try]").click();
    await page.locator("#createCustomer form").waitFor();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const isCut = `document.documentElement.scrollWidth > document.documentElement.clientWidth`;
      expect(await page.evaluate(isCut)).toBe(false);
    }
    if (volume(1, 0) === 0) {
      await page.locator("article").evaluateAll((all, kept) => {
        for (const article of all) if (!kept.includes(article.id)) article.remove();
      }, ONE_OF_EACH_KIND);
    }
    await page.evaluate(axe.source);
    for (const [width, colorScheme, rules] of [
      [1440, "light", {}],
      // A dark page differs from a light one by its colors.
      [1440, "dark", { runOnly: ["color-contrast", "link-in-text-block"] }],
      [390, "light", {}],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const options = JSON.stringify({ resultTypes: ["violations"], ...rules });
      const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
        `axe.run(document, ${options}).then((run) => run.violations)`,
      );
      expect(found.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
    }
    await page.setViewportSize(WIDE);
  });

  it("is readable without JavaScript", async () => {
    const context = await browser!.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(`${cli.platform.baseUrl}/docs`);
    await plain.locator("main").getByRole("link", { name: "Create a customer" }).click();
    await plain.locator("#createCustomer").getByText("curl -X POST").waitFor();
    await expect.poll(() => plain.getByRole("button").count()).toBe(0);
    await context.close();
  });
});

test("the CLI accepts every sample command", async () => {
  const html = (await Promise.all((await pages()).map(textOf))).join("\n");
  const samples = [...html.matchAll(/<pre[^>]*data-sample="cli"><code>([^<]*)<\/code>/g)].map(([, text]) =>
    plain(text!),
  );
  expect(samples.length).toBeGreaterThan(40);
  const rejected: string[] = [];
  for (const sample of new Set(samples.flatMap((text) => text.split("\n")))) {
    // These two wait: for a browser, and for events.
    const waits = ["service login", "service events tail"].includes(sample);
    const [command, input] = sample.split(" <<< ");
    const [, ...args] = [...command!.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
    const { exitCode, stderr } = await cli.service(waits ? [...args, "--help"] : args, {
      input: input?.slice(1, -1) ?? "",
    });
    if (exitCode === 2) rejected.push(`${sample}\n${stderr}`);
  }
  expect(rejected).toEqual([]);
});

/** Undoes the escapes of a page's text. */
function plain(text: string): string {
  return text.replace(/&#(\d+);/g, (_escape, code) => String.fromCharCode(Number(code)));
}

test("the page allows no inline content and no other origins, and is revalidated", async () => {
  const { headers } = await fetch(`${cli.platform.baseUrl}/docs`);
  const policy = headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  const again = await fetch(`${cli.platform.baseUrl}/docs`, { headers: { "If-None-Match": headers.get("etag")! } });
  expect(again.status).toBe(304);
});
