// The dashboard in a real Chromium: first load until the first figures, a list of 10,000 events, 50 events a second.
import { chromium } from "playwright-core";
import { atLeast, atMost } from "./goals.js";
import { api, median, startService, stop } from "./measure.js";

const LOADS = 9;
const EVENTS = 10_000;
const AT_ONCE = 32;
const PER_SECOND = 50;
const SECONDS = 6;
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];

/** Records when the first figures appeared. */
const WATCH = `
  new MutationObserver((_changes, observer) => {
    if (document.querySelector("SELECTOR") === null) return;
    window.shownAt = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });`;

/** Counts frames for this many milliseconds while a step runs before each. Returns the frames of each second. */
const COUNT_FRAMES = `
  window.countFrames = (milliseconds, before) => new Promise((resolve) => {
    const start = performance.now();
    const seconds = [];
    let frames = 0;
    let longest = 0;
    let last = start;
    const frame = (now) => {
      frames += 1;
      longest = Math.max(longest, now - last);
      last = now;
      before();
      if (now - start >= (seconds.length + 1) * 1000) {
        seconds.push(frames);
        frames = 0;
      }
      if (now - start < milliseconds) requestAnimationFrame(frame);
      else resolve({ seconds, longest });
    };
    requestAnimationFrame(frame);
  })`;

/** As many rows as a browser scrolls without virtualization, with nothing to do but paint. */
const PLAIN_LIST = `
  const list = document.querySelector("main");
  Object.assign(list.style, { height: "650px", width: "1200px", overflowY: "scroll" });
  list.replaceChildren(...Array.from({ length: 1000 }, (_, index) => {
    const row = document.createElement("div");
    row.style.height = "36px";
    for (const text of ["customer.created", "board@example.com", "evt_06Fv3Tt0q1Yd8mWc5KxLrB", "12:00:00"]) {
      const cell = document.createElement("a");
      cell.textContent = text + index;
      row.append(cell);
    }
    return row;
  }));`;

const scrollThrough = (selector) => `(() => {
  const list = document.querySelector("${selector}");
  list.scrollTop = 0;
  let step = 120;
  return countFrames(5000, () => {
    if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) step = -120;
    else if (list.scrollTop === 0) step = 120;
    list.scrollTop += step;
  });
})()`;

export async function benchDashboard() {
  const service = await startService();
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
  try {
    return await measure(service, browser);
  } finally {
    await browser.close();
    await stop(service);
  }
}

async function measure(service, browser) {
  const { base_url: baseUrl, sign_in_url: signInUrl } = service.ready;
  const call = api(service);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(signInUrl);
  await page.locator(".figures").waitFor();
  await call("POST", "/v1/customers", { email: "first@example.com" });
  const state = await context.storageState();
  const loads = await inTurn(LOADS, {
    dashboard: () => firstLoad(browser, state, `${baseUrl}/dashboard/sandbox`, ".figures"),
    interactive: () => firstLoad(browser, state, `${baseUrl}/dashboard/sandbox`, "#menu"),
    bare: () => firstLoad(browser, undefined, `${baseUrl}/sign-in`, "main"),
  });

  await makeEvents(call, EVENTS);
  await page.goto(`${baseUrl}/dashboard/sandbox/events`);
  await page.locator(".virtual-body").waitFor();
  await page.evaluate(COUNT_FRAMES);
  await readAll(page);
  const scrolled = await page.evaluate(scrollThrough("html"));
  await page.goto(`${baseUrl}/sign-in`);
  await page.evaluate(COUNT_FRAMES);
  await page.evaluate(PLAIN_LIST);
  const plain = await page.evaluate(scrollThrough("main"));
  const still = await framesOf(page, baseUrl, "/sign-in", async () => {});
  const live = await framesOf(page, baseUrl, "/dashboard/sandbox/events", () => steady(call));
  const charts = await framesOf(page, baseUrl, "/dashboard/sandbox", () => steady(call));
  const load = (name, measured, goal) => ({
    name: `Dashboard: ${name}`,
    figure: `${median(loads[measured]).toFixed(0)} ms`,
    baseline: `${median(loads.bare).toFixed(0)} ms for a page without scripts`,
    value: median(loads[measured]),
    ratio: median(loads[measured]) / median(loads.bare),
    goal,
  });
  const frames = (name, counted, baseline, words) => ({
    name: `Dashboard: ${name}`,
    figure: `${slowest(counted)} frames in the slowest second`,
    baseline: `${slowest(baseline)} ${words}`,
    value: slowest(counted),
    ratio: slowest(counted) / slowest(baseline),
    goal: atLeast(50, "frames"),
  });
  return [
    load("first load until the page can be used, nothing cached", "interactive", atMost(300, "ms")),
    load("first load to the first figures, nothing cached", "dashboard"),
    frames("scrolling through 10,000 events, 7,200 pixels/s", scrolled, plain, "in a plain list of 1,000 rows"),
    frames("the list of events at 50 events/s", live, still, "on a page that stands still"),
    frames("the overview at 50 events/s", charts, still, "on a page that stands still"),
  ];
}

/** Returns the milliseconds from navigation until the selector appears, with an empty browser cache. */
async function firstLoad(browser, storageState, url, selector) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, storageState });
  const page = await context.newPage();
  await page.addInitScript(WATCH.replace("SELECTOR", selector));
  await page.goto(url);
  await page.locator(selector).first().waitFor();
  const shown = await page.evaluate("window.shownAt");
  await context.close();
  return shown;
}

/** Runs each this many times, alternating. Returns the results of each. */
async function inTurn(rounds, tasks) {
  const results = Object.fromEntries(Object.keys(tasks).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, task] of Object.entries(tasks)) results[name].push(await task());
  }
  return results;
}

let serial = 0;

const makeCustomer = (call) => call("POST", "/v1/customers", { email: `board-${++serial}@example.com` });

async function makeEvents(call, count) {
  const make = async () => {
    while (serial < count) await makeCustomer(call);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, make));
}

/** Scrolls the list to its end, as holding down the End key does. */
async function readAll(page) {
  for (;;) {
    await page.evaluate("scrollTo(0, 1e9)");
    const rows = await page.evaluate(`Number(document.querySelector(".virtual").getAttribute("aria-rowcount"))`);
    if (rows > EVENTS) return;
  }
}

async function framesOf(page, baseUrl, path, work) {
  await page.goto(baseUrl + path);
  await page.waitForLoadState("load");
  await page.evaluate(COUNT_FRAMES);
  // The first second still loads.
  await page.evaluate("countFrames(1000, () => {})");
  const counted = page.evaluate(`countFrames(${SECONDS * 1000}, () => {})`);
  await work();
  return counted;
}

/** Creates this many events a second, evenly spaced. */
async function steady(call) {
  const making = [];
  const start = performance.now();
  for (let created = 0; created < PER_SECOND * SECONDS; created++) {
    const wait = start + (created * 1000) / PER_SECOND - performance.now();
    if (wait > 0) {
      await new Promise((resolve) => {
        setTimeout(resolve, wait);
      });
    }
    making.push(makeCustomer(call));
  }
  await Promise.all(making);
}

function slowest({ seconds }) {
  return Math.min(...seconds);
}
