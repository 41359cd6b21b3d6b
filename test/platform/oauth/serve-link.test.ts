import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningPlatform, servePlatform, startPlatformOn } from "../../support/platform.ts";
import { runCli } from "../../support/run-cli.ts";
import { Browser, type Visit } from "./support/browser.ts";

let database: string;
let platform: RunningPlatform;

beforeAll(async () => {
  database = join(mkdtempSync(join(tmpdir(), "service-link-")), "platform.db");
  platform = await startPlatformOn(database, 0);
});
afterAll(() => platform.stop());

const pageOf = async (url: string) => new URL((await new Browser(url).get(url)).url).pathname;

it("the ready line of a new database has a valid sign-in link", async () => {
  const fresh = await servePlatform();
  expect(await pageOf(fresh.ready.sign_in_url!)).toBe("/dashboard");
  expect(await fresh.stop()).toBe(0);
});

it("service serve link creates another one, as text and as JSON", async () => {
  const { exitCode, stdout } = await runCli(["serve", "link", "--database", database]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in\/link\?token=[\w-]{43}\n$/);
  expect(await pageOf(stdout.trim())).toBe("/dashboard");
  const json = JSON.parse((await runCli(["serve", "link", "--database", database, "--json"])).stdout);
  expect(json).toMatchObject({ email: "owner@localhost", expires_at: expect.any(String) });
  expect(await pageOf(json.sign_in_url)).toBe("/dashboard");
});

it.each(["/sign-in", "/sign-in/link?token=used"])("%s shows the command that works for this database", async (page) => {
  const browser = new Browser(platform.baseUrl);
  const commandOf = ({ text }: Visit) => /<code>(.*?)<\/code>/.exec(text)?.[1]?.replaceAll(/<\/?span>/g, "");
  const shown = commandOf(await browser.get(page))!;
  expect(shown).toBe(`npx service-cli serve link --database ${database}`);
  expect((await runCli(shown.split(" ").slice(2))).exitCode).toBe(0);
  browser.headers["X-Forwarded-For"] = "203.0.113.1";
  const elsewhere = await browser.get(page);
  expect(commandOf(elsewhere)).toBe("npx service-cli serve link");
  expect(elsewhere.text).not.toContain(database);
});

it("service serve link suggests a fix if no platform runs", async () => {
  const nowhere = await runCli(["serve", "link", "--database", `${database}.other`]);
  expect(nowhere).toMatchObject({ exitCode: 1, stdout: "" });
  expect(nowhere.stderr).toContain("service serve");
  await platform.stop();
  const ended = await runCli(["serve", "link", "--database", database]);
  expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
  platform = await startPlatformOn(database, 0);
  expect(platform.ready.sign_in_url).toBeUndefined();
  expect((await runCli(["serve", "link", "--database", database])).exitCode).toBe(0);
});

it("service serve link returns no link of a killed platform", async () => {
  await platform.kill();
  const dead = await runCli(["serve", "link", "--database", database, "--json"]);
  expect(dead.exitCode).toBe(1);
  expect(JSON.parse(dead.stderr)).toMatchObject({ code: "not_serving" });
  platform = await startPlatformOn(database, 0);
});

it("--leak-keys rejects a source that others could change", async () => {
  const flags = ["serve", "--ephemeral", "--port", "0", "--leak-keys", "http://keys.example/"];
  const rejected = await runCli(flags);
  expect(rejected.exitCode).toBe(2);
  expect(rejected.stderr).toContain("https");
});
