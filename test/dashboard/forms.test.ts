import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;

beforeAll(async () => {
  board = await openBoard();
});
afterAll(async () => {
  await board.close();
  expect(board.complaints).toEqual([]);
});
beforeEach(() => board.restart());

it("a form sends only what was changed since it was opened", async () => {
  const { page, api } = board;
  const { id } = (
    await api("POST", "/v1/customers", { email: "ada@example.com", name: "Ada", metadata: { plan: "pro", seats: "4" } })
  ).body;
  await board.show(`sandbox/customers/${id}`);
  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Phone").fill("+493012345678");
  await api("PATCH", `/v1/customers/${id}`, { name: "Ada King", metadata: { crm_id: "c-1", plan: "max" } });
  // The page behind the form shows the change.
  await page.locator(".answer.object").getByText("Ada King").waitFor();
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.locator(".facts").getByText("+493012345678").waitFor();
  expect((await api("GET", `/v1/customers/${id}`)).body).toMatchObject({
    name: "Ada King",
    phone: "+493012345678",
    metadata: { plan: "max", seats: "4", crm_id: "c-1" },
  });
});

it("the forms of endpoints, apps and keys keep concurrent changes too", async () => {
  const { page, api } = board;
  const endpoint = { url: "http://127.0.0.1:9/old", events: ["order.*"], description: "Old" };
  const app = { name: "Old app", redirect_uris: ["https://app.example.com/callback"] };
  const key = { name: "Old key", scopes: ["customers:read"] };
  for (const [list, created, label, changes, kept] of [
    ["endpoints", ["webhook_endpoints", endpoint], "Description", { events: ["payment.*"] }, { url: endpoint.url }],
    ["apps", ["oauth_apps", app], "Name", { redirect_uris: ["https://new.example.com/callback"] }, {}],
    ["keys", ["api_keys", key], "Name", { scopes: ["orders:read"], ip_allowlist: ["203.0.113.0/24"] }, {}],
  ] as const) {
    const path = `/v1/${created[0]}`;
    const { status, body } = await api("POST", path, created[1]);
    expect(status).toBe(201);
    await board.show(`sandbox/${list}/${body.id}`);
    if (list === "endpoints") {
      await page.getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("menuitem", { name: "Edit" }).click();
    } else await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(label).fill("New text");
    expect((await api("PATCH", `${path}/${body.id}`, changes)).status).toBe(200);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const [field] = label === "Name" ? ["name"] : ["description"];
    expect((await api("GET", `${path}/${body.id}`)).body).toMatchObject({ ...kept, ...changes, [field]: "New text" });
  }
});

it("a form without changes is saved and changes nothing", async () => {
  const { page, api } = board;
  const { id } = (await api("POST", "/v1/customers", { email: "same@example.com", name: "Same" })).body;
  await board.show(`sandbox/customers/${id}`);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByText(`Saved ${id}`).waitFor();
  expect((await api("GET", `/v1/events?related=${id}`)).body.data).toHaveLength(1);
});

const METADATA = { note: "line 1\nline 2=x", "a=b": "c", " edge ": " v ", "tab\tline\n": "\r\n", plan: "pro" };

it("metadata of any characters is unchanged unless it is edited", async () => {
  const { page, api } = board;
  const { id } = (await api("POST", "/v1/customers", { email: "any@example.com", metadata: METADATA })).body;
  await board.show(`sandbox/customers/${id}`);
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Phone").fill("+4915112345678");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText(`Saved ${id}`).waitFor();
  expect((await api("GET", `/v1/customers/${id}`)).body).toMatchObject({ phone: "+4915112345678", metadata: METADATA });

  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Value of plan").fill("max\n= 2");
  await dialog.getByRole("button", { name: "Remove a=b" }).click();
  await dialog.getByRole("button", { name: "Add metadata" }).click();
  // The new row has the focus.
  await page.keyboard.type("crm=id");
  await page.keyboard.press("Tab");
  await page.keyboard.type(" 7 ");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.locator(".facts").getByText("crm=id").waitFor();
  const { "a=b": _removed, ...kept } = METADATA;
  const { metadata } = (await api("GET", `/v1/customers/${id}`)).body;
  expect(metadata).toEqual({ ...kept, plan: "max\n= 2", "crm=id": " 7 " });
});

