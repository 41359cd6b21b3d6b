import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { decide, loginEnv, visit } from "./support/running-login.ts";
import { ownedPlatform } from "./support/owned-platform.ts";

const on = ownedPlatform();
const { begin, finish } = on;

const failureOf = (stderr: string) => JSON.parse(stderr.trim().split("\n").at(-1)!) as Record<string, unknown>;

describe("the authorization request", () => {
  it("contains PKCE S256, 256 bits of state and a loopback address, new each time", async () => {
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
    for (const login of logins) login.interrupt();
    await Promise.all(logins.map(({ ended }) => ended));
  });
});

describe("the callback listener", () => {
  it("rejects everything but the authorization response, and signs in afterwards", async () => {
    const login = await begin();
    const { redirectUri, state } = login;
    const { origin, port } = new URL(redirectUri);
    const redirected = `${redirectUri}?code=x&state=${state}`;
    const statusOf = async (...request: Parameters<typeof visit>) => (await visit(...request)).status;
    expect(await statusOf(`${origin}/favicon.ico`)).toBe(404);
    expect(await statusOf(`${origin}/`)).toBe(404);
    expect(await statusOf(redirected, { headers: { Host: `localhost:${port}` } })).toBe(421);
    expect(await statusOf(redirected, { headers: { Host: `attacker.example:${port}` } })).toBe(421);
    for (const method of ["POST", "OPTIONS", "PUT"]) {
      const response = await visit(redirected, { method });
      expect(response.status).toBe(405);
      expect(Object.keys(response.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    for (const mode of ["cors", "no-cors", "same-origin"]) {
      expect(await statusOf(redirected, { headers: { "Sec-Fetch-Mode": mode } })).toBe(403);
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

  it("rejects a response with another issuer or without one", async () => {
    for (const issuer of ["https://attacker.example", undefined]) {
      const login = await begin();
      const respond = await decide(on.user, login.announcement.authorization_url!, "approve");
      respond.searchParams.delete("iss");
      if (issuer !== undefined) respond.searchParams.set("iss", issuer);
      const page = await visit(respond);
      expect(page).toMatchObject({ status: 400, text: expect.stringContaining("Sign-in failed") });
      expect(failureOf((await login.ended).stderr)).toMatchObject({ code: "invalid_answer" });
    }
  });

  it("serves its page with restrictive headers, and accepts no second response", async () => {
    const login = await begin();
    const respond = await decide(on.user, login.announcement.authorization_url!, "approve");
    const both = await Promise.all([respond, respond].map((url) => visit(url).catch(() => undefined)));
    // Either of two connections may be accepted first.
    const page = both.find((one) => one?.status === 200)!;
    expect([410, undefined]).toContain(both.find((one) => one !== page)?.status);
    expect(page.headers).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "content-security-policy": expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
    });
    expect(page.text).not.toMatch(/<script|https?:\/\//);
    expect((await login.ended).exitCode).toBe(0);
  });

  it("signs in although the browser closes the connection before the sign-in is complete", async () => {
    const login = await begin();
    const { host, port, pathname, search } = await decide(on.user, login.announcement.authorization_url!, "approve");
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, () => socket.destroy());
    expect(await login.ended).toMatchObject({ exitCode: 0 });
  });

  it("escapes the server's error on the page and in the terminal", async () => {
    const login = await begin();
    const { redirectUri, state } = login;
    const forged = new URL(redirectUri);
    forged.search = new URLSearchParams({
      error: "server_error",
      error_description: "<img src=x onerror=alert(1)>",
      state,
      iss: on.platform.baseUrl,
    }).toString();
    const page = await visit(forged);
    expect(page.status).toBe(400);
    expect(page.text).not.toContain("<img");
    expect(failureOf((await login.ended).stderr)).toMatchObject({ code: "server_error" });
  });

  it("closes a connection that sends half a header, and signs in anyway", async () => {
    const login = await begin();
    const socket = connect(Number(new URL(login.redirectUri).port), "127.0.0.1");
    socket.write("GET /callback HTTP/1.1\r\nHost: ");
    await new Promise((closed) => socket.on("error", closed).on("close", closed).resume());
    await finish(login);
  });

  it("listens on a loopback address only", async () => {
    const login = await begin();
    const { port } = new URL(login.redirectUri);
    const listening = readFileSync("/proc/self/net/tcp", "utf8")
      .split("\n")
      .filter((line) => line.includes(`:${Number(port).toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A`));
    expect(listening.map((line) => line.trim().split(/\s+/)[1]!.split(":")[0])).toEqual(["0100007F"]);
    login.interrupt();
    await login.ended;
  });
});

describe("--callback-port", () => {
  it("uses only that port, and fails if it is in use", async () => {
    const port = await freePort();
    const blocker = createServer().listen(port, "127.0.0.1");
    await once(blocker, "listening");
    const rejected = await runCli(["login", "--callback-port", String(port)], {
      env: loginEnv(on.platform, createConfigDir()),
    });
    expect(rejected).toMatchObject({ exitCode: 1, stdout: "" });
    expect(rejected.stderr).toContain(`Cannot listen on port ${port}: the port is in use`);
    await new Promise((closed) => blocker.close(closed));
    const login = await begin(["--callback-port", String(port)]);
    expect(login.redirectUri).toBe(`http://127.0.0.1:${port}/callback`);
    await finish(login);
  });
});
