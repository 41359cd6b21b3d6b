import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;

beforeAll(async () => {
  board = await openBoard();
  await board.api("POST", "/v1/customers", { email: "ada@example.com" });
});
afterAll(async () => {
  await board.close();
  expect(board.complaints).toEqual([]);
});
beforeEach(() => board.page.unrouteAll({ behavior: "ignoreErrors" }));

it("replies that take longer than the pause between two reads are shown all the same", async () => {
  const { page } = board;
  // The overview reads its figures every two seconds.
  let asked = 0;
  let askedBeforeReply = 0;
  await page.route("**/v1/statistics*", async (route) => {
    asked += 1;
    if (asked === 1) {
      await page.waitForRequest("**/v1/statistics*", { timeout: 2500 }).catch(() => {});
      askedBeforeReply = asked;
    }
    await route.continue();
  });
  await board.show("sandbox/keys");
  await board.show("sandbox");
  await page.locator(".figures").waitFor();
  expect(askedBeforeReply).toBe(1);
});

it("a list of events that could not be read is read when it is tried again", async () => {
  const { page } = board;
  await page.route("**/v1/events?*", (route) => route.abort());
  await board.show("sandbox/events");
  await page.getByRole("alert").getByText("cannot be reached").waitFor();
  await page.unroute("**/v1/events?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("table", { name: "Events, newest first" }).getByText("ada@example.com").waitFor();
});

it("events of the type chosen before are not shown while the others are read", async () => {
  const { page } = board;
  await board.show("sandbox/events");
  const list = page.getByRole("table", { name: "Events, newest first" });
  await list.getByText("ada@example.com").waitFor();
  let answer = () => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/v1/events?*", async (route) => {
    await held;
    await route.continue();
  });
  await page.getByLabel("Type").selectOption("order.*");
  await page.getByRole("status").getByText("reading").waitFor();
  expect(await list.getByText("ada@example.com").count()).toBe(0);
  answer();
  await page.getByText("No events yet.").waitFor();
});

it("an address that cannot be read names an object that is not there", async () => {
  const { page } = board;
  await board.show("sandbox/customers/%E0%A4%A");
  await page.getByRole("alert").getByText("Not found.").waitFor();
});

it("a change whose answer was lost is made once, however often the button is pressed", async () => {
  const { page, api } = board;
  await page.route("**/v1/orders", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    await route.fetch();
    return route.abort();
  });
  await board.show("sandbox/orders");
  await page.getByRole("button", { name: "Create order" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Amount").fill("1999");
  for (let lost = 1; lost <= 2; lost++) {
    const failed = page.waitForEvent("requestfailed");
    await dialog.getByRole("button", { name: "Create order" }).click();
    await failed;
    await dialog.getByRole("alert").getByText("cannot be reached").waitFor();
  }
  await page.unroute("**/v1/orders");
  await dialog.getByRole("button", { name: "Create order" }).click();
  await page.getByRole("heading", { name: "Order of EUR 19.99" }).waitFor();
  expect((await api("GET", "/v1/orders")).body.data).toHaveLength(1);
  // An order that is asked for again is another one.
  await board.menu("Orders");
  await page.getByRole("button", { name: "Create order" }).click();
  await dialog.getByLabel("Amount").fill("1999");
  await dialog.getByRole("button", { name: "Create order" }).click();
  await page.getByRole("heading", { name: "Order of EUR 19.99" }).waitFor();
  expect((await api("GET", "/v1/orders")).body.data).toHaveLength(2);
});

it("first steps that are known stay in sight while the platform cannot be reached", async () => {
  const { page } = board;
  await board.show("sandbox");
  const steps = page.getByRole("heading", { name: /^Quick start/ });
  await steps.waitFor();
  await page.route("**/v1/**", (route) => route.abort());
  await page.getByRole("alert").getByText("cannot be reached").waitFor();
  await page.waitForRequest("**/v1/events?*");
  await page.waitForRequest("**/v1/events?*");
  expect(await steps.count()).toBe(1);
});

it("a stream of events that is never answered is asked for again", async () => {
  const context = await board.signInElsewhere();
  const [page] = context.pages() as [Page];
  await page.clock.install();
  // The first one hangs.
  await page.route("**/v1/events/stream*", () => {}, { times: 1 });
  const [first] = await Promise.all([page.waitForRequest("**/v1/events/stream*"), page.reload()]);
  const given = page.waitForEvent("requestfailed", (request) => request === first);
  await page.clock.fastForward(11_000);
  await given;
  await page.clock.fastForward(5_000);
  await page.locator(".live-sign").getByText("Updating").first().waitFor();
  await context.close();
});
