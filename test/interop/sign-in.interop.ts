import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesOf } from "../docs/pages.ts";
import { type OurServer, ourServer } from "../platform/oauth/support/our-server.ts";
import { apiOf } from "../support/api.ts";
import { type RunningPlatform, startPlatform } from "../support/platform.ts";
import { installPackages } from "./support/packages.ts";
import { hasPip, pythonWith } from "./support/pip.ts";

const PAGE = filesOf("sign-in-with-service.md");
const APP = "http://127.0.0.1:3000";
const EMAIL = expect.stringContaining("@");

let platform: RunningPlatform;
let server: OurServer;
const folders: string[] = [];

beforeAll(async () => {
  platform = await startPlatform();
  const { baseUrl, sandboxKey, ready } = platform;
  server = await ourServer({ baseUrl, sandboxKey, signInUrl: ready.sign_in_url!, advance: () => {} });
  const api = apiOf(baseUrl, sandboxKey);
  const paths = ["/auth/callback/service", "/api/auth/callback/service", "/callback"];
  const { body: app } = await api("POST", "/v1/oauth_apps", {
    name: "Recipes",
    redirect_uris: paths.map((path) => APP + path),
  });
  Object.assign(process.env, {
    APP_URL: APP,
    SERVICE_BASE_URL: baseUrl,
    CLIENT_ID: app.client_id,
    CLIENT_SECRET: app.client_secret,
    REDIRECT_URI: `${APP}/callback`,
    BETTER_AUTH_SECRET: "s".repeat(43),
  });
});
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await platform.stop();
});

/** Imports a file of the page, with packages installed in a folder. */
// oxlint-disable-next-line typescript/no-explicit-any -- the packages' own modules
async function load(name: string, packages: string): Promise<any> {
  const folder = mkdtempSync(join(packages, "recipe-"));
  folders.push(folder);
  const file = join(folder, name.replace(/js$/, "mjs"));
  writeFileSync(file, PAGE.get(name)!);
  return import(pathToFileURL(file).href);
}

const allow = async (url: string | URL): Promise<URL> => (await server.authorize(new URL(url))).redirect!;

/** A browser of the application: keeps cookies between requests to its handler. */
class Visitor {
  readonly #cookies = new Map<string, string>();
  readonly #handle: (request: Request) => Promise<Response>;

  constructor(handle: (request: Request) => Promise<Response>) {
    this.#handle = handle;
  }

  async request(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("cookie", [...this.#cookies].map((pair) => pair.join("=")).join("; "));
    const response = await this.#handle(new Request(url, { ...init, headers }));
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      this.#cookies.set(name!, value!);
    }
    return response;
  }
}

describe("docs/sign-in-with-service.md signs in with", () => {
  it("Auth.js", async () => {
    const packages = await installPackages("@auth/core@0.41.3");
    const core = join(packages, "node_modules/@auth/core/index.js");
    const { Auth } = await import(pathToFileURL(core).href);
    const { service } = await load("authjs.js", packages);
    const config = { providers: [service], secret: "s".repeat(43), trustHost: true, basePath: "/auth" };
    const visitor = new Visitor((request) => Auth(request, config));
    const { csrfToken } = (await (await visitor.request(`${APP}/auth/csrf`)).json()) as { csrfToken: string };
    const body = new URLSearchParams({ csrfToken, callbackUrl: APP });
    const begun = await visitor.request(`${APP}/auth/signin/service`, { method: "POST", body });
    await visitor.request(await allow(begun.headers.get("location")!));
    const session = await (await visitor.request(`${APP}/auth/session`)).json();
    expect(session).toMatchObject({ user: { email: EMAIL } });
  });

  it("Better Auth", async () => {
    const { auth } = await load("better-auth.js", await installPackages("better-auth@1.7.25"));
    const visitor = new Visitor(auth.handler);
    const begun = await visitor.request(`${APP}/api/auth/sign-in/social`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: APP },
      body: JSON.stringify({ provider: "service", callbackURL: "/" }),
    });
    const { url } = (await begun.json()) as { url: string };
    const back = await visitor.request(await allow(url));
    expect(back.headers.get("location")).toBe("/");
    const session = await (await visitor.request(`${APP}/api/auth/get-session`)).json();
    expect(session).toMatchObject({ user: { email: EMAIL } });
  });

  it("openid-client", async () => {
    const { begin, finish } = await load("openid-client.js", await installPackages("openid-client@6.9.0"));
    const { url, checks } = await begin();
    const { tokens, user } = await finish(await allow(url), checks);
    expect(user).toMatchObject({ sub: expect.stringMatching(/^usr_/), email: EMAIL });
    expect(await server.works(tokens.access_token)).toBe(true);
  });

  it.skipIf(!hasPip)("Authlib", async () => {
    const folder = mkdtempSync(join(tmpdir(), "service-authlib-"));
    folders.push(folder);
    const file = join(folder, "sign_in.py");
    writeFileSync(file, PAGE.get("sign_in.py")!);
    // Only for a platform on this machine.
    const env = { ...pythonWith("Authlib==1.8.0", "requests"), AUTHLIB_INSECURE_TRANSPORT: "1" };
    const child = spawn("python3", [file], { env, stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stdin.end(`${(await allow((await lines.next()).value as string)).href}\n`);
    expect((await lines.next()).value).toContain("@");
  });
});
