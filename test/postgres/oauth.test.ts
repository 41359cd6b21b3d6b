import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide, decideDevice, followRedirect, loginEnv, startLogin } from "../cli/support/running-login.ts";
import { expire, tokensIn } from "../cli/support/stored.ts";
import { postAtOnce } from "../platform/oauth/support/at-once.ts";
import {
  appOf,
  authorizationUrl,
  newProof,
  obtainCode,
  obtainTokens,
  post,
  proves,
} from "../platform/oauth/support/authorization-server.ts";
import { type OurServer, ourServer } from "../platform/oauth/support/our-server.ts";
import { apiOf } from "../support/api.ts";
import { createConfigDir, runCli } from "../support/run-cli.ts";
import { type BehindBalancer, browserAt, startBehindBalancer } from "./behind-balancer.ts";

const PAST_GRACE_MS = 31_000;

let platform: BehindBalancer;
let oauth: OurServer;

beforeAll(async () => {
  platform = await startBehindBalancer(2);
  const { url: baseUrl, sandboxKey, signInUrl } = platform;
  oauth = await ourServer({ baseUrl, sandboxKey, signInUrl, advance: () => {} });
});
afterAll(() => platform.close());

const at = (node: number, path: string) => platform.nodes[node]!.listenUrl + path;
/** Posts a form of the public app to one process. */
const send = (node: number, path: string, fields: Record<string, string>) =>
  post(at(node, path), { ...fields, ...proves(oauth, "public") });
const refresh = (node: number, refresh_token: string) =>
  send(node, "/oauth/token", { grant_type: "refresh_token", refresh_token });
/** Returns each process's response to an access token. */
const statusesOf = (accessToken: string) =>
  Promise.all(
    platform.nodes.map(async ({ listenUrl }) => (await apiOf(listenUrl, accessToken)("GET", "/v1/me")).status),
  );
const rewind = (column: string, table: string, milliseconds: number) =>
  platform.server.query(`UPDATE ${table} SET ${column} = ${column} - $1`, [milliseconds], platform.database);

/** Posts the same form five times to each process concurrently. */
async function sendToBothAtOnce(fields: Record<string, string>) {
  const responses = await Promise.all([0, 1].map((node) => postAtOnce(at(node, "/oauth/token"), fields, 5)));
  return responses.flat();
}

describe("a sign-in", () => {
  it("begins at one process and continues at others, with one form and one cookie", async () => {
    const proof = newProof();
    const url = authorizationUrl(oauth, "public", proof);
    const [first, second] = platform.nodes.map((node) => browserAt(node, oauth.browser));
    const question = await first!.get(url.pathname + url.search);
    const respond = await second!.submit(
      { ...question, url: question.url.replace(at(0, ""), at(1, "")) },
      { decision: "approve" },
    );
    expect(respond.left?.searchParams.get("iss")).toBe(platform.url);
    const { status, body } = await send(0, "/oauth/token", {
      grant_type: "authorization_code",
      code: respond.left!.searchParams.get("code")!,
      code_verifier: proof.verifier,
      redirect_uri: appOf(oauth, "public").redirectUri,
    });
    expect(status).toBe(200);
    expect(await statusesOf(body.access_token)).toEqual([200, 200]);
  });

  it("issues tokens to one of 10 concurrent exchanges", async () => {
    const proof = newProof();
    const responses = await sendToBothAtOnce({
      grant_type: "authorization_code",
      code: await obtainCode(oauth, "public", proof),
      code_verifier: proof.verifier,
      redirect_uri: appOf(oauth, "public").redirectUri,
      ...proves(oauth, "public"),
    });
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ body }) => body.error === "invalid_grant")).toHaveLength(9);
  });
});

describe("a refresh token", () => {
  it("is rotated by one process, and its successor by another", async () => {
    const first = await obtainTokens(oauth, "public");
    const { body: second } = await refresh(0, first.refresh_token);
    const { status, body: third } = await refresh(1, second.refresh_token);
    expect(status).toBe(200);
    expect(await statusesOf(third.access_token)).toEqual([200, 200]);
    expect((await refresh(0, third.refresh_token)).status).toBe(200);
  });

  it("leaves one valid successor after 10 concurrent uses", async () => {
    const { refresh_token } = await obtainTokens(oauth, "public");
    const fields = { grant_type: "refresh_token", refresh_token, ...proves(oauth, "public") };
    const responses = await sendToBothAtOnce(fields);
    const given = responses.filter(({ status }) => status === 200).map(({ body }) => body.refresh_token as string);
    expect(given.length).toBeGreaterThan(0);
    const live = await platform.server.query(
      `SELECT 1 FROM refresh_tokens WHERE used_at IS NULL AND replaced_at IS NULL AND grant_id =
         (SELECT grant_id FROM refresh_tokens ORDER BY created DESC LIMIT 1)`,
      [],
      platform.database,
    );
    expect(live).toHaveLength(1);
  });

  it("works again at the other process within the grace period, and replaces the first successor", async () => {
    const first = await obtainTokens(oauth, "public");
    const { body: lost } = await refresh(0, first.refresh_token);
    const { status, body: kept } = await refresh(1, first.refresh_token);
    expect(status).toBe(200);
    expect((await refresh(0, kept.refresh_token)).status).toBe(200);
    expect((await refresh(1, lost.refresh_token)).body.error).toBe("invalid_grant");
  });

  it("revokes the grant at both processes if it is used again after the grace period", async () => {
    const first = await obtainTokens(oauth, "public");
    const { body: second } = await refresh(0, first.refresh_token);
    await rewind("used_at", "refresh_tokens", PAST_GRACE_MS);
    expect((await refresh(1, first.refresh_token)).body.error).toBe("invalid_grant");
    expect((await refresh(0, second.refresh_token)).body.error).toBe("invalid_grant");
    expect(await statusesOf(second.access_token)).toEqual([401, 401]);
  });

  it("is immediately invalid at the other process after a revocation, with its access token", async () => {
    const { access_token, refresh_token } = await obtainTokens(oauth, "public");
    expect(await statusesOf(access_token)).toEqual([200, 200]);
    expect((await send(0, "/oauth/revoke", { token: refresh_token })).status).toBe(200);
    expect(await statusesOf(access_token)).toEqual([401, 401]);
    expect((await refresh(1, refresh_token)).body.error).toBe("invalid_grant");
  });
});

