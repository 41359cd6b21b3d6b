import { afterAll, beforeAll, expect } from "vitest";
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

it("the sandbox page saves, restores and deletes snapshots, and resets the sandbox", async () => {
  const { page, api } = board;
  const emails = async () => (await api("GET", "/v1/customers")).body.data.map(({ email }: { email: string }) => email);
  const confirm = async (verb: string) => page.getByRole("dialog").getByRole("button", { name: verb }).click();
  await api("POST", "/v1/sandbox/reset", { endpoints: "remove" });
  await api("POST", "/v1/customers", { email: "ada@example.com" });
  await board.menu("Sandbox tools");
  await page.getByLabel("Save a snapshot as").fill("two words");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("[aria-invalid=true]").waitFor();
  await page.getByLabel("Save a snapshot as").fill("ada");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("1 object").waitFor();
  await api("POST", "/v1/customers", { email: "bob@example.com" });
  await page.getByRole("button", { name: "Restore" }).click();
  await confirm("Restore");
  await page.getByText("The sandbox is restored to ada").waitFor();
  // One message for one action, which the stream reports as well. The other is about the reset by the API above.
  expect(await page.getByText("The sandbox was reset").count()).toBeLessThanOrEqual(1);
  expect(await emails()).toEqual(["ada@example.com"]);
  await page.getByRole("button", { name: "Reset and keep endpoints" }).click();
  await confirm("Reset");
  await page.getByText("The sandbox is empty and in real time").waitFor();
  expect(await emails()).toEqual([]);
  await page.getByRole("button", { name: "Delete ada" }).click();
  await page.getByText("Deleted ada").waitFor();
  expect((await api("GET", "/v1/sandbox/snapshots")).body.data).toEqual([]);
});

it("an open list follows a reset", async () => {
  const { page, api } = board;
  await api("POST", "/v1/customers", { email: "grace@example.com" });
  await board.show("sandbox/customers");
  await page.getByText("grace@example.com").waitFor();
  await api("POST", "/v1/sandbox/reset");
  await page.getByText("The sandbox was reset").first().waitFor();
  await page.getByText("grace@example.com").waitFor({ state: "detached" });
});

it("the sandbox page adds faults, shows how many requests they affected, and removes them", async () => {
  const { page, api } = board;
  await api("DELETE", "/v1/faults");
  await board.menu("Sandbox tools");
  await page.getByLabel("Path").fill("/v1/order");
  await page.getByRole("button", { name: "Add fault" }).click();
  await page.getByText("did you mean /v1/orders?").first().waitFor();
  await page.getByLabel("Path").fill("/v1/orders");
  await page.getByLabel("Times").fill("1");
  await page.getByRole("button", { name: "Add fault" }).click();
  await page.getByText("Status 503, 0 of 1 so far").waitFor();
  expect((await api("POST", "/v1/orders", { amount: 1, currency: "EUR" })).status).toBe(503);
  await page.getByLabel("Effect").selectOption("lose_response");
  await page.getByLabel("Times").fill("");
  await page.getByRole("button", { name: "Add fault" }).click();
  await page.getByText("Take effect, then lose the response, 0 so far").waitFor();
  await page.getByText("Status 503, used up (1 of 1)").waitFor();
  await page.getByRole("button", { name: "Repeat the fault of POST /v1/orders" }).click();
  await page.getByText("Status 503, 0 of 1 so far").waitFor();
  await page.getByText("Status 503, used up (1 of 1)").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove the fault of POST /v1/orders" }).first().click();
  await page.getByText("Take effect, then lose the response, 0 so far").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove all" }).click();
  await page.getByText("Removed all faults").waitFor();
  expect((await api("GET", "/v1/faults")).body.data).toEqual([]);
});

it("the request log searches in real time, whatever the sandbox's time is", async () => {
  const { page, api } = board;
  await api("POST", "/v1/test_clock/advance", { seconds: 3 * 86_400 });
  await board.show("sandbox/logs");
  await page.getByText("Request times are real times").waitFor();
  for (const range of ["since:1h", "since:00:00"]) {
    await page.getByRole("searchbox", { name: "Search" }).fill(`${range} `);
    await page.getByRole("row").filter({ hasText: "/v1/test_clock/advance" }).waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
  }
  await page.getByLabel("Created").selectOption("Between");
  const from = page.getByLabel("From");
  await from.fill("1h");
  await from.press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.get("created_after")! < new Date().toISOString()).toBe(true);
  await page.getByRole("row").filter({ hasText: "/v1/test_clock/advance" }).waitFor();
});

it("the header shows no time before it knows the sandbox's", async () => {
  const { page } = board;
  await page.route("**/v1/test_clock", () => {});
  await board.restart();
  const time = page.locator(".bar").getByRole("group", { name: "Sandbox time" });
  await time.locator("strong .unknown").waitFor();
  expect(await time.getByRole("button", { name: "Advance" }).isDisabled()).toBe(true);
  await page.unrouteAll();
  await board.restart();
  // It is days ahead of real time.
  await time.getByText(/^\w{3},? [\w ]+ \d\d:\d\d:\d\d$/).waitFor();
});