it("a key that is too long or used twice is reported next to its row", async () => {
  const { page, api } = board;
  await board.menu("Customers");
  await page.getByRole("button", { name: "Create customer" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email").fill("twice@example.com");
  for (const key of ["plan", "plan"]) {
    await dialog.getByRole("button", { name: "Add metadata" }).click();
    await page.keyboard.type(key);
    await page.keyboard.press("Tab");
    await page.keyboard.type("pro");
  }
  const create = dialog.getByRole("button", { name: "Create customer" });
  await create.click();
  await dialog.locator(".field-error").getByText("The key plan is used twice.").waitFor();
  // The focus moves to it after it is shown.
  const focused = () => page.evaluate("document.activeElement.value");
  await expect.poll(focused).toBe("plan");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("x".repeat(41));
  await create.click();
  await dialog.locator(".field-error").getByText("40 characters").waitFor();
  await expect.poll(focused).toBe("x".repeat(41));
  await page.keyboard.press("Control+a");
  await page.keyboard.type("seats");
  await create.click();
  await page.getByRole("heading", { name: "twice@example.com" }).waitFor();
  const [customer] = (await api("GET", "/v1/customers?email=twice@example.com")).body.data;
  expect(customer.metadata).toEqual({ plan: "pro", seats: "pro" });
});

it("an endpoint's headers are set, added and removed, and shown by name", async () => {
  const { page, api } = board;
  const endpoint = { url: "http://127.0.0.1:9/headers", events: ["*"], headers: { "X-Old": "1", "X-Kept": "2" } };
  const { id } = (await api("POST", "/v1/webhook_endpoints", endpoint)).body;
  await board.show(`sandbox/endpoints/${id}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Headers").fill("Host: example.com");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("is set by the delivery or its connection").first().waitFor();
  await dialog.getByLabel("Headers").fill("Authorization: Bearer a:b\n\nX-Old:");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.locator(".facts").getByText("X-Kept, Authorization").waitFor();
  expect((await api("GET", `/v1/webhook_endpoints/${id}`)).body.header_names).toEqual(["X-Kept", "Authorization"]);
});

it("a currency may be typed in any case", async () => {
  const { page, api } = board;
  await board.show("sandbox/orders");
  await page.getByRole("button", { name: "Create order" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount").fill("19.99");
  await dialog.getByLabel("Currency").fill("usd");
  await dialog.getByRole("button", { name: "Create order" }).click();
  await page.getByText("Order of USD 19.99").first().waitFor();
  expect((await api("GET", "/v1/orders")).body.data).toMatchObject([{ amount: 1999, currency: "USD" }]);
});

it("the form of an endpoint says how events reach an app on the user's machine", async () => {
  const { page } = board;
  await board.show("sandbox/endpoints?create=1");
  const url = page.getByRole("dialog").getByLabel("URL");
  const hint = page.getByText("npx service-cli listen --forward-to");
  await url.fill("https://example.com/webhooks");
  expect(await hint.count()).toBe(0);
  await url.fill("http://localhost:3000/webhooks");
  await hint.waitFor();
});

it("the error of a field disappears once its value changes, and says what this platform accepts", async () => {
  const { page } = board;
  await board.show("sandbox/endpoints?create=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("URL").fill("ftp://example.com/webhooks");
  await dialog.getByRole("button", { name: "Create endpoint" }).click();
  await dialog.getByText("must begin with https:// or http://").waitFor();
  await dialog.getByLabel("URL").fill("https://example.com/webhooks");
  await expect.poll(() => dialog.locator(".field-error").count()).toBe(0);
});

it("the page of an explanation takes the ID to explain", async () => {
  const { page, api } = board;
  const { id } = (await api("POST", "/v1/customers", { email: "explained@example.com" })).body;
  await board.show("sandbox/why/mistyped");
  await page.getByLabel("ID", { exact: true }).fill(` ${id} `);
  await page.getByRole("button", { name: "Explain", exact: true }).click();
  await page.waitForURL(`**/why/${id}`);
  await page.getByRole("link", { name: "explained@example.com" }).first().waitFor();
});

it("the form of an endpoint sends no request without a URL, and shows which types a wildcard covers", async () => {
  const { page, api } = board;
  const rejected = async () => (await api("GET", "/v1/request_logs?method=POST&status=4xx")).body.data.length;
  const before = await rejected();
  await board.show("sandbox/endpoints?create=1");
  const box = (name: string) => page.getByRole("dialog").getByLabel(name, { exact: true });
  const states = async () =>
    Promise.all(["All events", "order.*", "order.created", "payment.failed"].map((name) => box(name).isChecked()));
  const create = page.getByRole("dialog").getByRole("button", { name: "Create endpoint" });
  await create.click();
  await page.getByText("Enter a URL").waitFor();
  expect(await rejected()).toBe(before);
  expect(await box("order.created").count()).toBe(0);
  await box("Selected events").check();
  const { y, height } = (await create.boundingBox())!;
  expect(y + height).toBeLessThanOrEqual(page.viewportSize()!.height);
  expect(await states()).toEqual([false, false, false, false]);
  await box("order.*").check();
  expect(await states()).toEqual([false, true, true, false]);
  await box("payment.failed").check();
  expect(await states()).toEqual([false, true, true, true]);
  // A type is below its wildcard, to the right.
  const [parent, child] = await Promise.all(["order.*", "order.created"].map((name) => box(name).boundingBox()));
  expect(child!.x).toBeGreaterThan(parent!.x);
  expect(child!.y).toBeGreaterThan(parent!.y);
});