describe("an app's secret", () => {
  it("is invalid at the other process after a rotation", async () => {
    const { id, secret } = oauth.confidentialApp;
    const revokes = (client_secret: string) =>
      post(at(1, "/oauth/revoke"), { token: "unknown", client_id: id, client_secret });
    expect((await revokes(secret)).status).toBe(200);
    const api = apiOf(at(0, ""), platform.sandboxKey);
    const { body: app } = await api("POST", `/v1/oauth_apps/${id}/rotate_secret`);
    expect((await revokes(secret)).body.error).toBe("invalid_client");
    expect((await revokes(app.client_secret)).status).toBe(200);
  });
});

describe("a device", () => {
  const begin = async (node: number) =>
    (await send(node, "/oauth/device_authorization", { scope: "read_customers" })).body;
  const fieldsOf = (device_code: string) => ({
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code,
  });
  const respond = (node: number, user_code: string) =>
    decideDevice(
      browserAt(platform.nodes[node]!, oauth.browser),
      { verification_uri: at(node, "/oauth/device"), user_code },
      "approve",
    );

  it("starts at one process, is approved at the other, and gets its tokens at the first", async () => {
    const device = await begin(0);
    expect(device.verification_uri).toBe(`${platform.url}/oauth/device`);
    await respond(1, device.user_code);
    const { status, body } = await send(0, "/oauth/token", fieldsOf(device.device_code));
    expect(status).toBe(200);
    expect(await statusesOf(body.access_token)).toEqual([200, 200]);
  });

  it("gets slow_down at any process if it polls too often", async () => {
    const { device_code } = await begin(0);
    const poll = async (node: number) => (await send(node, "/oauth/token", fieldsOf(device_code))).body.error;
    // On a busy machine more than 5 seconds can pass between two polls.
    await platform.server.query("UPDATE device_codes SET interval_ms = 3600000", [], platform.database);
    expect(await poll(0)).toBe("authorization_pending");
    expect(await poll(1)).toBe("slow_down");
    // The first process's clock is ahead of the second's.
    await rewind("polled_at", "device_codes", -60_000);
    expect(await poll(1)).toBe("slow_down");
  });

  it("gets tokens for one of 10 concurrent polls", async () => {
    const device = await begin(1);
    await respond(0, device.user_code);
    const responses = await sendToBothAtOnce({ ...fieldsOf(device.device_code), ...proves(oauth, "public") });
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ body }) => body.error === "invalid_grant")).toHaveLength(9);
  });
});

describe("service login through a balancer", () => {
  it.each([[["--no-browser"]], [["--device"]]])("%o signs in, refreshes and signs out", async (flags) => {
    const before = platform.served();
    const dir = createConfigDir();
    const env = { SERVICE_CONFIG_DIR: dir };
    const login = await startLogin(flags, loginEnv(platform.nodes[0]!, dir));
    const { announcement } = login;
    if (announcement.authorization_url === undefined) await decideDevice(oauth.browser, announcement, "approve");
    else await followRedirect(await decide(oauth.browser, announcement.authorization_url, "approve"));
    expect(await login.ended).toMatchObject({ exitCode: 0 });
    const first = tokensIn(dir);
    expire(dir);
    const commands = await Promise.all([0, 1, 2, 3].map(() => runCli(["customers", "list"], { env })));
    expect(commands.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      Array.from({ length: 4 }, () => ({ exitCode: 0, stderr: "" })),
    );
    const { access_token } = tokensIn(dir);
    expect(access_token).not.toBe(first.access_token);
    expect(await statusesOf(access_token)).toEqual([200, 200]);
    expect(await runCli(["logout"], { env })).toMatchObject({ exitCode: 0 });
    expect(await statusesOf(access_token)).toEqual([401, 401]);
    const sent = platform.served().map((count, node) => count - before[node]!);
    expect(Math.min(...sent)).toBeGreaterThan(2);
  });
});
