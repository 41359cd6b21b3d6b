import type { Request, Route } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { HEADERS } from "../../src/contract/headers.ts";
import { apiOf } from "../support/api.ts";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;
/** Requests of the page, oldest first. */
const requests: Request[] = [];

beforeAll(async () => {
  board = await openBoard();
  board.page.on("request", (request) => requests.push(request));
});
afterAll(async () => {
  await board.close();
  expect(board.complaints).toEqual([]);
});
beforeEach(async () => {
  await board.page.unrouteAll({ behavior: "ignoreErrors" });
  await board.restart();
  requests.length = 0;
});

/** Holds requests of one method until they are let through. */
async function hold(url: string, method: string): Promise<{ held: Promise<void>; release: () => void }> {
  let release = () => {};
  let arrive = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const held = new Promise<void>((resolve) => (arrive = resolve));
  await board.page.route(url, async (route: Route) => {
    if (route.request().method() !== method) return route.fallback();
    arrive();
    await released;
    // The page may have given it up.
    await route.continue().catch(() => {});
  });
  return { held, release };
}

/** The environments to which requests of a path were sent. */
function environmentsOf(path: string, method: string): unknown[] {
  return requests
    .filter((request) => new URL(request.url()).pathname === path && request.method() === method)
    .map((request) => request.headers()[HEADERS.environment.toLowerCase()]);
}

it("a change that completes after an environment switch adds nothing to the other list", async () => {
  const { page, platform } = board;
  const live = apiOf(platform.baseUrl, platform.liveKey);
  expect((await live("POST", "/v1/api_keys", { name: "Live key", scopes: ["customers:read"] })).status).toBe(201);
  await board.api("POST", "/v1/api_keys", { name: "Sandbox key", scopes: ["customers:read"] });
  await board.menu("API keys");
  const row = page.getByRole("row").filter({ hasText: "Sandbox key" });
  await row.getByRole("button", { name: "Revoke" }).click();
  const { held, release } = await hold("**/v1/api_keys/*/revoke", "POST");
  await page.getByRole("button", { name: "Revoke key" }).click();
  await held;
  await board.show("live/keys");
  await page.getByRole("link", { name: "Live key" }).waitFor();
  release();
  await page.getByText(/^Revoked key_/).waitFor();

  const reads = await hold("**/v1/api_keys?*", "GET");
  await page.goBack();
  await page.locator("[data-environment=sandbox]").waitFor();
  await reads.held;
  expect(await page.getByRole("link", { name: "Live key" }).count()).toBe(0);
  reads.release();
  await page.getByRole("link", { name: "Sandbox key" }).waitFor();
});

it("all requests of an action go to the environment in which it began", async () => {
  const { page, api } = board;
  const events = ["order.*", "payment.*"];
  const { id } = (await api("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1:9/hook", events })).body;
  await api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await api("POST", "/v1/payments", { amount: 1, currency: "EUR" });
  await board.show(`sandbox/endpoints/${id}`);
  const { held, release } = await hold(`**/v1/webhook_endpoints/${id}`, "PATCH");
  await page.getByRole("button", { name: "Enable and replay" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Enable and replay 2" }).click();
  await held;
  requests.length = 0;
  await board.show("live/endpoints");
  await page.locator("[data-environment=live]").waitFor();
  release();
  await expect.poll(() => environmentsOf("/v1/events/replay", "POST")).toEqual(["sandbox"]);
  await page.getByText("Enabled. Replaying 2 missed events").waitFor();
  expect(environmentsOf(`/v1/webhook_endpoints/${id}`, "GET")).not.toContain("live");
});

it("an object that was created in one environment is not opened in the other", async () => {
  const { page } = board;
  await board.menu("Customers");
  await page.getByRole("button", { name: "Create customer" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email").fill("late@example.com");
  const { held, release } = await hold("**/v1/customers", "POST");
  await dialog.getByRole("button", { name: "Create customer" }).click();
  await held;
  await board.show("live/customers");
  await page.getByText("No customers yet").waitFor();
  release();
  await page.getByText(/^Created cus_/).waitFor();
  expect(new URL(page.url()).pathname).toBe("/dashboard/live/customers");
});

it("a list of events is no longer read after an environment switch", async () => {
  const { page, api } = board;
  const list = page.getByRole("table", { name: "Events, newest first" });
  const environments = page.getByRole("group", { name: "Environment" });
  const readsAfter = async (name: "Sandbox" | "Live") => {
    const own = name === "Live" ? "live" : "sandbox";
    requests.length = 0;
    await environments.getByRole("link", { name }).click();
    // Now, and once more when the stream has begun.
    await expect.poll(() => environmentsOf("/v1/events", "GET").filter((one) => one === own).length).toBe(2);
    const [key, email] = name === "Live" ? [board.platform.liveKey, "live"] : [board.platform.sandboxKey, "sandbox"];
    const address = `${email}-${Math.random()}@example.com`;
    await apiOf(board.platform.baseUrl, key)("POST", "/v1/customers", { email: address });
    await list.getByText(address).waitFor();
    const reads = environmentsOf("/v1/events", "GET");
    // The other list may be read until the click.
    return reads.slice(reads.indexOf(own));
  };
  await api("POST", "/v1/customers", { email: "first@example.com" });
  await board.menu("Events");
  await list.getByText("first@example.com").waitFor();
  for (let switches = 0; switches < 3; switches++) {
    expect(await readsAfter("Live")).toEqual(["live", "live"]);
    expect(await readsAfter("Sandbox")).toEqual(["sandbox", "sandbox"]);
  }
});

it("the overview of live mode does not ask for the test clock, which only the sandbox has", async () => {
  const { page } = board;
  await board.show("live");
  await page.getByText("No endpoints yet").waitFor();
  await board.menu("Customers");
  await page.getByRole("heading", { level: 1, name: "Customers" }).waitFor();
  expect(environmentsOf("/v1/test_clock", "GET")).not.toContain("live");
});
