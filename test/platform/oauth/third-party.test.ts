import { expect, it } from "vitest";
import { apiOf } from "../../support/api.ts";
import { Browser } from "./support/browser.ts";
import { startEmbedded } from "./support/embedded-platform.ts";
import { sessionApi } from "./support/sign-in.ts";
import { startThirdPartyApp } from "./support/third-party-app.ts";

it("a third-party web application signs a user in and can do exactly what the user approved", async () => {
  const platform = await startEmbedded();
  const developer = apiOf(platform.baseUrl, platform.sandboxKey);
  const app = await startThirdPartyApp(platform.baseUrl, "read_customers write_orders", async (redirectUri) => {
    const { body } = await developer("POST", "/v1/oauth_apps", { name: "Reports", redirect_uris: [redirectUri] });
    return { id: body.client_id, secret: body.client_secret };
  });

  const atPlatform = new Browser(platform.baseUrl);
  await atPlatform.get(platform.signInUrl);
  const atApp = new Browser(app.url);
  const { left: question } = await atApp.get("/sign-in");
  const page = await atPlatform.get(question!.href);
  expect(page.text).toContain("Reports");
  const { left: respond } = await atPlatform.submit(page, { decision: "approve" });
  expect(respond!.origin).toBe(app.url);
  const signedIn = await atApp.get(respond!.href);
  expect(JSON.parse(signedIn.text)).toMatchObject({
    environment: "sandbox",
    user: { email: "owner@localhost" },
    credential: { kind: "access_token" },
    scopes: ["customers:read", "orders:write"],
  });

  const call = async (method: string, path: string, body = "") => {
    const query = new URLSearchParams({ method, path, body }).toString();
    const visit = await atApp.get(`/?${query}`);
    return { status: visit.status, body: JSON.parse(visit.text) as Record<string, unknown> };
  };
  expect((await call("GET", "/v1/customers")).status).toBe(200);
  const order = JSON.stringify({ amount: 100, currency: "EUR" });
  expect((await call("POST", "/v1/orders", order)).status).toBe(201);
  for (const [method, path, body] of [
    ["POST", "/v1/customers", '{"email":"a@example.com"}'],
    ["GET", "/v1/orders", ""],
    ["GET", "/v1/api_keys", ""],
    ["POST", "/v1/api_keys", "{}"],
    ["GET", "/v1/events", ""],
  ] as const) {
    const response = await call(method, path, body);
    expect(response).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
  }

  const user = sessionApi(platform.baseUrl, atPlatform);
  const { body: grants } = await user("GET", "/v1/oauth_grants");
  expect(grants.data).toMatchObject([{ app_name: "Reports", last_token_at: expect.any(String) }]);
  await user("POST", `/v1/oauth_grants/${grants.data[0].id}/revoke`);
  expect(await call("GET", "/v1/customers")).toMatchObject({ status: 401, body: { code: "revoked_credential" } });

  await app.close();
  await platform.close();
});
