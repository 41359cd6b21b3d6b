import { afterAll, beforeAll, expect } from "vitest";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

const MANY = 120;
let board: Board;

beforeAll(async () => {
  board = await openBoard();
  for (let index = 0; index < MANY; index++) {
    await board.api("POST", "/v1/customers", { email: `person-${index}@example.com`, metadata: { seat: `${index}` } });
  }
});
afterAll(async () => {
  await board.close();
  expect(board.complaints).toEqual([]);
});

/** Scrolls down a list of customers, which is continued near its end; not by wheel, which scrolls a while longer. */
async function readToEnd(): Promise<void> {
  const last = board.page.getByRole("link", { name: "person-0@example.com" });
  await expect
    .poll(async () => {
      await board.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
      return await last.count();
    })
    .toBe(1);
}

it("a list keeps its rows and scroll position while objects are created, and shows them on request", async () => {
  const { page, api } = board;
  await board.menu("Customers");
  await readToEnd();
  const row = page.getByRole("link", { name: `person-${MANY - 60}@` });
  await row.scrollIntoViewIfNeeded();
  await page.evaluate("scrollTo(0, scrollY + 300)");
  const { y: before } = (await row.boundingBox())!;
  for (const name of ["new-1", "new-2"]) await api("POST", "/v1/customers", { email: `${name}@example.com` });
  const pill = page.getByRole("button", { name: "2 new" });
  await pill.waitFor();
  expect((await row.boundingBox())!.y).toBe(before);
  await expect.poll(() => page.getByRole("row").count()).toBe(MANY + 1);
  await pill.click();
  await page.getByRole("link", { name: "new-2@example.com" }).waitFor();
  await expect.poll(() => page.evaluate("scrollY")).toBe(0);
});

it("a list loads more rows if its reader is at the end as soon as it appears", async () => {
  const page = await board.page.context().newPage();
  await page.addInitScript(`
    new MutationObserver((_, observer) => {
      if (document.querySelectorAll("tbody tr[data-row]").length < 50) return;
      observer.disconnect();
      scrollTo(0, document.documentElement.scrollHeight);
    }).observe(document, { childList: true, subtree: true });
  `);
  await page.goto(`${board.platform.baseUrl}/dashboard/sandbox/customers`);
  await expect.poll(() => page.getByRole("row").count()).toBeGreaterThan(51);
  await page.close();
});

it("Back and a reload restore the rows, the search and the scroll position of a list", async () => {
  const { page } = board;
  await board.menu("Customers");
  await page.getByRole("searchbox").fill("person-");
  await expect.poll(() => page.url()).toContain("query=person-");
  await readToEnd();
  const link = page.getByRole("link", { name: "person-40@example.com" });
  await link.scrollIntoViewIfNeeded();
  const left = await page.evaluate<number>("scrollY");
  expect(left).toBeGreaterThan(500);
  const address = page.url();
  await link.click();
  await page.getByRole("heading", { name: "person-40@example.com" }).waitFor();
  await page.goBack();
  await link.waitFor();
  await expect.poll(() => page.evaluate<number>("scrollY")).toBe(left);
  expect(page.url()).toBe(address);
  await expect.poll(() => page.getByRole("searchbox").inputValue()).toBe("person-");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("person-40@example.com");

  // The position is recorded once scrolling ends.
  await expect.poll(() => page.evaluate<number>("history.state.scroll")).toBe(left);
  await page.reload();
  await link.waitFor();
  await expect.poll(() => page.evaluate<number>("scrollY")).toBe(left);
  await page.goto(`${board.platform.baseUrl}/docs/reference`);
  await page.goBack();
  await link.waitFor();
  await expect.poll(() => page.evaluate<number>("scrollY")).toBe(left);
});

