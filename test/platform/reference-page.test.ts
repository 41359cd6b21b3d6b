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
  const found = (await textOf("/docs/reference")).matchAll(/href="(\/docs\/reference\/[\w-]+\.html)"/g);
  return ["/docs/reference", ...new Set([...found].map(([, path]) => path!))];
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
    await page.goto(`${cli.platform.baseUrl}/docs/reference${path}`);
    await page.locator("#search input").waitFor();
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
    const [, ...groups] = await pages();
    const shown = (await Promise.all(groups.map(textOf))).flatMap((html) =>
      [...html.matchAll(/<article id="(\w+)"/g)].map(([, id]) => id),
    );
    const calls = (await operations()).map(({ operationId }) => operationId);
    expect(shown).toEqual(expect.arrayContaining(calls));
    expect(shown).toHaveLength(calls.length + EVENT_TYPES.length);
    // The first page lists them all.
    const listed = await page.locator(".contents li").evaluateAll((found) => found.map(({ id }) => id));
    expect(new Set(listed)).toEqual(new Set(shown));
    await open("/customers");
    const create = page.locator("#createCustomer");
    await create.getByText("409 email_taken").click();
    await create.getByText("The email ada@example.com belongs to customer").waitFor();
    await create.getByRole("link", { name: "general errors" }).click();
    await page.locator("#errors").getByRole("link", { name: "rate_limited" }).waitFor();
    await page.locator("#menu").getByRole("link", { name: "order.*" }).click();
    const body = JSON.parse((await page.locator("#onOrderCompleted .panel pre").nth(1).textContent())!);
    expect(body).toMatchObject({ type: "order.completed", data: { object: { status: "completed" } } });
  });

  it("finds operations by words of their title, method and path", async () => {
    await open();
    await page.keyboard.press("/");
    await page.keyboard.type("cancel /v1/deliveries");
    await page.locator("#search ol a").first().getByText("Cancel a delivery").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/#cancelDelivery$/);
    await page.locator("#menu").getByRole("link", { name: "Cancel a delivery" }).waitFor();
  });

  test.each(["reference/unknown", "unknown", "guides/unknown/page"])(
    "%s is an error, and in a browser a page with the menu and similar pages",
    async (path) => {
      const url = `${cli.platform.baseUrl}/docs/${path}`;
      const response = await fetch(url, { headers: { Accept: "text/html" } });
      expect([response.status, await response.text()]).toEqual([
        404,
        expect.stringContaining('href="/docs/reference/orders.html"'),
      ]);
      expect(await (await fetch(url)).json()).toMatchObject({ code: "not_found" });
    },
  );

  it("lists similar pages for a missing address", async () => {
    await page.goto(`${cli.platform.baseUrl}/docs/createOrders`);
    expect(await page.locator("#menu [aria-current=page]").count()).toBe(0);
    await page.locator("#similar").getByRole("link", { name: "Create an order" }).click();
    await page.waitForURL(/orders\.html#createOrder$/);
    expect(complaints.splice(0)).toEqual([expect.stringContaining("404")]);
  });

  test.each(["", "/orders.html"])("has a description for search engines: /docs/reference%s", async (path) => {
    expect(await textOf(`/docs/reference${path}`)).toMatch(/<meta name="description" content="[^"`[]{20,}"/);
  });

  test.each([
    ["webhook-endpoints", "disabled_reason", "string or null", /Why it is disabled.*One of user, gone/],
    ["faults", "status", "integer or null", /For the effect status.*One of 429, 500, 502, 503/],
    ["faults", "method", "string or null", /HTTP method; null for every method.*One of GET, POST, PATCH, DELETE/],
    ["deliveries", "attempts", "array of objects", /./],
    ["events", "data", "object", /./],
  ])(
    "shows type, values and description of what can have several types: %s, %s",
    async (name, attribute, type, text) => {
      const attributes = (await textOf(`/docs/reference/${name}.html`))
        .split("<li>")
        .map((html) => plain(html.replaceAll(/<[^>]*>/g, "")));
      const found = attributes
        .filter((one) => one.trim().startsWith(`${attribute} `))
        .map((one) => one.replaceAll(/\s+/g, " ").trim());
      expect(found).toContainEqual(expect.stringMatching(new RegExp(`^${attribute} ${type} ${text.source}`)));
    },
  );

  test.each([
    ["orders", "the-order-object", ["createOrder", "listOrders", "completeOrder"]],
    ["webhook-endpoints", "the-webhook-endpoint-object", ["createWebhookEndpoint", "listWebhookEndpoints"]],
    ["sandbox", "the-snapshot-object", ["listSnapshots", "deleteSnapshot"]],
  ])("describes the objects of a page before its operations, which link to them: %s", async (name, id, operations) => {
    const [, ...articles] = (await textOf(`/docs/reference/${name}.html`)).split("<article ");
    const object = articles.findIndex((one) => one.startsWith(`id="${id}"`));
    expect(object).toBeLessThan(articles.findIndex((one) => /^id="\w+"/.test(one)));
    expect(articles[object]).toMatch(/<code class="name">created<\/code>\s*<span class="type">date-time<\/span>/);
    for (const operation of operations) {
      const text = articles.find((one) => one.startsWith(`id="${operation}"`))!;
      expect(text).toContain(`href="/docs/reference/${name}.html#${id}"`);
      expect(text).not.toContain(">livemode</code>");
    }
  });

  test("says which attributes of the object only some operations return", async () => {
    const text = plain((await textOf("/docs/reference/webhook-endpoints.html")).replaceAll(/<[^>]*>|\s+/g, " "));
    expect(text.replaceAll(/\s+/g, " ")).toContain("The webhook endpoint object , with secret");
  });

  it("leads from its introduction to each page in turn", async () => {
    await open();
    await page.locator(".steps").getByRole("link", { name: "→" }).click();
    await page.locator(".steps").getByRole("link", { name: "← Introduction" }).click();
    await page.waitForURL(/\/docs\/reference$/);
  });

  it("has addresses that end with .html, like the guides", async () => {
    const url = `${cli.platform.baseUrl}/docs/reference/orders`;
    expect(await fetch(url)).toMatchObject({ status: 200, url: `${url}.html` });
  });

  it("redirects a link to an operation on the first page to the operation's own page", async () => {
    await open("#createCustomer");
    await page.waitForURL(/\/docs\/reference\/customers\.html#createCustomer$/);
    await page.locator("#createCustomer").getByText("curl -X POST").waitFor();
  });

  it("has pages of at most 100 KB", async () => {
    const sizes = await Promise.all(
      (await pages()).map(async (path) => [path, Buffer.byteLength(await textOf(path))] as const),
    );
    expect(sizes.filter(([, bytes]) => bytes > 100 * 1024)).toEqual([]);
  });

  it("shows all samples in the chosen language, which it remembers, and copies them", async () => {
    await open("/customers#createCustomer");
    const request = page.locator("#createCustomer .samples");
    await request.getByText("curl -X POST").waitFor();
    await request.getByRole("button", { name: "CLI" }).click();
    await open("/orders#createOrder");
    await page
      .locator("#createOrder")
      .getByText("npx service-cli orders create --amount 1999 --currency EUR")
      .waitFor();
    await page.locator("#createOrder .samples").getByRole("button", { name: "Copy" }).click();
    await expect
      .poll(() => page.evaluate("navigator.clipboard.readText()"))
      .toBe("npx service-cli orders create --amount 1999 --currency EUR --metadata plan=team --json");
  });

  it("shows what the command of a list prints with its sample", async () => {
    await open("/customers#listCustomers");
    const list = page.locator("#listCustomers");
    await list.getByRole("button", { name: "CLI" }).click();
    const output = list.locator(".panel", { hasText: "Output of the command" }).locator("pre");
    expect(JSON.parse((await output.textContent())!)).toEqual([expect.objectContaining({ object: "customer" })]);
    expect(await list.getByText("200 OK").isVisible()).toBe(false);
    await list.getByRole("button", { name: "cURL" }).click();
    expect([await output.isVisible(), await list.getByText("200 OK").isVisible()]).toEqual([false, true]);
  });

  it("sends a request with a sandbox key and its body, and rejects a live key before it is sent", async () => {
    await open("/customers#createCustomer");
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
    await open("/customers#createCustomer");
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
    await open("/customers#createCustomer");
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
    await open("/customers#createCustomer");
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

  it("colors samples, and wraps their long lines", async () => {
    await page.setViewportSize(WIDE);
    await open("/customers.html");
    await page.locator("#createCustomer").getByRole("button", { name: "Node.js" }).click();
    const colorOf = (part: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector("#createCustomer [data-sample=node] ${part}")).color`,
      );
    const colors = await Promise.all(["code", ".keyword", ".string"].map(colorOf));
    expect(new Set(colors).size).toBe(3);
    await page.locator("#createCustomer").getByRole("button", { name: "cURL" }).click();
    const curl = page.locator("#createCustomer pre[data-sample=curl]");
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await curl.evaluate((part) => part.scrollWidth > part.clientWidth)).toBe(false);
    await page.setViewportSize(WIDE);
  });

  it("is readable without JavaScript", async () => {
    const context = await browser!.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(`${cli.platform.baseUrl}/docs/reference`);
    await plain.locator("main").getByRole("link", { name: "Create a customer" }).click();
    await plain.locator("#createCustomer").getByText("curl -X POST").waitFor();
    await expect.poll(() => plain.getByRole("button").count()).toBe(0);
    await context.close();
  });
});

