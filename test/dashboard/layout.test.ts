import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { afterAll, beforeAll, expect } from "vitest";
import { it } from "../support/chromium.ts";
import { volume } from "../support/volume.ts";
import { type Board, openBoard } from "./support/board.ts";
import { fillHostileAccount, MARKUP, type Pages } from "./support/hostile-account.ts";

/** Pictures are taken in the endurance tier, and CI keeps them. */
const PICTURES = fileURLToPath(new URL("../../test-results/dashboard/", import.meta.url));
const isPictured = volume(1, 0) === 1;
const WIDTHS = { wide: 1440, narrow: 390 };
const OTHER_WIDTHS = [360, 768, 1024, 1920];

interface View {
  width: keyof typeof WIDTHS;
  theme: "light" | "dark";
  /** The axe rules to check; all of them by default. */
  rules?: string[];
}

/** A dark page differs from a light one only in its colors. */
const OF_COLORS = ["color-contrast", "link-in-text-block"];
const VIEWS: readonly View[] = [
  { width: "wide", theme: "light" },
  { width: "wide", theme: "dark", rules: OF_COLORS },
  ...(isPictured ? [{ width: "narrow", theme: "dark", rules: OF_COLORS } as const] : []),
  { width: "narrow", theme: "light" },
];

let board: Board;
let pages: Pages;
let close: () => Promise<void>;

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true });
  board = await openBoard();
  ({ pages, close } = await fillHostileAccount(board));
  // Then the bar shows how far the sandbox's time is ahead.
  await board.api("POST", "/v1/test_clock/advance", { seconds: 1 });
});
afterAll(async () => {
  await board.close();
  await close();
});

/** Opens a page of the sandbox or of `/live`, and waits until everything is loaded. */
async function settle(path: string): Promise<void> {
  await board.show(path === "/live" ? "live" : `sandbox/${path}`.replace(/\/$/, ""));
  const isSettled = `document.querySelector("h1") !== null && document.querySelector(".loading, .skeleton, .waiting") === null`;
  await expect.poll(() => board.page.evaluate(isSettled), { interval: 20 }).toBe(true);
}

async function violations(rules?: string[]): Promise<string[]> {
  // The debugger evaluates it, because the content policy blocks scripts.
  if (!(await board.page.evaluate("'axe' in window"))) await board.page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
  const found = await board.page.evaluate<{ id: string; nodes: { html: string; failureSummary: string }[] }[]>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}

type Findings = Record<string, string[]>;

/** Checks the page in several states, and adds each accessibility problem to `found`. */
async function look(name: string, views: readonly View[], found: Findings): Promise<void> {
  const { page } = board;
  for (const { width, theme, rules } of views) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width: WIDTHS[width], height: 900 });
    const broken = await violations(rules);
    if (broken.length > 0) found[`${name}, ${width} and ${theme}`] = broken;
    await fit(name, found);
    if (isPictured) await page.screenshot({ path: join(PICTURES, `${name}-${width}-${theme}.png`), fullPage: true });
  }
}

/** Adds each overflow of the page's width to `found`. */
async function fit(name: string, found: Findings): Promise<void> {
  const overflow = await board.page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  if (overflow > 0) found[`${name}, ${board.page.viewportSize()!.width} pixels wide`] = [`${overflow} too wide`];
}

it("every page is accessible in both themes, and fits windows of 360 to 1920 pixels", async () => {
  const found: Findings = {};
  for (const [name, path] of [...Object.entries(pages), ["live", "/live"] as const]) {
    await settle(path);
    await look(name, VIEWS, found);
    for (const width of OTHER_WIDTHS) {
      await board.page.setViewportSize({ width, height: 800 });
      await fit(name, found);
    }
  }
  expect(found).toEqual({});
});

it("the host of a long URL is visible at any width", async () => {
  const { page, api } = board;
  const url = `https://hooks.example.com/${"a/very/long/path/".repeat(24)}`;
  await api("POST", "/v1/webhook_endpoints", { url, events: ["customer.deleted"] });
  const { id } = (await api("POST", "/v1/customers", { email: "deleted@example.com" })).body;
  await api("DELETE", `/v1/customers/${id}`);
  const [event] = (await api("GET", "/v1/events?type=customer.deleted")).body.data;
  await settle(`events/${event.id}`);
  await page.locator(".url").filter({ hasText: "hooks.example.com" }).waitFor();
  const hidden = `[...document.querySelectorAll(".url > :first-child")].map((host) => host.scrollWidth - host.clientWidth)`;
  for (const width of Object.values(WIDTHS)) {
    await page.setViewportSize({ width, height: 900 });
    const pixels = await page.evaluate<number[]>(hidden);
    expect(pixels).toEqual(pixels.map(() => 0));
  }
});

