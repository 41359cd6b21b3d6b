import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { apiOf } from "../support/api.ts";
import { it, startChromium } from "../support/chromium.ts";
import { PATIENCE } from "../support/patience.ts";
import { runCli } from "../support/run-cli.ts";
import { type BehindBalancer, startBehindBalancer } from "./behind-balancer.ts";

let platform: BehindBalancer;
let receiver: ScriptedReceiver;
let chromium: Browser;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  [platform, receiver, chromium] = await Promise.all([
    startBehindBalancer(2),
    startScriptedReceiver(),
    startChromium(),
  ]);
  page = await signIn(platform.signInUrl);
});
afterAll(async () => {
  await chromium.close();
  await platform.close();
  await receiver.close();
  expect(complaints).toEqual([]);
});

/** Opens a browser context in which the owner is signed in. */
async function signIn(link: string): Promise<Page> {
  const context = await chromium.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-GB" });
  context.setDefaultTimeout(PATIENCE);
  const opened = await context.newPage();
  opened.on("pageerror", ({ message }) => complaints.push(message));
  opened.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) complaints.push(message.text());
  });
  await opened.goto(link);
  await opened.getByRole("heading", { name: "Overview" }).waitFor();
  return opened;
}

const menu = (name: string) => page.locator("#menu").getByRole("link", { name, exact: true }).click();
const apiAt = (node: number) => apiOf(platform.nodes[node]!.listenUrl, platform.sandboxKey);

it("a page whose requests alternate between processes creates an endpoint and shows its secret", async () => {
  const before = platform.served();
  await menu("Endpoints");
  await page.getByRole("button", { name: "Create endpoint" }).click();
  await page.getByLabel("URL").fill(`${receiver.url}/hook`);
  await page.getByRole("dialog").getByRole("button", { name: "Create endpoint" }).click();
  await page.getByRole("dialog", { name: "signing secret" }).getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { name: new URL(receiver.url).host }).waitFor();
  const sent = platform.served().map((count, node) => count - before[node]!);
  expect(Math.min(...sent)).toBeGreaterThan(0);
});

it("the dashboard shows events and deliveries of every process as they happen, and replays events", async () => {
  const { body: endpoints } = await apiAt(0)("GET", "/v1/webhook_endpoints");
  for (const { id } of endpoints.data) await apiAt(0)("DELETE", `/v1/webhook_endpoints/${id}`);
  const endpoint = { url: `${receiver.url}/hook`, events: ["*"] };
  expect((await apiAt(0)("POST", "/v1/webhook_endpoints", endpoint)).status).toBe(201);
  await menu("Events");
  await page.getByRole("heading", { name: "Events" }).waitFor();
  await page.evaluate("window.notReloaded = true");
  const list = page.getByRole("table", { name: "Events, newest first" });
  for (const [node, email] of ["first@example.com", "second@example.com"].entries()) {
    expect((await apiAt(node)("POST", "/v1/customers", { email })).status).toBe(201);
    await list.getByText(email).waitFor();
  }
  const env = { SERVICE_BASE_URL: platform.url, SERVICE_API_KEY: platform.sandboxKey };
  expect((await runCli(["trigger", "order.completed"], { env })).exitCode).toBe(0);
  await list.getByRole("link", { name: "order.completed" }).first().press("Enter");
  await page.getByRole("heading", { name: "order.completed" }).waitFor();
  const deliveries = page.getByRole("region", { name: "Deliveries of this event" });
  await deliveries.getByText("delivered").waitFor();
  const url = new URL(page.url());
  const id = url.searchParams.get("peek") ?? url.pathname.split("/").at(-1)!;
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Replay" }).click();
  await page.getByRole("button", { name: "Replay now" }).click();
  await page.getByText("Replayed to 1 receiver").waitFor();
  await expect.poll(() => deliveries.getByText("delivered").count()).toBe(2);
  const received = receiver.received.filter(({ event }) => event === id);
  expect(received).toHaveLength(2);
  expect(received[1]!.body).toBe(received[0]!.body);
  expect(await page.evaluate("window.notReloaded")).toBe(true);
});

it("the dashboard signs out another browser, whose session no process accepts afterwards", async () => {
  const link = await runCli(["serve", "link", "--json"], {
    env: { SERVICE_DATABASE: platform.database, SERVICE_MASTER_KEY: "5a".repeat(32) },
  });
  const other = await signIn((JSON.parse(link.stdout) as { sign_in_url: string }).sign_in_url);
  const cookies = (await other.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const requested = () =>
    Promise.all(
      platform.nodes.map(async ({ listenUrl }) => {
        const headers = { Cookie: cookies, "Service-Environment": "sandbox" };
        return (await fetch(`${listenUrl}/v1/me`, { headers })).status;
      }),
    );
  expect(await requested()).toEqual([200, 200]);
  await menu("Team & access");
  const sessions = page.getByRole("region", { name: "Your sessions" });
  await sessions.getByRole("button", { name: "Sign out" }).click();
  await sessions.getByRole("button", { name: "Sign out" }).waitFor({ state: "detached" });
  expect(await requested()).toEqual([401, 401]);
  await other.getByText("You are signed out").waitFor();
  await other.reload();
  await other.getByRole("heading", { name: "Sign in" }).waitFor();
});

it("the dashboard continues with the other process when either one is killed", async () => {
  await menu("Events");
  const list = page.getByRole("table", { name: "Events, newest first" });
  for (const email of ["third@example.com", "fourth@example.com"]) {
    await platform.nodes[0]!.kill();
    await platform.replace(0);
    // The page's stream was connected to one of the two; missed events come first after the reconnect.
    platform.nodes.reverse();
    expect((await apiAt(0)("POST", "/v1/customers", { email })).status).toBe(201);
    await list.getByText(email).waitFor();
  }
});
