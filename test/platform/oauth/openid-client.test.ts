import * as client from "openid-client";
import { beforeAll, describe, expect, it } from "vitest";
import { apiOf } from "../../support/api.ts";
import { embeddedPlatform } from "./support/embedded-platform.ts";
import { type OurServer, ourServer } from "./support/our-server.ts";

const platform = embeddedPlatform();
let server: OurServer;

beforeAll(async () => {
  server = await ourServer(platform);
});

const LOOPBACK = "http://127.0.0.1:51234/callback";

function discover(app: "public" | "basic" | "post"): Promise<client.Configuration> {
  const { id, secret } = server.confidentialApp;
  const [clientId, proof] =
    app === "public"
      ? [server.publicApp.id, client.None()]
      : [id, app === "basic" ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret)];
  return client.discovery(new URL(platform.baseUrl), clientId, undefined, proof, {
    algorithm: "oauth2",
    execute: [client.allowInsecureRequests],
  });
}

async function signIn(config: client.Configuration, redirect_uri: string) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri,
    scope: "read_customers write_customers",
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    state: expectedState,
  });
  const { redirect } = await server.authorize(url);
  return client.authorizationCodeGrant(config, redirect!, { pkceCodeVerifier, expectedState });
}

const statusOf = async (token: string) => (await apiOf(platform.baseUrl, token)("GET", "/v1/me")).status;

it("openid-client discovers the server's metadata", async () => {
  const metadata = (await discover("public")).serverMetadata();
  expect(metadata).toMatchObject({
    issuer: platform.baseUrl,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  });
});

describe.each(["public", "basic", "post"] as const)("a %s app", (app) => {
  it("signs in with code and PKCE, refreshes and revokes", async () => {
    const config = await discover(app);
    const tokens = await signIn(config, app === "public" ? LOOPBACK : server.confidentialApp.redirectUri);
    expect(tokens).toMatchObject({ token_type: "bearer", expires_in: 3600 });
    expect(await statusOf(tokens.access_token)).toBe(200);

    const { sub } = await client.fetchUserInfo(config, tokens.access_token, client.skipSubjectCheck);
    expect(sub).toMatch(/^usr_/);

    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token!);
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
    expect(await statusOf(refreshed.access_token)).toBe(200);

    await client.tokenRevocation(config, refreshed.refresh_token!);
    expect(await statusOf(refreshed.access_token)).toBe(401);
    await expect(client.refreshTokenGrant(config, refreshed.refresh_token!)).rejects.toMatchObject({
      error: "invalid_grant",
    });
  });
});

it("openid-client understands a denial", async () => {
  const config = await discover("public");
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: LOOPBACK,
    scope: "read_customers",
    code_challenge: await client.calculatePKCECodeChallenge(client.randomPKCECodeVerifier()),
    code_challenge_method: "S256",
    state: "s",
  });
  const { redirect } = await server.authorize(url, "deny");
  const exchange = client.authorizationCodeGrant(config, redirect!, { expectedState: "s" });
  await expect(exchange).rejects.toMatchObject({ error: "access_denied" });
});

it("a device signs in while openid-client polls", async () => {
  const config = await discover("public");
  const device = await client.initiateDeviceAuthorization(config, { scope: "read_customers" });
  const tokens = client.pollDeviceAuthorizationGrant(config, device);
  expect(await server.decideDevice(device.user_code, "approve")).toBe(true);
  expect(await statusOf((await tokens).access_token)).toBe(200);
});
