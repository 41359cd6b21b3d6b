import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser as Chromium, Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { it as itInBrowser, startChromium } from "../support/chromium.ts";
import { servePlatform } from "../support/platform.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { ENTER, runInTerminal, type TerminalSession } from "../support/terminal.ts";
import { decide, followRedirect, loginEnv, spawnLogin, startLogin, visit } from "./support/running-login.ts";
import { ownedPlatform } from "./support/owned-platform.ts";

const on = ownedPlatform();
const { begin, finish } = on;
let chromium: Chromium | undefined;
afterAll(() => chromium?.close());

/** Opens a tab in which the owner is signed in, unless other cookies are given. */
async function openTab(from: Iterable<[string, string]> = on.user.cookies): Promise<Page> {
  chromium ??= await startChromium();
  const context = await chromium.newContext();
  const cookies = [...from].map(([name, value]) => ({ name, value, url: on.platform.baseUrl }));
  await context.addCookies(cookies);
  return await context.newPage();
}

const failureOf = (stderr: string) => JSON.parse(stderr.trim().split("\n").at(-1)!) as Record<string, unknown>;

describe("service login in a browser", () => {
  it("takes localhost for the platform on this machine that calls itself 127.0.0.1", async () => {
    const dir = createConfigDir();
    const named = on.platform.baseUrl.replace("127.0.0.1", "localhost");
    const login = await begin(["--base-url", named], dir);
    expect(login.announcement.authorization_url).toMatch(on.platform.baseUrl);
    await finish(login);
    const env = { SERVICE_CONFIG_DIR: dir };
    expect(await runCli(["orders", "list"], { env })).toMatchObject({ exitCode: 0 });
    // Signing in by its other name replaces the session.
    await finish(await begin([], dir));
    expect(JSON.parse(readFileSync(join(dir, "config.json"), "utf8")).profiles.default.base_url).toBe(
      on.platform.baseUrl,
    );
  });

  itInBrowser("signs in with one click on Allow, and shows no code on the final page", async () => {
    const dir = createConfigDir();
    const login = await begin([], dir);
    const tab = await openTab();
    await tab.goto(login.announcement.authorization_url!);
    await tab.getByRole("button", { name: "Allow" }).click();
    await tab.getByRole("heading", { name: "You are signed in" }).waitFor();
    const { exitCode, stdout, stderr } = await login.ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `${JSON.stringify(login.announcement)}\n` });
    expect(JSON.parse(stdout)).toMatchObject({ object: "identity", environment: "sandbox" });
    const code = new URL(tab.url()).searchParams.get("code")!;
    expect(code).toMatch(/^[\w-]{43}$/);
    expect(await tab.content()).not.toContain(code);
    expect(await tab.getByRole("definition").allTextContents()).toContain("sandbox");
    const stored = readFileSync(join(dir, "config.json"), "utf8");
    expect(JSON.parse(stored).profiles.default.credentials.sandbox.type).toBe("oauth");
    await tab.context().close();
  });

  itInBrowser("signs in a user who opens the one-time link", async () => {
    const fresh = await servePlatform();
    try {
      const login = await startLogin(["--no-browser"], loginEnv(fresh, createConfigDir()));
      const tab = await openTab([]);
      await tab.goto(fresh.ready.sign_in_url!);
      await tab.goto(login.announcement.authorization_url!);
      await tab.getByRole("button", { name: "Allow" }).click();
      await tab.getByRole("heading", { name: "You are signed in" }).waitFor();
      expect((await login.ended).exitCode).toBe(0);
      await tab.context().close();
    } finally {
      await fresh.stop();
    }
  });

  itInBrowser("reports a denial in the browser and in the terminal, and stores nothing", async () => {
    const dir = createConfigDir();
    const login = await begin([], dir);
    const tab = await openTab();
    await tab.goto(login.announcement.authorization_url!);
    await tab.getByRole("button", { name: "Deny" }).click();
    await tab.getByRole("heading", { name: "Access denied" }).waitFor();
    const { exitCode, stdout, stderr } = await login.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(failureOf(stderr)).toMatchObject({ code: "access_denied", exit_code: 1 });
    expect((await runCli(["whoami"], { env: loginEnv(on.platform, dir) })).exitCode).toBe(4);
    await tab.context().close();
  });

  itInBrowser("times out when the browser was closed", async () => {
    const login = await begin(["--timeout", "2s"]);
    const tab = await openTab();
    await tab.goto(login.announcement.authorization_url!);
    await tab.context().close();
    const { exitCode, stderr } = await login.ended;
    expect(exitCode).toBe(1);
    expect(failureOf(stderr)).toMatchObject({ code: "timed_out", detail: "Sign-in timed out after 2 s" });
  });

  it("runs in two terminals at once, each with its own state", async () => {
    const [first, second] = await Promise.all([begin(), begin()]);
    expect(first.state).not.toBe(second.state);
    const respond = await decide(on.user, second.announcement.authorization_url!, "approve");
    const forged = new URL(respond);
    forged.port = new URL(first.redirectUri).port;
    expect((await visit(forged)).status).toBe(400);
    expect((await visit(respond)).status).toBe(200);
    expect((await second.ended).exitCode).toBe(0);
    await finish(first);
  });

  it("signs in to live mode with --live, which the consent page shows", async () => {
    const login = await begin(["--live"]);
    expect((await on.user.get(login.announcement.authorization_url!)).text).toContain("real data");
    await finish(login);
    expect(JSON.parse((await login.ended).stdout)).toMatchObject({ environment: "live" });
  });

  it("exits with 130 at Ctrl-C, and frees its port", async () => {
    const login = await spawnLogin(["--no-browser"], loginEnv(on.platform, createConfigDir()));
    login.interrupt();
    expect((await login.ended).exitCode).toBe(130);
    await expect(visit(login.redirectUri)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("opening the browser", () => {
  /** Creates a folder for PATH with this script as its `xdg-open`. */
  function withOpener(script: string | undefined): { path: string; log: string } {
    const folder = mkdtempSync(join(tmpdir(), "service-opener-"));
    if (script !== undefined) {
      writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, "xdg-open"), 0o755);
    }
    return { path: folder, log: join(folder, "log") };
  }

  it("passes the URL as one argument", async () => {
    const dir = createConfigDir();
    const { path, log } = withOpener(`printf '%s\\n' "$#" "$1" > "$(dirname "$0")/log"`);
    const env = { ...loginEnv(on.platform, dir), PATH: `${path}:/usr/bin:/bin`, DISPLAY: ":0" };
    const login = await spawnLogin(["--browser"], env);
    await finish(login);
    const opened = `1\n${login.announcement.authorization_url}\n`;
    await expect.poll(() => existsSync(log) && readFileSync(log, "utf8")).toBe(opened);
  });

  it.each([
    ["is missing", undefined],
    ["fails", "exit 3"],
    ["is killed", "kill -9 $$"],
  ])("prints the URL and suggests a code if the opener %s, and keeps waiting", async (_how, script) => {
    const dir = createConfigDir();
    const { path } = withOpener(script);
    const terminal = runInTerminal(["login"], {
      env: { ...loginEnv(on.platform, dir), PATH: path, DISPLAY: ":0" },
      columns: 400,
    });
    await terminal.waitFor("Environment");
    terminal.type(ENTER);
    await terminal.waitFor("login --device");
    const url = await authorizationUrl(terminal);
    await followRedirect(await decide(on.user, url, "approve"));
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toContain("Could not open a browser.");
    expect(terminal.text()).toContain("✓ Signed in to");
  });
});

/** Waits for the end of the URL's line, because a terminal can receive a line in parts. */
async function authorizationUrl(terminal: TerminalSession): Promise<string> {
  const line = /http:\/\/\S+\/oauth\/authorize\S+(?=\s)/;
  await terminal.waitFor(line);
  return line.exec(terminal.text())![0];
}

const ARROW_DOWN = "\u001b[B";

it("login asks for the environment on a terminal", async () => {
  const terminal = runInTerminal(["login", "--no-browser"], {
    env: loginEnv(on.platform, createConfigDir()),
    columns: 400,
  });
  await terminal.waitFor("Environment");
  terminal.type(ARROW_DOWN);
  await terminal.waitFor(/❯ live/);
  terminal.type(ENTER);
  await terminal.waitFor("Open this URL within 5 min to sign in:");
  const url = await authorizationUrl(terminal);
  await followRedirect(await decide(on.user, url, "approve"));
  expect(await terminal.ended).toBe(0);
  expect(terminal.text()).toMatch(/✓ Signed in to .* \(live\)/);
});

it("login does not print tokens, code and verifier with --debug", async () => {
  const dir = createConfigDir();
  const login = await begin(["--debug"], dir);
  const respond = await decide(on.user, login.announcement.authorization_url!, "approve");
  await followRedirect(respond);
  const { stdout, stderr } = await login.ended;
  expect(stderr).toContain(`POST ${on.platform.baseUrl}/oauth/token → 200`);
  const { access_token, refresh_token } = JSON.parse(readFileSync(join(dir, "config.json"), "utf8")).profiles.default
    .credentials.sandbox;
  for (const secret of [access_token, refresh_token, respond.searchParams.get("code")!, "code_verifier"]) {
    expect(stdout + stderr).not.toContain(secret);
  }
});
