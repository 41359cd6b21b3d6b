import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CliResult, createConfigDir, interruption, runCli } from "../support/run-cli.ts";
import { type ReplacedResponse, type AuthProxy, startAuthProxy } from "./support/auth-proxy.ts";
import { decide, loginEnv, signIn, startLogin, visit } from "./support/running-login.ts";
import { ownedPlatform } from "./support/owned-platform.ts";

const TOKEN = "/oauth/token";
const JSON_TYPE = { "content-type": "application/json" };

const on = ownedPlatform();

let dir: string;
let proxy: AuthProxy;
beforeEach(async () => {
  dir = createConfigDir();
  proxy = await startAuthProxy(on.platform.baseUrl);
});
afterEach(() => proxy.close());

const env = () => ({ ...loginEnv(on.platform, dir), SERVICE_AUTH_URL: proxy.url });
const login = (...args: string[]) => runCli(["login", "--json", ...args], { env: env() });
const problemOf = ({ stderr }: CliResult) => JSON.parse(stderr.trim().split("\n").at(-1)!) as Record<string, unknown>;

/** Signs in through the proxy as far as possible. Returns the browser's response and the command's result. */
async function signInThroughProxy(): Promise<{ page: Awaited<ReturnType<typeof visit>>; result: CliResult }> {
  const running = await startLogin(["--no-browser"], env());
  const url = running.announcement.authorization_url!.replace(proxy.url, on.platform.baseUrl);
  const respond = await decide(on.user, url, "approve");
  respond.searchParams.set("iss", proxy.url);
  const page = await visit(respond);
  return { page, result: await running.ended };
}

/** Returns a modified copy of the real response. */
const changed = (change: Record<string, unknown>) => (genuine: ReplacedResponse) => ({
  ...genuine,
  body: JSON.stringify({ ...JSON.parse(genuine.body), ...change }),
});

describe("a token endpoint", () => {
  it("is trusted if it behaves correctly", async () => {
    const { page, result } = await signInThroughProxy();
    expect([page.status, result.exitCode]).toEqual([200, 0]);
  });

  it("is limited to a token lifetime of one year", async () => {
    proxy.intercept(TOKEN, changed({ expires_in: 1e300 }));
    const { page, result } = await signInThroughProxy();
    expect([page.status, result.exitCode]).toEqual([200, 0]);
    const stored = JSON.parse(readFileSync(join(dir, "config.json"), "utf8"));
    const expiry = Date.parse(stored.profiles.default.credentials.sandbox.expires_at);
    expect(Math.abs(expiry - Date.now() - 365 * 86_400_000)).toBeLessThan(60_000);
  });

  it.each<[string, (genuine: ReplacedResponse) => ReplacedResponse | undefined]>([
    ["a web page", () => ({ body: "<!doctype html><h1>Welcome</h1>", headers: { "content-type": "text/html" } })],
    ["a redirect", () => ({ status: 302, headers: { location: "https://attacker.example/" }, body: "" })],
    ["502", () => ({ status: 502, body: "Bad Gateway" })],
    ["JSON that is cut off", ({ body }) => ({ headers: JSON_TYPE, body: body.slice(0, -20) })],
    ["null", () => ({ headers: JSON_TYPE, body: "null" })],
    ["a list", () => ({ headers: JSON_TYPE, body: "[]" })],
    ["nothing", () => undefined],
    ["no access token", changed({ access_token: undefined })],
    ["an access token for two headers", changed({ access_token: "a\r\nX-Injected: 1" })],
    ["no refresh token", changed({ refresh_token: undefined })],
    ["no token type", changed({ token_type: undefined })],
    ["another token type", changed({ token_type: "mac" })],
    ["a text as lifetime", changed({ expires_in: "soon" })],
    ["an end in the past", changed({ expires_in: -5 })],
    ["no end", changed({ expires_in: undefined })],
    ["a token that does not work", changed({ access_token: "at_nonsense" })],
    ["more than a megabyte", changed({ padding: "x".repeat(1024 * 1024) })],
  ])("does not sign in if it returns %s, and both sides show the error", async (_what, respond) => {
    proxy.intercept(TOKEN, respond);
    const { page, result } = await signInThroughProxy();
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining("Sign-in failed") });
    expect([1, 4, 7]).toContain(result.exitCode);
    expect(result.stdout).toBe("");
    expect(problemOf(result)["detail"]).toMatch(/\w/);
    expect(existsSync(join(dir, "config.json"))).toBe(false);
  });
});