it("Back restores the list of events, which does not move under the pointer", async () => {
  const { page, api } = board;
  await board.menu("Events");
  const list = page.getByRole("table", { name: "Events, newest first" });
  await list.hover();
  await api("POST", "/v1/customers", { email: "hovered@example.com" });
  await page.getByRole("button", { name: "1 new" }).waitFor();
  await expect.poll(() => list.getByText("hovered@example.com").count()).toBe(0);
  await page.evaluate("scrollTo(0, 1900)");
  // Which events the list shows there depends on the number of newer ones.
  const emailInTheMiddle = () =>
    page.evaluate<string | undefined>(`(() => {
      const row = document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest("[role=row]");
      return /person-\\d+@example\\.com/.exec(row?.textContent ?? "")?.[0];
    })()`);
  await expect.poll(emailInTheMiddle).toBeDefined();
  const link = list.getByText((await emailInTheMiddle())!);
  const left = await page.evaluate<number>("scrollY");
  expect(left).toBeGreaterThan(1000);
  await link.click();
  await page.getByRole("heading", { name: "customer.created" }).waitFor();
  await page.goBack();
  await link.waitFor();
  await expect.poll(() => page.evaluate<number>("scrollY")).toBe(left);
});

it("a form with input and a secret that is shown once stay open at Escape", async () => {
  const { page } = board;
  await board.menu("API keys");
  await page.getByRole("button", { name: "Create key" }).click();
  const form = page.getByRole("dialog", { name: "Create an API key" });
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Create key" }).click();
  await form.getByLabel("Name").fill("Importer");
  for (let press = 0; press < 3; press++) await page.keyboard.press("Escape");
  await form.getByText("Choose Cancel to discard what you entered.").waitFor();
  await page.mouse.click(5, 400);
  await form.getByLabel("Permissions").selectOption("read");
  await form.getByRole("button", { name: "Create key" }).click();
  const once = page.getByRole("dialog", { name: "The new API key" });
  await once.getByText(/^rk_sandbox_/).waitFor();
  for (let press = 0; press < 3; press++) await page.keyboard.press("Escape");
  await page.mouse.click(5, 400);
  await once.getByText("It is shown only once").waitFor();
  await once.getByRole("button", { name: "Done" }).click();
  await once.waitFor({ state: "hidden" });
  await expect.poll(() => page.getByRole("link", { name: "Importer" }).count()).toBe(1);
});

it("shortcuts focus the search, move through rows, open them, and go to pages and IDs", async () => {
  const { page, api } = board;
  await api("POST", "/v1/customers", { email: "newest@example.com" });
  await board.menu("Events");
  await page.getByRole("heading", { name: "Events" }).waitFor();
  await board.menu("Customers");
  await page.getByRole("link", { name: "newest@example.com" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("newest@example.com");
  expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "newest@example.com" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Next or previous row").waitFor();
  await page.keyboard.press("Escape");
  await board.openPalette();
  await page.keyboard.type("go to events");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Events" }).waitFor();
  await page.keyboard.press("/");
  await expect.poll(() => page.evaluate("document.activeElement.type")).toBe("search");
  await board.openPalette();
  const [customer] = (await api("GET", "/v1/customers?email=person-7@example.com")).body.data;
  await page.keyboard.type(customer.id);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "person-7@example.com" }).waitFor();
});

it("a click shows a row beside its list, j moves on, Enter and a second click open its page, Back and Escape close it", async () => {
  const { page } = board;
  await page.setViewportSize({ width: 1440, height: 900 });
  await board.menu("Customers");
  const rows = page.locator("tr[data-row]");
  const email = async (index: number) => (await rows.nth(index).getByRole("link").first().textContent())!;
  await rows.nth(2).getByRole("link").first().click();
  const beside = page.getByRole("complementary", { name: "Chosen row" });
  await beside.getByRole("heading", { name: await email(2) }).waitFor();
  expect(new URL(page.url()).searchParams.get("peek")).toMatch(/^cus_/);
  await page.keyboard.press("j");
  await beside.getByRole("heading", { name: await email(3) }).waitFor();
  await page.reload();
  await beside.getByRole("heading", { name: await email(3) }).waitFor();
  await page.keyboard.press("Escape");
  await beside.waitFor({ state: "detached" });
  await rows.nth(1).getByRole("link").first().click();
  await beside.waitFor();
  await page.goBack();
  await beside.waitFor({ state: "detached" });
  const name = await email(1);
  await rows.nth(1).getByRole("link").first().click();
  await beside.waitFor();
  await rows.nth(1).getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.setViewportSize({ width: 800, height: 900 });
  await board.show("sandbox/customers");
  await rows.nth(1).getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
});

