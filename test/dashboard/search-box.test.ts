import { afterAll, beforeAll, expect } from "vitest";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;

beforeAll(async () => {
  board = await openBoard();
  await board.api("POST", "/v1/customers", { email: "person-42@example.com" });
});
afterAll(async () => {
  await board.close();
  expect(board.complaints).toEqual([]);
});

it("one search box finds objects, pages by other names, the page's actions, and filters", async () => {
  const { page, api } = board;
  await api("POST", "/v1/webhook_endpoints", {
    url: "http://127.0.0.1:9/x",
    events: ["order.*"],
    description: "Billing",
  });
  await board.menu("Orders");
  const option = (name: string) => page.getByRole("option", { name });
  const search = async (text: string) => {
    await board.openPalette();
    await page.getByRole("dialog").getByRole("combobox").fill(text);
  };
  await search("why person-42@");
  await option("person-42@example.com").waitFor();
  await page.getByRole("dialog").getByRole("combobox").fill("person-42@");
  await option("person-42@example.com").click();
  await page.getByRole("heading", { level: 1, name: "person-42@example.com" }).waitFor();
  await search("webhook");
  await option("Go to Endpoints").waitFor();
  await page.getByRole("dialog").getByRole("combobox").fill("edit");
  await option("Edit").click();
  await page.getByRole("dialog", { name: "Edit customer" }).getByRole("button", { name: "Cancel" }).click();
  await search("why did my endpoint get nothing since 14:00?");
  await option("Deliveries: since:14:00").waitFor();
  // Nothing is wrong with it.
  expect(await option("Explain Billing").count()).toBe(0);
  await option("Billing").click();
  await page
    .getByText(/since Billing was created|subscribes to order/)
    .first()
    .waitFor();
  await search("why nothing since 14:00");
  await expect.poll(() => page.locator("#command-0 .one-line").textContent()).toBe("Deliveries: since:14:00");
  expect(await option("Copy npx").count()).toBe(0);
  await search("resend everything that failed");
  await option("Retry deliveries").first().click();
  await page
    .getByRole("dialog", { name: /^Retry (failed )?deliveries/ })
    .getByRole("button", { name: "Cancel" })
    .click();
  const first = page.locator("#command-0 .one-line");
  await search("retry billing");
  await page.getByText("Searching…").waitFor({ state: "detached" });
  expect(await option("Retry deliveries to Billing").count()).toBe(0);
  await page.keyboard.press("Escape");
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await search("retry billing");
  await expect.poll(() => first.textContent()).toBe("Retry deliveries to Billing");
  await option("1 retrying").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Retry deliveries to Billing" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("h1:focus").waitFor();
  await search("why is billing failing");
  await expect.poll(() => first.textContent()).toBe("Explain Billing");
  await page.getByRole("dialog").getByRole("combobox").fill("");
  // What fails comes before the pages of the menu.
  await expect.poll(() => page.locator("#commands .group").allTextContents()).toContain("Endpoints");
  await expect.poll(() => page.locator("#commands [role=option]").allTextContents()).toContain("Billing1 retrying");
  await page.getByRole("dialog").getByRole("combobox").fill("failed");
  await expect.poll(() => first.textContent()).toBe("Show failed deliveries");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor();
  await expect.poll(() => page.getByLabel("Status").inputValue()).toBe("undelivered");
  for (const [text, command] of [
    ["+1 d", "Advance the clock by 1 d"],
    ["advance 3d", "Advance the clock by 3 d"],
    ["503", "Deliveries: response 503"],
    ["order.completed", "Events of type order.completed"],
    ["explain person-42@", "person-42@example.com"],
    ["person-42@ why", "person-42@example.com"],
  ] as const) {
    await search(text);
    await expect.poll(() => first.textContent()).toBe(command);
    // Ctrl-K right after Escape opens it again.
    await page.keyboard.press("Escape");
  }
  await search("status:failed endpoint:billing");
  await option("Deliveries: status:failed endpoint:billing").click();
  await page.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor();
  await expect.poll(() => page.getByLabel("Endpoint").locator("option:checked").textContent()).toBe("Billing");
  await page.getByRole("searchbox").fill("code:5xx ");
  await expect.poll(() => page.getByLabel("Response").inputValue()).toBe("5xx");
  await page.getByRole("button", { name: "Copy as command" }).click();
  const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
  await expect.poll(copied).toMatch(/^npx service-cli deliveries list --status failed --endpoint we_\w+ --code 5xx$/);
  await page.getByRole("button", { name: "Clear" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("");
});

it("the search box leads to further matches, and says if data could not be searched", async () => {
  const { page, api } = board;
  for (let number = 1; number <= 5; number++)
    await api("POST", "/v1/customers", { email: `many-${number}@example.com` });
  await board.openPalette();
  const box = page.getByRole("dialog").getByRole("combobox");
  const all = page.getByRole("option", { name: "All customers that match “many-”" });
  await page.route("**/v1/customers?*", (route) => route.abort());
  await box.fill("many-");
  await page.getByText("Your data could not be searched. The platform cannot be reached.").waitFor();
  expect(await all.count()).toBe(0);
  await page.unroute("**/v1/customers?*");
  await box.fill("many");
  await box.fill("many-");
  await all.click();
  await page.getByRole("heading", { level: 1, name: "Customers" }).waitFor();
  for (let number = 1; number <= 5; number++) {
    await page.getByRole("link", { name: `many-${number}@example.com` }).waitFor();
  }
});

it("the search box finds the beginning of an ID and the documentation, but no part of a random ID", async () => {
  const { page, api } = board;
  const [customer] = (await api("GET", "/v1/customers?limit=1")).body.data;
  const [event] = (await api("GET", "/v1/events?limit=1")).body.data;
  await board.menu("Orders");
  await board.openPalette();
  const box = page.getByRole("dialog").getByRole("combobox");
  const option = (name: string) => page.getByRole("option", { name });
  const groups = page.locator("#commands .group");
  await expect.poll(async () => new Set(await groups.allTextContents()).size).toBe(await groups.count());
  await box.fill("disable billing");
  await option("Billing").waitFor();
  await box.fill("qzxvw");
  await option("Search the deliveries for “qzxvw”").waitFor();
  await box.fill(event.id.slice(0, 18));
  await option(event.id).waitFor();
  await box.fill(customer.id.slice("cus_".length, 18));
  await option(customer.id).waitFor();
  await box.fill("invalid_request");
  await option("invalid_request").first().waitFor();
  // A part that is in the email too would find the customer by it.
  const parts = [...customer.id.slice(8).matchAll(/(?=([A-Za-z]{3}))/g)].map(([, part]) => part as string);
  const part = parts.find((one) => !customer.email.includes(one.toLowerCase())) ?? "";
  await box.fill(part);
  await page.getByText("Searching…").waitFor({ state: "detached" });
  await expect.poll(() => option(customer.email).count()).toBe(0);
  await page.keyboard.press("Escape");
});

it("the dashboard keeps the keys that are typed before the search box is there, and Enter waits for what they find", async () => {
  const { page } = board;
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/assets\/later-/, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`${board.platform.baseUrl}/dashboard/sandbox`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("person-43");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("2@");
  await page.keyboard.press("Enter");
  release();
  await page.getByRole("heading", { level: 1, name: "person-42@example.com" }).waitFor();
  await page.unrouteAll();
});

it("Enter that ends the composition of a word does not run a command", async () => {
  const { page } = board;
  await board.menu("Customers");
  await board.openPalette();
  const session = await page.context().newCDPSession(page);
  await session.send("Input.imeSetComposition", { text: "e", selectionStart: 1, selectionEnd: 1 });
  await page.keyboard.press("Enter");
  const palette = page.getByRole("dialog", { name: "Search and commands" });
  await palette.waitFor();
  await session.send("Input.insertText", { text: "go to events" });
  await page.getByRole("option", { name: "Go to Events" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Events" }).waitFor();
});
