import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { apiOf } from "../support/api.ts";
import { it, startChromium } from "../support/chromium.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { installPackages } from "./support/packages.ts";

let platform: ServedPlatform;
let chromium: Browser;
/** Whether the owner is signed in. */
let owner: BrowserContext;
const servers: Server[] = [];

beforeAll(async () => {
  platform = await servePlatform();
  chromium = await startChromium();
  owner = await chromium.newContext();
  await (await owner.newPage()).goto(platform.ready.sign_in_url!);
});
afterAll(async () => {
  await chromium.close();
  for (const server of servers) server.close();
  await platform.stop();
});

/** Sends an API request with a token from a page. Returns the part of the response that the page can read. */
const CALL_API = `
  const call = async (token) => {
    const response = await fetch(AUTHORITY + "/v1/customers?limit=1", { headers: { Authorization: "Bearer " + token } });
    const { object } = await response.json();
    return [response.status, object ?? null, /^req_/.test(response.headers.get("request-id"))];
  };
  const report = (steps) => { document.body.dataset.result = JSON.stringify(steps); };
  addEventListener("unhandledrejection", ({ reason }) => report(String(reason?.stack ?? reason)));
`;

const OIDC_CLIENT = `
  import { UserManager } from "oidc-client-ts";
  ${CALL_API}
  const manager = new UserManager({
    authority: AUTHORITY, client_id: CLIENT_ID, redirect_uri: location.origin + "/callback", scope: "read_customers",
  });
  if (location.pathname === "/") await manager.signinRedirect();
  else {
    const user = await manager.signinCallback();
    const first = await call(user.access_token);
    const renewed = await manager.signinSilent();
    const second = await call(renewed.access_token);
    await manager.revokeTokens();
    report({ first, second, renewed: renewed.access_token !== user.access_token, last: await call(renewed.access_token) });
  }
`;

const OAUTH4WEBAPI = `
  import * as oauth from "oauth4webapi";
  ${CALL_API}
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(AUTHORITY);
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const client = { client_id: CLIENT_ID };
  const redirect = location.origin + "/callback";
  if (location.pathname === "/") {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    sessionStorage.setItem("flow", JSON.stringify({ verifier, state }));
    const url = new URL(server.authorization_endpoint);
    url.search = new URLSearchParams({
      client_id: CLIENT_ID, redirect_uri: redirect, response_type: "code", scope: "read_customers", state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
    });
    location.href = url;
  } else {
    const { verifier, state } = JSON.parse(sessionStorage.getItem("flow"));
    const answer = oauth.validateAuthResponse(server, client, new URL(location.href), state);
    const none = oauth.None();
    const granted = await oauth.processAuthorizationCodeResponse(server, client,
      await oauth.authorizationCodeGrantRequest(server, client, none, answer, redirect, verifier, insecure));
    const first = await call(granted.access_token);
    const renewed = await oauth.processRefreshTokenResponse(server, client,
      await oauth.refreshTokenGrantRequest(server, client, none, granted.refresh_token, insecure));
    const second = await call(renewed.access_token);
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, none, renewed.refresh_token, insecure));
    report({ first, second, renewed: renewed.access_token !== granted.access_token, last: await call(renewed.access_token) });
  }
`;

/** Serves a page that runs a program with the client library from a separate origin. */
async function startApp(library: string, program: string): Promise<string> {
  const folder = await installPackages(library);
  let script = "";
  const server = createServer((request, response) => {
    const isScript = request.url === "/app.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : '<!doctype html><body><script type="module" src="/app.js"></script></body>');
  });
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const app = await apiOf(platform.baseUrl, platform.sandboxKey)("POST", "/v1/oauth_apps", {
    name: "Browser app",
    redirect_uris: [`${origin}/callback`],
    public: true,
  });
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: join(folder, "node_modules"), loader: "js" },
    define: { AUTHORITY: JSON.stringify(platform.baseUrl), CLIENT_ID: JSON.stringify(app.body.client_id) },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
  });
  script = outputFiles[0]!.text;
  return origin;
}

describe("a client in the browser, on a page of another origin", () => {
  it.each([
    ["oidc-client-ts@3.5.0", OIDC_CLIENT],
    ["oauth4webapi@3.8.8", OAUTH4WEBAPI],
  ])("signs in with %s, calls the API, refreshes and revokes", async (library, program) => {
    const origin = await startApp(library, program);
    const page = await owner.newPage();
    await page.goto(origin);
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${origin}/callback**`);
    await page.locator("body[data-result]").waitFor({ state: "attached" });
    expect(JSON.parse((await page.locator("body").getAttribute("data-result"))!)).toEqual({
      first: [200, "list", true],
      second: [200, "list", true],
      renewed: true,
      last: [401, null, true],
    });
  });
});
