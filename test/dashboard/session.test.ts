import { readdirSync, readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requestSignInLink } from "../../src/platform/admin.ts";
import { problemOfHost } from "../../src/platform/http/client-address.ts";
import { Browser } from "../platform/oauth/support/browser.ts";
import { type EmbeddedPlatform, startEmbedded } from "../platform/oauth/support/embedded-platform.ts";
import { type Api, apiOf } from "../support/api.ts";

const BUILT = fileURLToPath(new URL("../../dist/dashboard/", import.meta.url));
const EMAIL = "new@example.com";

let platform: EmbeddedPlatform;
/** Calls the API with a session cookie. Tests add or remove headers that a browser sends. */
let call: Api;
let cookie: string;

beforeAll(async () => {
  platform = await startEmbedded({ dashboard: BUILT });
  cookie = await signIn();
  call = callsWith(cookie);
});
afterAll(() => platform.close());

async function signIn(): Promise<string> {
  const browser = new Browser(platform.baseUrl);
  await browser.get((await requestSignInLink(platform.database)).sign_in_url);
  return [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

function callsWith(of: string): Api {
  const api = apiOf(platform.baseUrl, undefined);
  return (method, path, body, headers) =>
    api(method, path, body, {
      Cookie: of,
      "Service-Environment": "sandbox",
      "Sec-Fetch-Site": "same-origin",
      Origin: platform.baseUrl,
      ...headers,
    });
}

describe("the session as an API credential", () => {
  it("authenticates the user in the environment that the header names", async () => {
    const sandbox = (await call("GET", "/v1/me")).body;
    expect(sandbox).toMatchObject({
      environment: "sandbox",
      livemode: false,
      user: { email: "owner@localhost" },
      credential: { kind: "session", id: expect.stringMatching(/^ses_[0-9A-Za-z]{22}$/) },
    });
    const live = (await call("GET", "/v1/me", undefined, { "Service-Environment": "live" })).body;
    expect(live).toMatchObject({ environment: "live", livemode: true, account: sandbox.account });
  });

  it("is ignored without the header, which other sites cannot send", async () => {
    const plain = await fetch(`${platform.baseUrl}/v1/me`, { headers: { Cookie: cookie } });
    expect(plain.status).toBe(401);
    expect(await plain.json()).toMatchObject({ code: "missing_credential" });
    const asked = await fetch(`${platform.baseUrl}/v1/customers`, {
      method: "OPTIONS",
      headers: { Origin: "https://evil.example", "Access-Control-Request-Headers": "service-environment" },
    });
    expect([...asked.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it.each([
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "none" },
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: "http://127.0.0.1:1" },
  ])("is rejected if the browser reports another origin: %o", async (headers) => {
    const response = await call("POST", "/v1/customers", { email: EMAIL }, headers);
    expect(response.body).toMatchObject({ status: 403, code: "cross_site_request" });
    expect((await call("GET", `/v1/customers?email=${EMAIL}`)).body.data).toEqual([]);
  });

  it("makes no change if the browser does not report the origin", async () => {
    const bare = apiOf(platform.baseUrl, undefined);
    const headers = { Cookie: cookie, "Service-Environment": "sandbox" };
    expect((await bare("POST", "/v1/customers", { email: EMAIL }, headers)).body.code).toBe("cross_site_request");
    expect((await bare("GET", "/v1/customers", undefined, headers)).status).toBe(200);
  });

  it("opens no WebSocket for another site's page, although the browser sends the cookie", async () => {
    const upgrade = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Protocol": "service.listen.v1" };
    const foreign = { ...upgrade, Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
    expect(await statusUnder("localhost", "/v1/listen", foreign)).toBe(401);
    expect(await statusUnder("localhost", "/v1/listen", { ...foreign, ...IN_SANDBOX })).toBe(403);
  });

  it("requires a valid environment name", async () => {
    const response = await call("GET", "/v1/me", undefined, { "Service-Environment": "Live" });
    expect(response.body).toMatchObject({ status: 400, code: "invalid_header" });
  });

  it("logs the changes of pages, but not their reads", async () => {
    await call("POST", "/v1/customers", { email: "logged@example.com" });
    await call("GET", "/v1/customers");
    const { data } = (await call("GET", "/v1/request_logs?path=/v1/customers")).body;
    const mine = data.filter((log: { user: string | null }) => log.user !== null);
    expect(new Set(mine.map((log: { method: string }) => log.method))).toEqual(new Set(["POST"]));
    expect(mine[0]).toMatchObject({ path: "/v1/customers", status: 201, key: null });
  });

  it("is listed with the address where it began, and its last use", async () => {
    const current = async () => {
      const { data } = (await call("GET", "/v1/sessions")).body;
      return data.find((session: { is_current: boolean }) => session.is_current);
    };
    expect((await current()).client_address).toBe("127.0.0.1");
    await expect.poll(async () => (await current()).last_used).toMatch(/^\d{4}-/);
  });

  it("expires immediately, also in the event stream", async () => {
    const other = callsWith(await signIn());
    const stream = await streamOf(await signIn());
    const sessions = (await call("GET", "/v1/sessions")).body.data;
    expect(sessions.filter((session: { is_current: boolean }) => session.is_current)).toHaveLength(1);
    for (const { id, is_current: isCurrent } of sessions) if (!isCurrent) await call("DELETE", `/v1/sessions/${id}`);
    expect((await other("GET", "/v1/me")).body.code).toBe("revoked_credential");
    for await (const _chunk of stream) continue;
  });
});

describe("an operation for signed-in users only", () => {
  it.each(["/v1/users", "/v1/sessions", "/v1/oauth_grants"])("rejects a key: %s", async (path) => {
    const response = await apiOf(platform.baseUrl, platform.liveKey)("GET", path);
    expect(response.body).toMatchObject({ status: 403, code: "session_required" });
  });

  it("invites a member, who may read but not invite, and is signed out once removed", async () => {
    const invited = (await call("POST", "/v1/users", { email: "member@example.com" })).body;
    expect(invited).toMatchObject({ role: "member", has_password: false });
    const again = (await call("POST", "/v1/users", { email: "Member@example.com" })).body;
    expect(again).toMatchObject({ id: invited.id, invitation_expires_at: expect.stringMatching(/Z$/) });
    const browser = new Browser(platform.baseUrl);
    expect((await browser.get(invited.invitation_url)).status).toBe(410);
    await browser.submit(await browser.get(again.invitation_url), { password: "correct horse battery" });
    expect((await call("POST", "/v1/users", { email: "Member@example.com" })).body.code).toBe("email_taken");
    expect((await call("GET", "/v1/users")).body.data[1]).toMatchObject({ invitation_expires_at: null });
    const member = callsWith([...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    expect((await member("GET", "/v1/users")).body.data).toHaveLength(2);
    expect((await member("POST", "/v1/users", { email: EMAIL })).body.code).toBe("owner_required");
    const [first, second] = [await member("POST", "/v1/api_keys", {}), await member("POST", "/v1/api_keys", {})];
    expect(first.body.created_by).toBe(invited.id);
    const inLive = await member("POST", "/v1/api_keys", { name: "Live" }, { "Service-Environment": "live" });
    const further = await apiOf(platform.baseUrl, first.body.key)("POST", "/v1/api_keys", {});
    await call("POST", `/v1/api_keys/${second.body.id}/revoke`);
    const removed = (await call("DELETE", `/v1/users/${invited.id}`)).body;
    expect(removed).toMatchObject({ deleted: true, api_keys: { object: "list", has_more: false } });
    const { key: _, ...shown } = inLive.body;
    expect(removed.api_keys.data).toEqual(expect.arrayContaining([shown]));
    const left = [first, inLive, further].map(({ body }) => String(body.id));
    expect(removed.api_keys.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(left.toSorted());
    expect((await member("GET", "/v1/users")).status).toBe(401);
    const owner = (await call("GET", "/v1/users")).body.data[0];
    expect((await call("DELETE", `/v1/users/${owner.id}`)).status).toBe(404);
  });
});

describe("a request with a host name that another site points to this machine", () => {
  it.each([
    ["/", 200],
    ["/v1/me", 200],
    ["/openapi.json", 200],
    ["/docs/reference", 200],
    ["/problems/not_found", 200],
    ["/healthz", 200],
    ["/readyz", 200],
    ["/metrics", 200],
    ["/.well-known/oauth-authorization-server", 200],
    ["/nothing", 404],
    ["/dashboard", 200],
    ["/sign-in", 303],
    ["/sign-in/link?token=x", 303],
    ["/invitation?token=x", 410],
    ["/account", 200],
    ["/why", 303],
    ["/why/evt_x", 303],
    ["/oauth/authorize", 400],
    ["/oauth/device", 200],
  ])("gets 421 at %s", async (path, status) => {
    expect(await statusUnder("rebound.example", path)).toBe(421);
    expect(await statusUnder("localhost", path)).toBe(status);
  });

  it("gets 421 when it opens a WebSocket", async () => {
    const headers = { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Protocol": "service.listen.v1" };
    expect(await statusUnder("rebound.example", "/v1/listen", headers)).toBe(421);
    expect(await statusUnder("localhost", "/v1/listen", headers)).toBe(401);
  });

  it("is distinguished from requests for the public URL, this machine's name, or another interface", () => {
    const problem = (localAddress: string, host: string, publicHost?: string) =>
      problemOfHost({ headers: { host }, socket: { localAddress } } as IncomingMessage, publicHost)?.status;
    expect(problem("127.0.0.1", "board.example:443", "board.example")).toBeUndefined();
    expect(problem("127.0.1.1", `${hostname()}:4010`)).toBeUndefined();
    expect(problem("203.0.113.7", "board.example")).toBeUndefined();
    expect(problem("::1", "board.example:443", "other.example")).toBe(421);
    expect(problem("::ffff:127.0.0.1", "board.example")).toBe(421);
  });
});

describe("the dashboard's page", () => {
  const page = (path: string, of = cookie) => fetch(platform.baseUrl + path, { headers: { Cookie: of } });

  it("runs only its own scripts, and no inline scripts", async () => {
    for (const path of ["/dashboard", "/dashboard/live/events/evt_x"]) {
      const response = await page(path);
      const policy = response.headers.get("content-security-policy")!;
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("style-src 'self';");
      expect(policy).not.toContain("unsafe");
      expect(policy).toContain("frame-ancestors 'none'");
      const text = await response.text();
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
    }
  });

  it("redirects to the sign-in page, and back afterwards", async () => {
    const text = await (await page("/dashboard/live/events", "")).text();
    expect(text).toContain('<a href="/dashboard/live/events">Continue here</a>');
  });

  it("has small files that are cached for a year under hashed names", async () => {
    const { script } = JSON.parse(readFileSync(`${BUILT}manifest.json`, "utf8")) as { script: string };
    const response = await page(`/dashboard/assets/${script}`, "");
    expect(script).toMatch(/^main-[A-Z0-9]{8}\.js$/);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("content-encoding")).toBe("gzip");
    for (const name of ["manifest.json", "..%2fserve.js", "none.js"]) {
      expect((await page(`/dashboard/assets/${name}`, "")).status).toBe(404);
    }
  });

  it("reports an unknown address as a page to a browser, and as problem details to a program", async () => {
    const get = (path: string, accept: string) => fetch(platform.baseUrl + path, { headers: { Accept: accept } });
    const browser = await get("/nowhere", "text/html,*/*");
    expect([browser.status, browser.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await browser.text()).toContain("<h1>This page does not exist</h1>");
    for (const [path, accept] of [
      ["/nowhere", "*/*"],
      ["/v1/nowhere", "text/html"],
    ] as const) {
      const program = await get(path, accept);
      expect([program.status, program.headers.get("content-type")]).toEqual([
        404,
        "application/problem+json; charset=utf-8",
      ]);
    }
  });

  it("loads at most 60 KB of JavaScript, compressed", async () => {
    const text = await (await page("/dashboard")).text();
    const names = [...text.matchAll(/assets\/([\w.-]+\.js)/g)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(0);
    const bytes = names.map((name) => readFileSync(`${BUILT}${name}.gz`).length);
    expect(bytes.reduce((sum, size) => sum + size)).toBeLessThan(60_000);
  });

  it("loads its fonts, at most 80 KB, from its own origin", async () => {
    const names = readdirSync(BUILT).filter((name) => name.endsWith(".woff2"));
    const styles = readFileSync(`${BUILT}${JSON.parse(readFileSync(`${BUILT}manifest.json`, "utf8")).style}`, "utf8");
    let bytes = 0;
    for (const name of names) {
      expect(styles).toContain(`/dashboard/assets/${name}`);
      const response = await page(`/dashboard/assets/${name}`, "");
      expect(response.headers.get("content-type")).toBe("font/woff2");
      bytes += (await response.arrayBuffer()).byteLength;
    }
    expect([names.length, bytes < 80_000]).toEqual([2, true]);
  });
});

const IN_SANDBOX: Record<string, string> = { "Service-Environment": "sandbox" };

/** Sends a request as after DNS rebinding: with another host name for this address. */
function statusUnder(name: string, path: string, more = IN_SANDBOX): Promise<number | undefined> {
  const { hostname, port } = new URL(platform.baseUrl);
  return new Promise((resolve, reject) => {
    const headers = { Host: `${name}:${port}`, Cookie: cookie, ...more };
    request({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

async function streamOf(of: string): Promise<ReadableStream<Uint8Array>> {
  const headers = { Cookie: of, "Service-Environment": "sandbox", "Sec-Fetch-Site": "same-origin" };
  const response = await fetch(`${platform.baseUrl}/v1/events/stream`, { headers });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  return response.body!;
}
