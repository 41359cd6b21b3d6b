import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it as anyIt } from "vitest";
import { buildDashboard } from "../../scripts/build-dashboard.js";
import { it } from "../support/chromium.ts";
import { difference, showBlocks, view, VIEWS } from "./support/appearance.ts";
import { type Board, openBoard } from "./support/board.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BUILT = join(ROOT, "dist/dashboard");
const START = Date.UTC(2026, 2, 10, 10, 0, 0);

/** The pages that the baselines have in their menu: a page that is added later does not change how components look. */
const PAGES =
  "Overview, Events, Deliveries, Request log, Customers, Orders, Payments, Endpoints, API keys, OAuth apps, Sandbox tools, Team & access";

let folder: string;
let board: Board;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "service-components-"));
  await buildDashboard(ROOT, folder, { isDevelopment: true });
  board = await openBoard({ dashboard: folder });
  const { page, platform } = board;
  await page.clock.setFixedTime(START);
  await page.goto(`${platform.baseUrl}/dashboard/components`);
  await page.getByRole("heading", { name: "Components" }).waitFor();
  await page.locator(".live-sign.live").waitFor();
  await page.evaluate(`for (const entry of document.querySelectorAll("#menu > div:not(.nav-end) li"))
    entry.hidden = !${JSON.stringify(PAGES.split(", "))}.includes(entry.textContent)`);
  await showBlocks(page);
});
afterAll(async () => {
  await board.close();
  rmSync(folder, { recursive: true });
  expect(board.complaints).toEqual([]);
});

it("every component looks like its baseline", async () => {
  const found: Record<string, string> = {};
  for (const name of VIEWS) {
    await view(board.page, name);
    const words = await difference(board.page, `components-${name}`);
    if (words !== undefined) found[name] = words;
  }
  expect(found).toEqual({});
});

it("dialogs look like their baselines", async () => {
  const { page } = board;
  await view(page, "1440-light");
  const found: Record<string, string> = {};
  for (const [name, button, close] of [
    ["form", "Primary", "Cancel"],
    ["confirmation", "Danger", "Cancel"],
    ["secret", "Secret", "Done"],
  ] as const) {
    await page.getByRole("button", { name: button, exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    const words = await difference(page, `dialog-${name}`, { fullPage: false });
    if (words !== undefined) found[name] = words;
    await dialog.getByRole("button", { name: close, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  }
  expect(found).toEqual({});
});

it("a changed color or distance is a difference", async () => {
  const { page } = board;
  await view(page, "1440-light");
  const changed = async (name: string, value: string) => {
    await page.evaluate(`document.documentElement.style.setProperty("${name}", "${value}")`);
    const words = await difference(page, "components-1440-light");
    await page.evaluate(`document.documentElement.style.removeProperty("${name}")`);
    return words;
  };
  expect(await changed("--bad", "#1a7f37")).toMatch(/differs/);
  expect(await changed("--bar-height", "64px")).toMatch(/differs|pixels/);
  expect(await difference(page, "components-1440-light")).toBeUndefined();
});

anyIt("the page of all components is in development builds only", () => {
  const texts = (of: string) =>
    readdirSync(of).flatMap((name) => (name.endsWith(".js") ? [readFileSync(join(of, name), "utf8")] : []));
  const isShown = (text: string) => text.includes("Every component in its states");
  expect(texts(folder).some(isShown)).toBe(true);
  expect(texts(BUILT).some(isShown)).toBe(false);
});
