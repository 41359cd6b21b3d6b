import { once } from "node:events";
import { beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import { formatTimestamp } from "../../src/contract/timestamps.ts";
import { obtainTokens, post, proves } from "./oauth/support/authorization-server.ts";
import { embeddedPlatform } from "./oauth/support/embedded-platform.ts";
import { type OurServer, ourServer } from "./oauth/support/our-server.ts";
import { sessionApi } from "./oauth/support/sign-in.ts";
import { type Api, apiOf } from "../support/api.ts";

const HOUR = 3_600_000;

const platform = embeddedPlatform();
let server: OurServer;
let api: Api;

beforeAll(async () => {
  server = await ourServer(platform);
  api = apiOf(platform.baseUrl, platform.sandboxKey);
});

interface Listener {
  /** The received frames. */
  frames: { frame: string; code?: string }[];
  /** The close code, once the platform has closed the connection. */
  closed: Promise<number>;
}

async function listen(credential: string): Promise<Listener> {
  const socket = new WebSocket(`${platform.baseUrl.replace("http", "ws")}/v1/listen`, "service.listen.v1", {
    headers: { Authorization: `Bearer ${credential}` },
  });
  const frames: Listener["frames"] = [];
  const closed = once(socket, "close").then(([code]) => code as number);
  socket.on("message", (data: Buffer) => frames.push(JSON.parse(data.toString("utf8")) as { frame: string }));
  await once(socket, "message");
  return { frames, closed };
}

const lastWord = async (listener: Listener) => {
  expect(await listener.closed).toBe(1008);
  return listener.frames.at(-1);
};

const newKey = async (fields: object = {}) => (await api("POST", "/v1/api_keys", fields)).body;
const listenScope = async () => obtainTokens({ ...server, scopes: ["read_listen", "read_events"] }, "public");

it("revoking a key closes only the sessions that it opened", async () => {
  const key = await newKey();
  const [one, two, other] = [await listen(key.key), await listen(key.key), await listen(platform.sandboxKey)];
  await api("POST", `/v1/api_keys/${key.id}/revoke`);
  expect(await lastWord(one)).toMatchObject({ frame: "bye", code: "revoked_credential" });
  expect(await lastWord(two)).toMatchObject({ frame: "bye", code: "revoked_credential" });
  await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await expect.poll(() => other.frames.at(-1)?.frame).toBe("events");
});

it("the expiry of a key closes its sessions", async () => {
  const key = await newKey({ expires_at: formatTimestamp(platform.now() + 3 * HOUR) });
  const listener = await listen(key.key);
  platform.advance(3 * HOUR);
  expect(await lastWord(listener)).toMatchObject({ frame: "bye", code: "expired_credential" });
});

it("the expiry of an access token closes its sessions", async () => {
  const { access_token } = await listenScope();
  const listener = await listen(access_token);
  platform.advance(HOUR);
  expect(await lastWord(listener)).toMatchObject({ frame: "bye", code: "expired_credential" });
});

it("revoking a grant closes its sessions", async () => {
  const { access_token, refresh_token } = await listenScope();
  const listener = await listen(access_token);
  await post(server.endpoints.revoke, { token: refresh_token, ...proves(server, "public") });
  expect(await lastWord(listener)).toMatchObject({ frame: "bye", code: "revoked_credential" });
});

it("a user's revocation of access closes the app's sessions", async () => {
  const { access_token } = await listenScope();
  const listener = await listen(access_token);
  const user = sessionApi(platform.baseUrl, server.browser);
  const { body: grants } = await user("GET", "/v1/oauth_grants");
  await user("POST", `/v1/oauth_grants/${grants.data[0].id}/revoke`);
  expect(await lastWord(listener)).toMatchObject({ frame: "bye", code: "revoked_credential" });
});