it("the list of events scrolls with the page, and its headings are above their columns", async () => {
  const { page } = board;
  await page.setViewportSize({ width: WIDTHS.wide, height: 900 });
  const [first] = (await board.api("GET", "/v1/events?limit=1")).body.data;
  for (const path of ["events", `events?peek=${first.id}`]) {
    await settle(path);
    await page.locator(".virtual-body [role=cell]").first().waitFor();
    const scrollers = await page.evaluate<number>(`[...document.querySelectorAll(".list, .list *")].filter(
      (box) => /auto|scroll/.test(getComputedStyle(box).overflow) && !/input|textarea/i.test(box.tagName)).length`);
    expect(scrollers, path).toBe(0);
    const left = (selector: string) =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map((cell) => cell.getBoundingClientRect().left)`,
      );
    const columns = await left(".virtual-body .virtual-row:has(:nth-child(4)) > span");
    expect(columns.slice(0, 4), path).toEqual(await left(".virtual-head .virtual-row > span"));
  }
});

it("a row stays where it is when it is shown next to its list", async () => {
  const { page } = board;
  await page.setViewportSize({ width: WIDTHS.wide, height: 900 });
  await settle("deliveries");
  const row = page.locator("main [data-row]").first();
  const { y } = (await row.boundingBox())!;
  await row.locator("a[data-row-id]").click();
  const beside = page.getByRole("complementary", { name: "Chosen row" });
  await beside.waitFor();
  expect((await row.boundingBox())!.y).toBe(y);
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByLabel("Response").waitFor();
});

it("the button that closes a row beside its list covers no other one", async () => {
  const { page } = board;
  await page.setViewportSize({ width: WIDTHS.wide, height: 900 });
  for (const list of ["events", "logs", "deliveries", "customers", "endpoints"]) {
    await settle(list);
    await page.locator("main [data-row] a").first().click();
    const open = page.locator(".peek").getByRole("link", { name: "Open", exact: true });
    await open.waitFor();
    const { width } = (await open.boundingBox())!;
    await open.click({ position: { x: width - 2, y: 2 } });
    await expect.poll(() => new URL(page.url()).pathname).toMatch(new RegExp(`/${list}/\\w+$`));
  }
});

it("the buttons of a long form are at the bottom edge of any window", async () => {
  const { page } = board;
  const sizes = [
    [1440, 900],
    [1440, 700],
    [390, 700],
    [844, 390],
  ] as const;
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height });
    await board.show("sandbox/endpoints?create=1");
    const form = page.getByRole("dialog");
    await form.getByText("Selected events").click();
    const buttons = (await form.locator(".buttons").boundingBox())!;
    expect(buttons.y + buttons.height).toBe(height);
    await form.getByRole("button", { name: "Cancel" }).click();
  }
  await page.setViewportSize({ width: WIDTHS.wide, height: 900 });
});

it("the list of endpoints shows the end of each URL at any width, and a customer's page fits 305 pixels", async () => {
  const { page, api } = board;
  const path = "/teams/checkout/environments/staging/webhooks/incoming/orders";
  await api("POST", "/v1/webhook_endpoints", {
    url: `http://127.0.0.1:9${path}`,
    events: ["order.*"],
    description: "Ends",
  });
  for (const width of [1440, 1024, 768, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await settle("endpoints");
    const url = page.getByRole("row").filter({ hasText: "Ends" }).locator(".url");
    const hidden = await url.evaluate((box) => {
      const { right } = box.querySelector("bdi")!.getBoundingClientRect();
      return right - box.getBoundingClientRect().right;
    });
    expect(hidden, `${width}`).toBeLessThan(1);
  }
  await page.setViewportSize({ width: 305, height: 900 });
  await settle(pages["customer"]!);
  const found: Findings = {};
  await fit("customer", found);
  expect(found).toEqual({});
});