describe("metadata", () => {
  it.each<[string, (metadata: Record<string, unknown>) => object | string, string]>([
    [
      "of another server",
      (metadata) => ({ ...metadata, issuer: "https://id.example.com" }),
      "--auth-url https://id.example.com",
    ],
    [
      "whose browser address lies elsewhere",
      (metadata) => ({ ...metadata, authorization_endpoint: "https://attacker.example/" }),
      "authorization_endpoint",
    ],
    [
      "whose browser address is not a web page",
      (metadata) => ({ ...metadata, authorization_endpoint: "file:///etc/passwd" }),
      "authorization_endpoint",
    ],
    [
      "whose token address lies elsewhere",
      (metadata) => ({ ...metadata, token_endpoint: "https://attacker.example/" }),
      "token_endpoint",
    ],
    ["without a token address", (metadata) => ({ ...metadata, token_endpoint: undefined }), "token_endpoint"],
    ["that is no JSON", () => "<html>", "is not valid"],
    ["that is null", () => "null", "is not valid"],
  ])("is rejected before anything is sent: %s", async (_what, rewrite, message) => {
    proxy.rewriteMetadata(rewrite);
    const result = await login("--no-browser");
    expect(result).toMatchObject({ exitCode: 1, stdout: "" });
    expect(JSON.stringify(problemOf(result))).toContain(message);
    expect(proxy.count(TOKEN)).toBe(0);
  });

  it("is requested over plain http only from this machine", async () => {
    const { exitCode, stderr } = await runCli(["login", "--device", "--auth-url", "http://id.example.com"], {
      env: env(),
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Plain http to id.example.com");
  });
});

describe("a device authorization", () => {
  const DEVICE = "/oauth/device_authorization";
  const rejection = (error: string) => () => ({ status: 400, headers: JSON_TYPE, body: JSON.stringify({ error }) });

  it("is polled no faster than the server asks, and 5 s slower after slow_down", async () => {
    proxy.intercept(DEVICE, changed({ interval: 1 }));
    const polls: number[] = [];
    const results = ["authorization_pending", "slow_down", "access_denied"];
    proxy.intercept(TOKEN, () => rejection(results[polls.push(performance.now()) - 1]!)());
    const result = await login("--device");
    expect(problemOf(result)).toMatchObject({ code: "access_denied" });
    expect(polls).toHaveLength(3);
    expect(polls[1]! - polls[0]!).toBeGreaterThan(950);
    expect(polls[2]! - polls[1]!).toBeGreaterThan(5950);
  });

  it("continues after a short network failure", async () => {
    proxy.intercept(DEVICE, changed({ interval: 1 }));
    let polls = 0;
    proxy.intercept(TOKEN, () => (++polls === 1 ? undefined : rejection("access_denied")()));
    expect(problemOf(await login("--device"))).toMatchObject({ code: "access_denied" });
    expect(polls).toBe(2);
  });

  it("is not polled immediately if the interval exceeds the range of timers", async () => {
    proxy.intercept(DEVICE, changed({ interval: 1e10, expires_in: 1 }));
    expect(problemOf(await login("--device"))).toMatchObject({ code: "expired_token" });
    expect(proxy.count(TOKEN)).toBe(0);
  });

  it("stops when the code expires", async () => {
    proxy.intercept(DEVICE, changed({ interval: 1, expires_in: 2 }));
    const result = await login("--device");
    expect(result.exitCode).toBe(1);
    expect(problemOf(result)).toMatchObject({ code: "expired_token" });
    expect(proxy.count(TOKEN)).toBeLessThanOrEqual(2);
  });

  it.each([
    ["sends people to another host", { verification_uri: "https://attacker.example/device" }],
    ["gives a code that would redraw the terminal", { user_code: "\u001b[2J" }],
    ["never ends", { expires_in: -1 }],
  ])("is rejected if it %s", async (_what, change) => {
    proxy.intercept(DEVICE, changed(change));
    const result = await login("--device");
    expect(result.exitCode).toBe(1);
    expect(result.stderr).not.toContain("\u001b");
    expect(result.stderr).not.toContain("Open");
    expect(proxy.count(TOKEN)).toBe(0);
  });
});

it("login shows the server's instructions without characters that redraw the terminal", async () => {
  const path = "/device?\u001b[2J\u009b\u202e";
  const uri = proxy.url + path;
  proxy.intercept(
    "/oauth/device_authorization",
    changed({ verification_uri: uri, verification_uri_complete: undefined }),
  );
  for (const flags of [[], ["--json"]]) {
    const controller = new AbortController();
    const onStderr = () => controller.abort(interruption());
    const { stderr } = await runCli(["login", "--device", ...flags], {
      env: env(),
      onStderr,
      signal: controller.signal,
    });
    expect(stderr).toContain(String.raw`/device?\u001b[2J\u009b\u202e`);
    expect(stderr).not.toMatch(/[\u001b\u009b\u202e]/);
  }
});

describe("a settings file", () => {
  it("is not written through a symbolic link", async () => {
    mkdirSync(join(dir, "elsewhere"));
    const target = join(dir, "elsewhere", "config.json");
    writeFileSync(target, JSON.stringify({ version: 1, profiles: {} }));
    symlinkSync(target, join(dir, "config.json"));
    const { page, result } = await signInThroughProxy();
    expect(page.status).toBe(400);
    expect(problemOf(result)).toMatchObject({ code: "settings_file" });
    expect(readFileSync(target, "utf8")).not.toContain("refresh_token");
  });

  it("is kept and reported before the sign-in if it is damaged", async () => {
    writeFileSync(join(dir, "config.json"), '{"version": 1, "prof');
    const result = await login("--no-browser");
    expect(problemOf(result)).toMatchObject({ code: "settings_file", hint: expect.stringContaining("mv ") });
    expect(readFileSync(join(dir, "config.json"), "utf8")).toBe('{"version": 1, "prof');
  });
});

it("login sends tokens only to the origin that issued them", async () => {
  await signIn(on.platform, on.user, dir);
  const { exitCode, stderr } = await runCli(["customers", "list", "--base-url", proxy.url], {
    env: { SERVICE_CONFIG_DIR: dir },
  });
  expect(exitCode).toBe(4);
  expect(stderr).toContain(`is for ${on.platform.baseUrl}; it is not sent to ${proxy.url}`);
  expect(proxy.count("/v1/customers")).toBe(0);
});
