import { afterEach, beforeEach, expect } from "vitest";
import { startListener } from "../support/listener.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { createConfigDir } from "../support/run-cli.ts";
import { it } from "../support/chromium.ts";
import { type Board, openBoard } from "./support/board.ts";

let board: Board;
let receiver: Receiver;
let secret = "";

beforeEach(async () => {
  [board, receiver] = await Promise.all([openBoard(), startReceiver(() => secret)]);
});
afterEach(async () => {
  await receiver.close();
  await board.close();
});

it("the page guides a new user from an empty database to a verified delivery and a replay", async () => {
  const { page } = board;
  await page.getByText("Quick start").waitFor();
  expect(new URL(page.url()).pathname).toBe("/dashboard/sandbox");

  await page.getByRole("link", { name: "register an endpoint" }).click();
  await page.getByLabel("URL").fill(receiver.url);
  await page.getByRole("button", { name: "Create endpoint" }).last().click();
  const once = page.getByRole("dialog", { name: "The endpoint's signing secret" });
  await once.getByRole("button", { name: "Copy the signing secret" }).click();
  const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
  await expect.poll(clipboard).toMatch(/^whsec_/);
  secret = await clipboard();
  await once.getByRole("button", { name: "Done" }).click();
  await page.getByText("No deliveries yet").waitFor();
  expect(await page.content()).not.toContain(secret);

  await board.menu("Overview");
  await page.getByRole("button", { name: "Create a customer" }).click();
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByRole("button", { name: "Create customer" }).click();
  await page.getByRole("heading", { name: "ada@example.com" }).waitFor();
  await receiver.until(() => receiver.events.length === 1);
  expect(receiver.events[0]).toMatchObject({
    type: "customer.created",
    data: { object: { email: "ada@example.com" } },
  });

  await board.menu("Overview");
  await page.getByText("customer.created was delivered").waitFor();
  await page.getByRole("link", { name: "Open the event and choose More, Replay" }).click();
  await board.choose("Replay");
  await page.getByRole("button", { name: "Replay now" }).click();
  await page.getByText("Replayed to 1 receiver").waitFor();
  await receiver.until(() => receiver.events.length === 2);
  expect(receiver.ids().size).toBe(1);
  expect(receiver.rejections).toEqual([]);

  await board.menu("Overview");
  await page.getByRole("heading", { name: /^Endpoints/ }).waitFor();
  await expect.poll(() => page.getByText("Quick start").count()).toBe(0);
  expect(board.complaints).toEqual([]);
});

it("the commands on the page work with this server", async () => {
  const { page, platform } = board;
  await page.goto(`${platform.baseUrl}/dashboard/live`);
  await page.getByRole("heading", { name: /^Endpoints/ }).waitFor();
  await expect.poll(() => page.getByText("Quick start").count()).toBe(0);

  await page.goto(`${platform.baseUrl}/dashboard/sandbox`);
  const commands = page.locator(".copy-line code");
  await page.getByText("Quick start").waitFor();
  await expect
    .poll(() => commands.allTextContents())
    .toEqual([
      `npx service-cli login --base-url ${platform.baseUrl}`,
      "npx service-cli listen --forward-to localhost:3000",
      "SERVICE_WEBHOOK_SECRET=$(npx service-cli listen --print-secret) node receiver.mjs",
      "npx service-cli trigger order.completed",
    ]);
  const env = {
    SERVICE_BASE_URL: platform.baseUrl,
    SERVICE_API_KEY: platform.sandboxKey,
    SERVICE_CONFIG_DIR: createConfigDir(),
  };
  const listener = await startListener(env, ["--forward-to", receiver.url]);
  secret = listener.secret;
  await board.api("POST", "/v1/customers", { email: "grace@example.com" });
  await page.getByText("customer.created was delivered").waitFor();
  await listener.interrupt();

  await page.getByRole("button", { name: "Hide" }).click();
  await page.reload();
  await page.locator(".figures").waitFor();
  expect(await page.getByText("Quick start").count()).toBe(0);
  await page.getByRole("button", { name: "Show the first steps" }).click();
  await page.getByRole("heading", { name: /^Quick start/ }).waitFor();
});