test("the CLI accepts every sample command", async () => {
  const html = (await Promise.all((await pages()).map(textOf))).join("\n");
  const samples = [...html.matchAll(/<pre[^>]*data-sample="cli"><code>(.*?)<\/code>/gs)].map(([, text]) =>
    plain(text!.replaceAll(/<[^>]*>/g, "")),
  );
  expect(samples.length).toBeGreaterThan(40);
  const rejected: string[] = [];
  for (const sample of new Set(samples.flatMap((text) => text.split("\n")))) {
    // These two wait: for a browser, and for events.
    const waits = /^npx service-cli (login|events tail)/.test(sample);
    const [command, input] = sample.split(" <<< ");
    const [, , ...args] = [...command!.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
    const { exitCode, stderr } = await cli.service(waits ? [...args, "--help"] : args, {
      input: input?.slice(1, -1) ?? "",
    });
    if (exitCode === 2) rejected.push(`${sample}\n${stderr}`);
  }
  expect(rejected).toEqual([]);
});

test("the cURL samples run no program but curl", async () => {
  const html = (await Promise.all((await pages()).map(textOf))).join("\n");
  expect(html.match(/curl <span[^>]*>-X<\/span> POST/)).not.toBeNull();
  expect(html.match(/\$\(\w+/g)).toBeNull();
});

/** Undoes the escapes of a page's text. */
function plain(text: string): string {
  return text.replace(/&#(\d+);/g, (_escape, code) => String.fromCharCode(Number(code)));
}

test("the page allows no inline content and no other origins, and is revalidated", async () => {
  const { headers } = await fetch(`${cli.platform.baseUrl}/docs/reference`);
  const policy = headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  const again = await fetch(`${cli.platform.baseUrl}/docs/reference`, {
    headers: { "If-None-Match": headers.get("etag")! },
  });
  expect(again.status).toBe(304);
});

test("every property and parameter has a description, and a delivery's example is one state", async () => {
  const document = (await (await fetch(`${cli.platform.baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { parameters: { name: string; $ref?: string; description?: string }[] }>>;
    components: { schemas: Record<string, Described> };
  };
  const missing = Object.entries(document.components.schemas).flatMap(([name, schema]) => undescribed(name, schema));
  const parameters = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ parameters: all }) =>
      all.filter((one) => (one.$ref ?? one.description) === undefined),
    ),
  );
  expect([...missing, ...parameters]).toEqual([]);
  expect(document.components.schemas["Delivery"]!.examples![0]).toMatchObject({
    status: "succeeded",
    attempt_count: 1,
    last_status_code: 200,
    listener: null,
    next_attempt: null,
    attempting_since: null,
  });
});

interface Described {
  $ref?: string;
  description?: string;
  properties?: Record<string, Described>;
  items?: Described;
  anyOf?: Described[];
  examples?: unknown[];
}

function undescribed(path: string, { properties = {}, items, anyOf = [] }: Described): string[] {
  return [
    ...Object.entries(properties).flatMap(([name, property]) => {
      const isDescribed = [property, ...(property.anyOf ?? [])].some(
        ({ $ref, description }) => ($ref ?? description) !== undefined,
      );
      return [...(isDescribed ? [] : [`${path}.${name}`]), ...undescribed(`${path}.${name}`, property)];
    }),
    ...(items === undefined ? [] : undescribed(`${path}[]`, items)),
    ...anyOf.flatMap((option) => undescribed(path, option)),
  ];
}