it("a chosen theme stays after a reload", async () => {
  const { page } = board;
  const background = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  await page.emulateMedia({ colorScheme: "light" });
  const light = await background();
  await page.getByLabel("Theme").selectOption("dark");
  await expect.poll(background).not.toBe(light);
  await page.reload();
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await background()).not.toBe(light);
  await page.getByLabel("Theme").selectOption("system");
  await expect.poll(background).toBe(light);
});

it("the form of an order suggests customers by any text, and the pages of the order and its payments name its customer", async () => {
  const { page, api } = board;
  const [customer] = (await api("GET", "/v1/customers?email=person-7@example.com")).body.data;
  await board.menu("Orders");
  await page.getByRole("button", { name: "Create order" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount").fill("19.99");
  await dialog.getByLabel("Customer").fill("person-7@");
  const suggested = () =>
    dialog.locator("datalist option").evaluateAll((options) => options.map((option) => option.getAttribute("value")));
  await expect.poll(suggested).toEqual([customer.id]);
  await dialog.getByLabel("Customer").fill(customer.id);
  await dialog.getByRole("button", { name: "Create order" }).click();
  const ofCustomer = page.locator(".facts").getByRole("link", { name: "person-7@example.com" });
  await ofCustomer.waitFor();
  const [order] = (await api("GET", "/v1/orders?limit=1")).body.data;
  const payment = (await api("POST", "/v1/payments", { amount: 1999, currency: "EUR", order: order.id })).body;
  await board.show(`sandbox/payments/${payment.id}`);
  await ofCustomer.waitFor();
});

it("the lists of orders and payments show the customers' emails with one request for many rows", async () => {
  const { page, api } = board;
  const { data: customers } = (await api("GET", "/v1/customers?query=person-1&limit=20")).body;
  for (const customer of customers) {
    const order = (await api("POST", "/v1/orders", { amount: 4200, currency: "EUR", customer: customer.id })).body;
    await api("POST", "/v1/payments", { amount: 1700, currency: "EUR", order: order.id });
  }
  const lookups: string[] = [];
  page.on("request", (request) => lookups.push(...(request.url().match(/v1\/(customers|orders)\/?\?query=/) ?? [])));
  for (const [list, label] of [
    ["Payments", "Payments, newest first"],
    ["Orders", "Orders, newest first"],
  ] as const) {
    lookups.length = 0;
    await board.menu(list);
    const table = page.getByRole("region", { name: label });
    for (const { email } of customers) await table.getByRole("link", { name: email }).waitFor();
    // One for each time that the list was read.
    const lookedUp = () => lookups.filter((lookup) => lookup === "customers").length;
    await expect.poll(lookedUp).toBeGreaterThan(0);
    expect(lookedUp()).toBeLessThan(customers.length);
  }
  const [{ id, email }] = customers;
  await api("PATCH", `/v1/customers/${id}`, { email: `changed-${email}` });
  await page.getByRole("link", { name: `changed-${email}` }).click();
  await page.getByRole("heading", { name: `changed-${email}` }).waitFor();
  await api("DELETE", `/v1/customers/${id}`);
  await board.menu("Orders");
  await page.locator("td.from-tablet").getByText("Deleted customer").waitFor();
});

it("a list holds still under the pointer and while it has the focus, and n shows what is new", async () => {
  const { page, api } = board;
  await board.menu("Customers");
  const rows = page.locator("tr[data-row]");
  const newest = () => rows.first().getByRole("link").first().textContent();
  await api("POST", "/v1/customers", { email: "first@example.com" });
  await expect.poll(newest).toBe("first@example.com");
  await page.keyboard.press("j");
  await api("POST", "/v1/customers", { email: "second@example.com" });
  const pill = page.getByRole("button", { name: "1 new" });
  await pill.waitFor();
  await page.getByRole("status").getByText("New rows. Press n to show them.").waitFor({ state: "attached" });
  expect(await newest()).toBe("first@example.com");
  await page.keyboard.press("n");
  await pill.waitFor({ state: "detached" });
  await expect.poll(newest).toBe("second@example.com");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("second@example.com");

  // A row that is gone keeps its place, too, until the list is left.
  const [second] = (await api("GET", "/v1/customers?email=second@example.com")).body.data;
  await api("DELETE", `/v1/customers/${second.id}`);
  await api("POST", "/v1/customers", { email: "third@example.com" });
  await pill.waitFor();
  expect(await newest()).toBe("second@example.com");
  await page.getByRole("searchbox").focus();
  await expect.poll(newest).toBe("third@example.com");
  expect(await page.getByText("second@example.com").count()).toBe(0);
});

it("j and k go on to the next and previous page of the list from which it was opened, and Back to the list", async () => {
  const { page, api } = board;
  await api("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1:9/", events: ["customer.*"] });
  for (const name of ["one", "two", "three"]) await api("POST", "/v1/customers", { email: `${name}@example.com` });
  await board.menu("Deliveries");
  const rows = page.locator("tr[data-row]");
  await expect.poll(() => rows.count()).toBeGreaterThan(2);
  const ids = await page.evaluate<string[]>(
    "[...document.querySelectorAll('main [data-row-id]')].map(({ dataset }) => dataset.rowId)",
  );
  const open = () => new URL(page.url()).pathname.split("/").at(-1);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("complementary", { name: "Chosen row" }).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(open).toBe(ids[0]);
  await page.getByRole("heading", { level: 1, name: "customer.created" }).waitFor();
  await page.keyboard.press("j");
  await expect.poll(open).toBe(ids[1]);
  await page.keyboard.press("j");
  await expect.poll(open).toBe(ids[2]);
  await page.keyboard.press("k");
  await expect.poll(open).toBe(ids[1]);
  await page.getByRole("link", { name: "Previous in the list" }).click();
  await expect.poll(open).toBe(ids[0]);
  await page.keyboard.press("k");
  expect(open()).toBe(ids[0]);
  await page.goBack();
  await expect.poll(open).toBe("deliveries");
});

it("Escape leaves an explanation for the page before it, or for what a link from elsewhere explains", async () => {
  const { page, api, platform } = board;
  const [request] = (await api("GET", "/v1/request_logs?limit=1")).body.data;
  const path = () => new URL(page.url()).pathname;
  await board.menu("Deliveries");
  await page.locator("tr[data-row]").first().waitFor();
  await board.show(`sandbox/logs/${request.id}`);
  await page.locator(".facts").waitFor();
  await board.show(`sandbox/why/${request.id}`);
  await page.keyboard.press("Escape");
  await expect.poll(path).toBe(`/dashboard/sandbox/logs/${request.id}`);
  await page.goto(`${platform.baseUrl}/dashboard/sandbox/why/${request.id}`);
  await page.locator(".answer:not(.unknown)").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(path).toBe(`/dashboard/sandbox/logs/${request.id}`);
});

it("rows of a list that is loaded take the place of the rows, whose headings do not move", async () => {
  const { page } = board;
  await board.api("POST", "/v1/orders", { amount: 1999, currency: "EUR" });
  await board.menu("Overview");
  for (const [name, request] of [
    ["Deliveries", "**/v1/deliveries?*"],
    ["Orders", "**/v1/orders?*"],
    ["Events", "**/v1/events?*"],
  ] as const) {
    let respond = () => {};
    const pending = new Promise<void>((resolve) => (respond = resolve));
    await page.route(request, async (route) => {
      await pending;
      await route.continue().catch(() => {});
    });
    await board.menu(name);
    const head = page.locator("main :is(thead th, .virtual-head [role=columnheader])").first();
    await page.locator(".skeleton").first().waitFor();
    const before = await head.boundingBox();
    const row = await page.locator(".skeleton").first().boundingBox();
    respond();
    await page.locator("main [data-row]").first().waitFor();
    const after = await head.boundingBox();
    expect([after!.x, after!.y, after!.height], name).toEqual([before!.x, before!.y, before!.height]);
    expect((await page.locator("main [data-row]").first().boundingBox())!.y, name).toBeCloseTo(row!.y, 0);
    expect((await page.locator("main [data-row]").first().boundingBox())!.height, name).toBe(row!.height);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
});
