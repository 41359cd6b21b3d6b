import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser as Chromium, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startChromium } from "../support/chromium.ts";
import { startPlatform } from "../support/platform.ts";
import { makeConfigDir, runCli } from "../support/run-cli.ts";
import { runInTerminal } from "../support/terminal.ts";
import { decide, loginEnv, type RunningLogin, startLogin, visit } from "./support/running-login.ts";
import { ownedPlatform } from "./support/owned-platform.ts";

const on = ownedPlatform();
let chromium: Chromium;
beforeAll(async () => {
  chromium = await startChromium();
});
afterAll(() => chromium.close());

function begin(args: readonly string[] = [], dir = makeConfigDir()): Promise<RunningLogin> {
  return startLogin(["--no-browser", ...args], loginEnv(on.platform, dir));
}

/** A tab of a real browser in which the owner is signed in. */
async function openTab(): Promise<Page> {
  const context = await chromium.newContext();
  const cookies = [...on.person.cookies].map(([name, value]) => ({ name, value, url: on.platform.baseUrl }));
  await context.addCookies(cookies);
  return await context.newPage();
}

async function finish(login: RunningLogin): Promise<void> {
  await visit(await decide(on.person, login.announcement.authorization_url!, "approve"));
  expect(await login.ended).toMatchObject({ exitCode: 0 });
}

const failureOf = (stderr: string) => JSON.parse(stderr.trim().split("\n").at(-1)!) as Record<string, unknown>;

