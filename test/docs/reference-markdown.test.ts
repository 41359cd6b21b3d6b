import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OPERATIONS } from "../../src/contract/operations.ts";
import { it as inChromium, startChromium } from "../support/chromium.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";

describe("the API reference as Markdown", () => {
  let platform: ServedPlatform;
  let browser: Browser | undefined;
  let page: Page;
  beforeAll(async () => {
    platform = await servePlatform();
    browser = await startChromium().catch(() => undefined);
    page = (await browser?.newPage())!;
  });
  afterAll(async () => {
    await browser?.close();
    await platform.stop();
  });

  const read = async (path: string) => {
    const response = await fetch(platform.baseUrl + path);
    expect([path, response.status, response.headers.get("content-type")]).toEqual([
      path,
      200,
      "text/markdown; charset=utf-8",
    ]);
    return response.text();
  };

  it("is listed for language models, and has every operation", async () => {
    const list = await read("/llms.txt");
    const paths = [...list.matchAll(/\/docs\/guides\/reference-[\w-]+\.md/g)].map(([path]) => path);
    const text = (await Promise.all(paths.map(read))).join("\n");
    for (const { summary, method, path } of OPERATIONS) {
      expect(text).toContain(`## ${summary}\n`);
      expect(text).toContain(`${method} \`${path}\``);
    }
  });

  it("has attributes as lists, code in blocks, and one language of the samples", async () => {
    const orders = await read("/docs/reference/orders.md");
    expect(orders).toMatch(/^# Orders\n\nOrders of customers\./);
    expect(orders).toContain("\n- `amount` (integer, required): Amount in the currency's minor unit");
    expect(orders).toContain("\n- `status` (string): Current status. One of `pending`, `completed`, `canceled`\n");
    expect(orders).toContain(`\n\`\`\`\ncurl -X POST ${platform.baseUrl}/v1/orders \\\n  -H "Authorization: Bearer`);
    expect(orders).toContain('\n```\n{\n  "id": "ord_');
    expect(orders).not.toMatch(/<\/?\w+>|&#?\w+;|await fetch|import urllib/);
    expect(await read("/docs/reference/introduction.md")).toContain("\n## Idempotency\n");
  });

  inChromium("is copied by a button of the page", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${platform.baseUrl}/docs/reference/orders.html`);
    await page.getByRole("button", { name: "Copy page" }).click();
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^# Orders\n/);
  });
});
