import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
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
beforeEach(async () => {
  await board.page.unrouteAll({ behavior: "ignoreErrors" });
  // Drops the cached responses of earlier tests.
  await board.restart();
});

/** Resolves once each open stream has reported all changes, which it does with every beat. */
async function allReported(): Promise<void> {
  // A request is logged before the log is read.
  await board.api("GET", "/v1/request_logs");
  const stop = new AbortController();
  const headers = { Authorization: `Bearer ${board.platform.sandboxKey}` };
  const response = await fetch(`${board.platform.baseUrl}/v1/events/stream`, { headers, signal: stop.signal });
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split(": still here").length > 2) break;
  }
  stop.abort();
}

// One session in one browser: each test continues where the previous one ended.
describe("during network failures", { shuffle: false }, () => {
  it("pages poll only while the stream of events is down", async () => {
    const context = await board.signInElsewhere();
    const [page] = context.pages() as [Page];
    await page.locator(".live-sign").getByText("Live updates").waitFor();
    await page.route("**/v1/events/stream*", (route) => route.abort());
    await page.clock.install();
    await page.reload();
    await page.locator(".live-sign").getByText("Reconnecting").first().waitFor();
    await page.locator(".figures").waitFor();
    for (let poll = 0; poll < 3; poll++) {
      const asked = page.waitForResponse("**/v1/statistics*");
      await page.clock.fastForward(3_000);
      await asked;
    }
    await page.unroute("**/v1/events/stream*");
    await page.clock.fastForward(6_000);
    await page.locator(".live-sign").getByText("Live updates").waitFor();
    let reads = 0;
    page.on("request", (request) => {
      if (/\/v1\/(?!statistics)/.test(request.url())) reads += 1;
    });
    await board.api("POST", "/v1/test_clock/advance", { seconds: 60 });
    await allReported();
    const readsWithin = async (milliseconds: number) => {
      const before = reads;
      await page.clock.runFor(milliseconds);
      return reads - before;
    };
    // Outdated entries are requested once; without further changes nothing is requested.
    await expect.poll(async () => (await readsWithin(1_500)) === 0 && reads > 0).toBe(true);
    // A stream that is silent for 10 seconds of the page's time counts as down.
    expect(await readsWithin(5_000)).toBe(0);
    await context.close();
  });

  it("a list of events that failed to load is loaded by a retry", async () => {
    const { page } = board;
    await page.route("**/v1/events?*", (route) => route.abort());
    await board.show("sandbox/events");
    await page.getByRole("alert").getByText("cannot be reached").waitFor();
    await page.unroute("**/v1/events?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("table", { name: "Events, newest first" }).getByText("ada@example.com").waitFor();
  });

  it("events of the previous type are hidden while the new type loads", async () => {
    const { page } = board;
    await board.show("sandbox/events");
    const list = page.getByRole("table", { name: "Events, newest first" });
    await list.getByText("ada@example.com").waitFor();
    let respond = () => {};
    const pending = new Promise<void>((resolve) => (respond = resolve));
    await page.route("**/v1/events?*", async (route) => {
      await pending;
      await route.continue();
    });
    await page.getByLabel("Type").selectOption("payment.*");
    await page.getByRole("heading", { name: "Events" }).getByText("loading…").waitFor();
    await expect.poll(() => list.getByText("ada@example.com").count()).toBe(0);
    respond();
    await page.getByText("No matching events").waitFor();
  });

  it("a form keeps its input while its session has expired, and sends it afterwards", async () => {
    const { page } = board;
    await board.show("sandbox/customers");
    await page.getByRole("button", { name: "Create customer" }).click();
    await page.getByLabel("Email").fill("kept@example.com");
    const expired = { status: 401, contentType: "application/problem+json", body: '{"code":"revoked_credential"}' };
    await page.route("**/v1/customers", (route) =>
      route.request().method() === "POST" ? route.fulfill(expired) : route.continue(),
    );
    const submit = page.getByRole("dialog").getByRole("button", { name: "Create customer" });
    await submit.click();
    await page.getByRole("heading", { name: "You are signed out" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.unroute("**/v1/customers");
    // The session is another one after signing in again in another tab.
    await page.getByRole("button", { name: "I have signed in" }).click();
    await expect.poll(() => page.getByLabel("Email").inputValue()).toBe("kept@example.com");
    await submit.click();
    await page.getByRole("heading", { name: "kept@example.com" }).waitFor();
  });

  it("a page continues once its user has signed in in another tab", async () => {
    const { page, platform } = board;
    await board.show("sandbox/customers");
    const expired = { status: 401, contentType: "application/problem+json", body: '{"code":"revoked_credential"}' };
    await page.route("**/v1/orders?*", (route) => route.fulfill(expired));
    await board.menu("Orders");
    const notice = page.getByRole("heading", { name: "You are signed out" });
    await notice.waitFor();
    // Nothing was entered that another tab would keep.
    expect(await page.getByRole("button", { name: "I have signed in" }).count()).toBe(0);
    await page.unroute("**/v1/orders?*");
    const other = await page.context().newPage();
    await other.goto(`${platform.baseUrl}/dashboard/sandbox`);
    await notice.waitFor({ state: "detached" });
    await other.close();
  });

  it("a malformed URL shows an object that does not exist", async () => {
    const { page } = board;
    await board.show("sandbox/customers/%E0%A4%A");
    await page.getByRole("alert").getByText("Not found.").waitFor();
    await page.getByRole("link", { name: "All customers" }).click();
    await page.getByRole("heading", { name: "Customers" }).waitFor();
  });

  it("a page appears although its code arrived before the frame in which it was requested", async () => {
    const context = await board.signInElsewhere();
    const [page] = context.pages() as [Page];
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/later-*.js", async (route) => {
      await released;
      await route.continue();
    });
    await page.clock.install();
    const [request] = await Promise.all([page.waitForRequest("**/later-*.js"), page.reload()]);
    // No frame is rendered from here on.
    await page.clock.pauseAt(Date.now() + 5_000);
    await page.locator("#menu").getByRole("link", { name: "Orders", exact: true }).click();
    await page.locator("main").getByText("Loading…").waitFor({ state: "attached" });
    release();
    await page.evaluate(`import(${JSON.stringify(request.url())})`);
    await page.clock.resume();
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    await context.close();
  });

  it("a reload of a malformed URL shows that there is no such page", async () => {
    const { page, platform } = board;
    await page.goto(`${platform.baseUrl}/dashboard/sandbox/customers/%E0%A4%A`);
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
  });

  it("a change whose response was lost is made once, however often the button is pressed", async () => {
    const { page, api } = board;
    await page.route("**/v1/orders", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await route.fetch();
      return route.abort();
    });
    await board.show("sandbox/orders");
    await page.getByRole("button", { name: "Create order" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Amount").fill("19.99");
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
    // A new request creates another order.
    await board.menu("Orders");
    await page.getByRole("button", { name: "Create order" }).click();
    await dialog.getByLabel("Amount").fill("19.99");
    await dialog.getByRole("button", { name: "Create order" }).click();
    await page.getByRole("heading", { name: "Order of EUR 19.99" }).waitFor();
    expect((await api("GET", "/v1/orders")).body.data).toHaveLength(2);
  });

  it("a change that failed minutes ago is sent as a new change", async () => {
    const context = await board.signInElsewhere();
    const [page] = context.pages() as [Page];
    await page.locator("#menu").getByRole("link", { name: "Customers", exact: true }).click();
    await page.getByRole("button", { name: "Create customer" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Email").fill("again@example.com");
    await page.clock.install();
    const keys: (string | undefined)[] = [];
    await page.route("**/v1/customers", async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      await route.abort();
    });
    for (const pause of ["00:00", "04:00", "04:00", "10:00"]) {
      await page.clock.fastForward(pause);
      const failed = page.waitForEvent("requestfailed", (request) => request.method() === "POST");
      await dialog.getByRole("button", { name: "Create customer" }).click();
      await failed;
      await dialog.getByRole("alert").getByText("cannot be reached").waitFor();
    }
    const [first, , , last] = keys;
    expect(keys).toEqual([first, first, first, last]);
    expect(last).not.toBe(first);
    await context.close();
  });

  it("the first steps stay visible while the platform is unreachable", async () => {
    const { page } = board;
    await board.show("sandbox");
    const steps = page.getByRole("heading", { name: /^Quick start/ });
    await steps.waitFor();
    await page.route("**/v1/**", (route) => route.abort());
    await board.api("POST", "/v1/customers", { email: "unseen@example.com" });
    await page.getByRole("alert").getByText("cannot be reached").first().waitFor();
    await page.waitForRequest("**/v1/events?*");
    await expect.poll(() => steps.count()).toBe(1);
  });

  it("an outage is reported once, without old headlines, until there is a connection", async () => {
    const { page, api } = board;
    const { body } = await api("POST", "/v1/webhook_endpoints", { url: "http://127.0.0.1:9/", events: ["*"] });
    await api("POST", "/v1/customers", { email: "before@example.com" });
    await board.show(`sandbox/endpoints/${body.id}`);
    const headline = page.locator(".answer:not(.outage)");
    await page.getByRole("region", { name: "Deliveries to this endpoint" }).waitFor();
    await headline.getByText("127.0.0.1:9").waitFor();
    await page.route("**/v1/**", (route) => route.abort());
    await api("POST", "/v1/customers", { email: "outage@example.com" });
    const alert = page.getByRole("alert");
    await alert.getByText("The platform cannot be reached.").waitFor();
    // Every part of the page fails to be read, one after the other.
    await page.waitForRequest("**/v1/deliveries?*");
    await page.waitForRequest("**/v1/statistics?*");
    expect([await alert.count(), await headline.isVisible()]).toEqual([1, false]);
    await page.getByRole("button", { name: "Send test event" }).waitFor();
    await page.unroute("**/v1/**");
    await alert.waitFor({ state: "detached" });
    await headline.waitFor();
  });

  it("a list of events that could not be read is read again", async () => {
    const context = await board.signInElsewhere();
    const [page] = context.pages() as [Page];
    await page.locator(".live-sign").getByText("Live updates").waitFor();
    await page.route("**/v1/events?*", (route) => route.abort(), { times: 1 });
    await page.locator("#menu").getByRole("link", { name: "Events", exact: true }).click();
    await page.getByRole("table", { name: "Events, newest first" }).getByRole("link").first().waitFor();
    expect(await page.getByText("cannot be reached").count()).toBe(0);
    await context.close();
  });

  it("a stream of events that never responds is requested again", async () => {
    const context = await board.signInElsewhere();
    const [page] = context.pages() as [Page];
    await page.clock.install();
    // The first request never gets a response.
    await page.route("**/v1/events/stream*", () => {}, { times: 1 });
    const [first] = await Promise.all([page.waitForRequest("**/v1/events/stream*"), page.reload()]);
    const given = page.waitForEvent("requestfailed", (request) => request === first);
    await page.clock.fastForward(11_000);
    await given;
    await page.clock.fastForward(5_000);
    await page.locator(".live-sign").getByText("Live updates").waitFor();
    await context.close();
  });
});