describe("service login in a browser", () => {
  it("signs in by one click on Allow; the page that says so shows no code", async () => {
    const dir = makeConfigDir();
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

  it("signs somebody in who comes by the one-time link first", async () => {
    const fresh = await startPlatform();
    try {
      const login = await startLogin(["--no-browser"], loginEnv(fresh, makeConfigDir()));
      const tab = await chromium.newPage();
      await tab.goto(fresh.ready.sign_in_url!);
      await tab.goto(login.announcement.authorization_url!);
      await tab.getByRole("button", { name: "Allow" }).click();
      await tab.getByRole("heading", { name: "You are signed in" }).waitFor();
      expect((await login.ended).exitCode).toBe(0);
      await tab.close();
    } finally {
      await fresh.stop();
    }
  });

  it("says on both sides that it was denied, and stores nothing", async () => {
    const dir = makeConfigDir();
    const login = await begin([], dir);
    const tab = await openTab();
    await tab.goto(login.announcement.authorization_url!);
    await tab.getByRole("button", { name: "Deny" }).click();
    await tab.getByRole("heading", { name: "You said no" }).waitFor();
    const { exitCode, stdout, stderr } = await login.ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(failureOf(stderr)).toMatchObject({ code: "access_denied", exit_code: 1 });
    expect((await runCli(["whoami"], { env: loginEnv(on.platform, dir) })).exitCode).toBe(4);
    await tab.context().close();
  });

  it("gives up when the browser was closed", async () => {
    const login = await begin(["--timeout", "2s"]);
    const tab = await openTab();
    await tab.goto(login.announcement.authorization_url!);
    await tab.context().close();
    const { exitCode, stderr } = await login.ended;
    expect(exitCode).toBe(1);
    expect(failureOf(stderr)).toMatchObject({ code: "timed_out", title: "Nobody signed in within 2 s" });
  });

  it("runs in two terminals at once, each with its own state", async () => {
    const [first, second] = await Promise.all([begin(), begin()]);
    expect(first.state).not.toBe(second.state);
    const answer = await decide(on.person, second.announcement.authorization_url!, "approve");
    const misled = new URL(answer);
    misled.port = new URL(first.redirectUri).port;
    expect((await visit(misled)).status).toBe(400);
    expect((await visit(answer)).status).toBe(200);
    expect((await second.ended).exitCode).toBe(0);
    await finish(first);
  });

  it("signs in to the live environment with --live, which the person sees", async () => {
    const login = await begin(["--live"]);
    expect((await on.person.get(login.announcement.authorization_url!)).text).toContain("real data");
    await finish(login);
    expect(JSON.parse((await login.ended).stdout)).toMatchObject({ environment: "live" });
  });

  it("ends by Ctrl-C with 130, and frees its port", async () => {
    const login = await begin();
    login.signal("SIGINT");
    expect((await login.ended).exitCode).toBe(130);
    await expect(visit(login.redirectUri)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("the request", () => {
  it("carries PKCE S256, 256 bits of state and a loopback address by number, all new each time", async () => {
    const logins = await Promise.all([begin(), begin()]);
    const queries = logins.map(({ announcement }) => new URL(announcement.authorization_url!).searchParams);
    for (const query of queries) {
      expect(Object.fromEntries(query)).toMatchObject({
        client_id: "app_service_cli",
        response_type: "code",
        code_challenge_method: "S256",
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        state: expect.stringMatching(/^[\w-]{43}$/),
        redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      });
    }
    for (const name of ["state", "code_challenge", "redirect_uri"]) {
      expect(queries[0]!.get(name)).not.toBe(queries[1]!.get(name));
    }
    for (const login of logins) login.signal("SIGINT");
    await Promise.all(logins.map(({ ended }) => ended));
  });
});

describe("the callback listener", () => {
  it("turns away whatever is not the answer, and signs in after it", async () => {
    const login = await begin();
    const { redirectUri, state } = login;
    const { origin, port } = new URL(redirectUri);
    const answered = `${redirectUri}?code=x&state=${state}`;
    const statusOf = async (...request: Parameters<typeof visit>) => (await visit(...request)).status;
    expect(await statusOf(`${origin}/favicon.ico`)).toBe(404);
    expect(await statusOf(`${origin}/`)).toBe(404);
    expect(await statusOf(answered, { headers: { Host: `localhost:${port}` } })).toBe(421);
    expect(await statusOf(answered, { headers: { Host: `attacker.example:${port}` } })).toBe(421);
    for (const method of ["POST", "OPTIONS", "PUT"]) {
      const reply = await visit(answered, { method });
      expect(reply.status).toBe(405);
      expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    for (const mode of ["cors", "no-cors", "same-origin"]) {
      expect(await statusOf(answered, { headers: { "Sec-Fetch-Mode": mode } })).toBe(403);
    }
    expect(await statusOf(`${redirectUri}?error=access_denied`)).toBe(400);
    expect(await statusOf(`${redirectUri}?error=access_denied&state=${state.slice(1)}x`)).toBe(400);
    expect(await statusOf(`${redirectUri}?code=x&state=`)).toBe(400);
    expect(await statusOf(`${redirectUri}?state=${state}`)).toBe(400);
    expect(await statusOf(`${redirectUri}?code=x&code=y&state=${state}`)).toBe(400);
    expect(await statusOf(`${redirectUri}?code=x&state=${state}&state=${state}`)).toBe(400);
    expect(await statusOf(`${origin}//attacker.example/callback?code=x&state=${state}`)).toBe(404);
    expect(await statusOf(redirectUri, { headers: { "X-Long": "x".repeat(10_000) } })).toBe(431);
    await finish(login);
  });

  it("refuses an answer whose issuer is another, or missing", async () => {
    for (const issuer of ["https://attacker.example", undefined]) {
      const login = await begin();
      const answer = await decide(on.person, login.announcement.authorization_url!, "approve");
      answer.searchParams.delete("iss");
      if (issuer !== undefined) answer.searchParams.set("iss", issuer);
      const page = await visit(answer);
      expect(page).toMatchObject({ status: 400, text: expect.stringContaining("Signing in failed") });
      expect(failureOf((await login.ended).stderr)).toMatchObject({ code: "invalid_answer" });
    }
  });

  it("shows its page under headers that let nothing else happen, and takes no second answer", async () => {
    const login = await begin();
    const answer = await decide(on.person, login.announcement.authorization_url!, "approve");
    const [page, second] = await Promise.all([visit(answer), visit(answer).catch(() => undefined)]);
    expect(page.status).toBe(200);
    expect([410, undefined]).toContain(second?.status);
    expect(page.headers).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "content-security-policy": expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
    });
    expect(page.text).not.toMatch(/<script|https?:\/\//);
    expect((await login.ended).exitCode).toBe(0);
  });

  it("escapes what the server says on the page and in the terminal", async () => {
    const login = await begin();
    const { redirectUri, state } = login;
    const evil = new URL(redirectUri);
    evil.search = new URLSearchParams({
      error: "server_error",
      error_description: "<img src=x onerror=alert(1)>",
      state,
      iss: on.platform.baseUrl,
    }).toString();
    const page = await visit(evil);
    expect(page.status).toBe(400);
    expect(page.text).not.toContain("<img");
    expect(failureOf((await login.ended).stderr)).toMatchObject({ code: "server_error" });
  });

  it("closes a connection that sends half a header, and signs in all the same", async () => {
    const login = await begin();
    const socket = connect(Number(new URL(login.redirectUri).port), "127.0.0.1");
    socket.write("GET /callback HTTP/1.1\r\nHost: ");
    await new Promise((closed) => socket.on("error", closed).on("close", closed).resume());
    await finish(login);
  });

  it("listens on this machine's own address only", async () => {
    const login = await begin();
    const { port } = new URL(login.redirectUri);
    const listening = readFileSync(`/proc/${login.pid}/net/tcp`, "utf8")
      .split("\n")
      .filter((line) => line.includes(`:${Number(port).toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A`));
    expect(listening.map((line) => line.trim().split(/\s+/)[1]!.split(":")[0])).toEqual(["0100007F"]);
    login.signal("SIGINT");
    await login.ended;
  });
});

describe("--callback-port", () => {
  it("takes that port, and no other where it is taken", async () => {
    const taken = createServer();
    await new Promise<void>((listening) => {
      taken.listen(0, "127.0.0.1", listening);
    });
    const { port } = taken.address() as AddressInfo;
    const refused = await runCli(["login", "--callback-port", String(port)], {
      env: loginEnv(on.platform, makeConfigDir()),
    });
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toContain(`Port ${port} cannot be used: it is taken`);
    await new Promise((closed) => taken.close(closed));
    const login = await begin(["--callback-port", String(port)]);
    expect(login.redirectUri).toBe(`http://127.0.0.1:${port}/callback`);
    await finish(login);
  });
});

describe("opening the browser", () => {
  /** A folder for PATH whose xdg-open is this script. */
  function withOpener(script: string | undefined): { path: string; log: string } {
    const folder = mkdtempSync(join(tmpdir(), "service-opener-"));
    if (script !== undefined) {
      writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, "xdg-open"), 0o755);
    }
    return { path: folder, log: join(folder, "log") };
  }

  it("hands over the address as one argument", async () => {
    const dir = makeConfigDir();
    const { path, log } = withOpener(`printf '%s\\n' "$#" "$1" > "$(dirname "$0")/log"`);
    const env = { ...loginEnv(on.platform, dir), PATH: `${path}:/usr/bin:/bin`, DISPLAY: ":0" };
    const login = await startLogin(["--browser"], env);
    await finish(login);
    expect(readFileSync(log, "utf8")).toBe(`1\n${login.announcement.authorization_url}\n`);
  });

  it.each([
    ["is missing", undefined],
    ["fails", "exit 3"],
    ["is killed", "kill -9 $$"],
  ])("prints the address and offers a code where the opener %s; signing in goes on", async (_how, script) => {
    const dir = makeConfigDir();
    const { path } = withOpener(script);
    const terminal = runInTerminal(["login"], {
      env: { ...loginEnv(on.platform, dir), PATH: path, DISPLAY: ":0" },
      columns: 400,
    });
    await terminal.waitFor("service login --device");
    const url = /http:\/\/\S+\/oauth\/authorize\S+/.exec(terminal.text())![0];
    await visit(await decide(on.person, url, "approve"));
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toContain("No browser could be opened.");
    expect(terminal.text()).toContain("✓ Signed in to");
  });
});

it("keeps tokens, code and verifier out of --debug and the terminal", async () => {
  const dir = makeConfigDir();
  const login = await begin(["--debug"], dir);
  const answer = await decide(on.person, login.announcement.authorization_url!, "approve");
  await visit(answer);
  const { stdout, stderr } = await login.ended;
  expect(stderr).toContain(`POST ${on.platform.baseUrl}/oauth/token → 200`);
  const { access_token, refresh_token } = JSON.parse(readFileSync(join(dir, "config.json"), "utf8")).profiles.default
    .credentials.sandbox;
  for (const secret of [access_token, refresh_token, answer.searchParams.get("code")!, "code_verifier"]) {
    expect(stdout + stderr).not.toContain(secret);
  }
});
