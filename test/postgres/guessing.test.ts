import { afterAll, beforeAll, expect, it } from "vitest";
import { Browser } from "../platform/oauth/support/browser.ts";
import { type BehindBalancer, browserAt, startBehindBalancer } from "./behind-balancer.ts";

const PASSWORD = "correct horse battery";

// These tests exhaust limits that the processes keep in memory, so their platform is not shared.
let platform: BehindBalancer;
let owner: Browser;

beforeAll(async () => {
  platform = await startBehindBalancer(2);
  owner = new Browser(platform.url);
  const account = await owner.get(platform.signInUrl);
  expect(account.status).toBe(200);
});
afterAll(() => platform.close());

it("wrong passwords of a user are counted across processes", async () => {
  const saved = await owner.submit(
    await owner.get("/account"),
    { email: "ada@example.com", new_password: PASSWORD },
    ({ action }) => action === "/account/details",
  );
  expect(saved.text).toContain("Saved.");
  const attempt = async (node: number, password: string) => {
    const browser = new Browser(platform.nodes[node]!.listenUrl);
    return browser.trySubmit(await browser.get("/sign-in"), { email: "ada@example.com", password });
  };
  const failures = await Promise.all([0, 1, 0, 1, 0].map((node) => attempt(node, "wrong")));
  expect(failures.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  const limited = await Promise.all([0, 1].map((node) => attempt(node, PASSWORD)));
  expect(limited.map(({ status }) => status)).toEqual([429, 429]);
});

it("wrong device codes of a user are counted across processes", async () => {
  const browsers = platform.nodes.map((node) => browserAt(node, owner));
  const enter = async (node: number) => {
    const page = await browsers[node]!.get("/oauth/device");
    return (await browsers[node]!.trySubmit(page, { user_code: "BBBB-BBBB" })).status;
  };
  const statuses: number[] = [];
  for (let guess = 0; guess < 6; guess++) statuses.push(await enter(guess % 2));
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
});