it("the list of events shows whole amounts on a phone", async () => {
  const { page, api } = board;
  const customer = (await api("POST", "/v1/customers", { email: "amount@example.com" })).body.id;
  await api("POST", "/v1/orders", { customer, amount: 123_456, currency: "GBP" });
  await page.setViewportSize({ width: WIDTHS.narrow, height: 900 });
  await settle("events");
  // A list that was open before announces new rows instead.
  await page.reload();
  const cell = page
    .locator(".virtual-row span")
    .getByText(/^GBP\s1,234\.56/)
    .first();
  await expect.poll(() => cell.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
});

it("every dialog is accessible in both themes", async () => {
  const { page } = board;
  const views = VIEWS.filter(({ width }) => width === "wide");
  const found: Findings = {};
  await page.setViewportSize({ width: WIDTHS.wide, height: 900 });
  for (const [path, button] of [
    ["customers", "Create customer"],
    [pages["customer"]!, "Edit"],
    ["keys", "Create key"],
    ["endpoints", "Create endpoint"],
    [pages["event"]!, "Replay"],
    ["deliveries", "Retry deliveries"],
    [pages["endpoint"]!, "Rotate secret"],
    [pages["endpoint"]!, "Edit"],
    [pages["endpoint"]!, "Disable"],
    [pages["endpoint"]!, "Delete"],
  ] as const) {
    await settle(path);
    if (path === pages["endpoint"] || path === pages["event"]) {
      await page.getByRole("button", { name: "More", exact: true }).click();
      await look(path === pages["event"] ? "menu-event" : "menu-endpoint", views, found);
      await page.getByRole("menuitem", { name: button }).click();
    } else await page.getByRole("button", { name: button }).click();
    await page.getByRole("dialog").waitFor();
    await look(`dialog-${button.replace(" ", "-").toLowerCase()}`, views, found);
    await page.keyboard.press("Escape");
  }
  expect(found).toEqual({});
});

it("all pages can be used with the keyboard only", async () => {
  const { page } = board;
  await page.setViewportSize({ width: WIDTHS.wide, height: 900 });
  await page.goto(`${board.platform.baseUrl}/dashboard/sandbox/customers`);
  await page.getByRole("button", { name: "Create customer" }).waitFor();
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
  await page.getByRole("button", { name: "Create customer" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("typed@example.com");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "typed@example.com" }).waitFor();
  // The heading has the focus, so that a screen reader announces the new page.
  await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("H1");
});

it("on a phone, the menu opens at the scroll position, and Escape closes it", async () => {
  const { page } = board;
  await page.setViewportSize({ width: WIDTHS.narrow, height: 700 });
  await settle("customers");
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
  const button = page.getByRole("button", { name: "Menu" });
  await button.click();
  const link = page.locator("#menu").getByRole("link", { name: "Orders" });
  await link.waitFor();
  const { y, height } = (await link.boundingBox())!;
  expect([y >= 0, y + height <= 700]).toEqual([true, true]);
  await link.focus();
  await page.keyboard.press("Escape");
  await link.waitFor({ state: "hidden" });
  await expect.poll(() => button.getAttribute("aria-expanded")).toBe("false");
  await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Menu");
});

it("on a phone, the list of events shows a symbol for each delivery next to the type", async () => {
  const { page } = board;
  await page.setViewportSize({ width: WIDTHS.narrow, height: 700 });
  await settle("events");
  const row = page
    .locator(".virtual-body .virtual-row")
    .filter({ has: page.locator(".dot") })
    .first();
  const dot = (await row.locator(".dot").first().boundingBox())!;
  const type = (await row.getByRole("link").boundingBox())!;
  expect(dot.width).toBeGreaterThan(0);
  expect(type.x + type.width).toBeLessThanOrEqual(dot.x);
  expect(dot.x + dot.width).toBeLessThan(WIDTHS.narrow);
  await page.setViewportSize({ width: WIDTHS.wide, height: 900 });
});

it("a dialog returns the focus, and a rejected form moves it to the error", async () => {
  const { page } = board;
  await settle("customers");
  await page.getByRole("button", { name: "Create customer" }).press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email").fill("nobody");
  await dialog.getByLabel("Name").press("Enter");
  await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-invalid')")).toBe("true");
  await dialog.getByRole("button", { name: "Cancel" }).press("Enter");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Create customer");
});

it("times are relative, with the local and the UTC time in a tooltip", async () => {
  const { page, api } = board;
  const [customer] = (await api("GET", "/v1/customers?limit=1")).body.data;
  await settle(`customers/${customer.id}`);
  const time = page.locator(".facts time").first();
  await expect.poll(() => time.getAttribute("datetime")).toBe(customer.created);
  await expect
    .poll(() => time.getAttribute("title"))
    .toContain(`(${customer.created.replace("T", " ").replace("Z", "")} UTC)`);
  await expect.poll(() => time.textContent()).toMatch(/^\d+ (s|min) ago$/);
});

it("markup in names, metadata and responses is shown as text", async () => {
  const { page, complaints } = board;
  await page.setViewportSize({ width: WIDTHS.wide, height: 900 });
  const showing: Record<string, boolean> = {};
  for (const [name, path] of Object.entries(pages)) {
    await settle(path);
    expect(await page.evaluate("window.harmed"), name).toBeUndefined();
    expect(await page.locator("main img, main script, main b, main i:not(.loading i), main iframe").count(), name).toBe(
      0,
    );
    expect(await page.locator('a[href^="javascript:"]').count(), name).toBe(0);
    if ((await page.locator("main").innerText()).includes(MARKUP)) showing[name] = true;
  }
  const whole = ["customers", "customer", "order", "payment", "endpoint", "keys", "apps", "delivery"];
  expect(Object.keys(showing)).toEqual(expect.arrayContaining(whole));
  expect(complaints).toEqual([]);
});
