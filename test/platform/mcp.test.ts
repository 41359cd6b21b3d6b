import { readFileSync } from "node:fs";
import { once } from "node:events";
import { request } from "node:http";
import {
  discoverOAuthProtectedResourceMetadata,
  discoverOAuthServerInfo,
  type OAuthClientProvider,
} from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { beforeAll, describe, expect, it } from "vitest";
import { obtainTokens } from "./oauth/support/authorization-server.ts";
import { type OurServer, ourServer } from "./oauth/support/our-server.ts";
import { apiOf, type ApiResponse } from "../support/api.ts";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import { servePlatform } from "../support/platform.ts";

const on = apiOnPlatform();
/** The platform's owner is signed in. */
let server: OurServer;
beforeAll(async () => {
  const { baseUrl, ready, sandboxKey } = on.platform;
  server = await ourServer({ baseUrl, sandboxKey, signInUrl: ready.sign_in_url!, advance: () => {} });
});

const ACCEPT = { Accept: "application/json, text/event-stream" };
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

function post(body: unknown, headers: Record<string, string> = {}, key: string | undefined = on.platform.sandboxKey) {
  return apiOf(on.platform.baseUrl, key)("POST", "/mcp", body, { ...ACCEPT, ...headers });
}

/** Returns the one message of a response. */
// oxlint-disable-next-line typescript/no-explicit-any -- the tests look into messages of every shape
function messageOf({ body }: ApiResponse): any {
  return JSON.parse(/^data: (.*)$/m.exec(body as string)![1]!);
}

async function connect(key: string, baseUrl = on.platform.baseUrl): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { requestInit });
  await client.connect(transport);
  return client;
}

const WAIT = { name: "wait_for_event", arguments: { timeout_seconds: 300 } };

describe("tools/list of /mcp", () => {
  const list = async (query: string) =>
    apiOf(on.platform.baseUrl, on.platform.sandboxKey)("POST", `/mcp${query}`, LIST, ACCEPT);

  it("has no output schemas unless a client requests them", async () => {
    const [plain, whole] = [await list(""), await list("?output_schemas=true")].map((reply) => messageOf(reply).result);
    expect(JSON.stringify(plain)).not.toContain("outputSchema");
    expect(JSON.stringify(whole).length).toBeGreaterThan(2 * JSON.stringify(plain).length);
  });

  it("lists the tools and groups in the query", async () => {
    const { tools } = messageOf(await list("?tools=customers,%20explain")).result;
    expect(tools.map(({ name }: { name: string }) => name)).toEqual([
      "create_customer",
      "list_customers",
      "get_customer",
      "update_customer",
      "delete_customer",
      "explain",
    ]);
    const wrong = await list("?tools=customer");
    expect(wrong.status).toBe(400);
    expect(wrong.body.error.message).toMatch(
      /Unknown tool or group of tools "customer"\. Groups: customers, orders, .*test_clock/,
    );
  });
});

describe("a request to /mcp", () => {
  it("gets a response without a session before it", async () => {
    const reply = await post(LIST);
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(reply.headers.get("mcp-session-id")).toBeNull();
    expect(reply.headers.get("request-id")).toMatch(/^req_/);
    expect(reply.headers.get("service-version")).toBe("2026-11-01");
    expect(messageOf(reply).result.tools.length).toBeGreaterThan(30);
  });

  it("must contain a supported protocol version, and accept both response formats", async () => {
    expect((await post(LIST, { "MCP-Protocol-Version": "2025-06-18" })).status).toBe(200);
    const unknown = await post(LIST, { "MCP-Protocol-Version": "1999-01-01" });
    expect([unknown.status, unknown.body.error.message]).toEqual([400, expect.stringContaining("1999-01-01")]);
    expect((await post(LIST, { Accept: "application/json" })).status).toBe(406);
  });

  it("must be a JSON-RPC message", async () => {
    expect((await post({ hello: "world" })).status).toBe(400);
    expect((await post(undefined)).body).toMatchObject({ status: 400, detail: "Send a JSON-RPC message." });
    expect((await post('{"jsonrpc":"2.0","jsonrpc":"2.0"}')).body).toMatchObject({ code: "invalid_json" });
    expect((await post("x", { "Content-Type": "text/plain" })).body).toMatchObject({ code: "unsupported_media_type" });
  });

  it("gets 405 for session methods", async () => {
    for (const method of ["GET", "DELETE"]) {
      const reply = await apiOf(on.platform.baseUrl, on.platform.sandboxKey)(method, "/mcp", undefined, ACCEPT);
      expect([reply.status, reply.headers.get("allow")]).toEqual([405, "OPTIONS, POST"]);
    }
  });

  it("may come with a key only from a page on this machine or of the platform", async () => {
    for (const origin of [on.platform.baseUrl, "http://localhost:6274", "http://127.0.0.1:1", "http://[::1]:1"]) {
      expect((await post(LIST, { Origin: origin })).status, origin).toBe(200);
    }
    for (const origin of ["https://shop.example", "http://localhost.shop.example", "null", "file://"]) {
      expect((await post(LIST, { Origin: origin })).body, origin).toMatchObject({ code: "cross_site_request" });
    }
  });
});

describe("the credential of /mcp", () => {
  it("is required, and the response leads to the authorization server", async () => {
    for (const key of [undefined, `sk_sandbox_${"0".repeat(49)}`]) {
      const url = `${on.platform.baseUrl}/mcp`;
      const reply = await fetch(url, {
        method: "POST",
        headers: { ...ACCEPT, "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) },
        body: JSON.stringify(LIST),
      });
      const [, metadata] = /resource_metadata="([^"]+)"$/.exec(reply.headers.get("www-authenticate")!)!;
      expect([reply.status, metadata]).toEqual([
        401,
        `${on.platform.baseUrl}/.well-known/oauth-protected-resource/mcp`,
      ]);
    }
  });

  it("can be found by the SDK's client through the resource metadata", async () => {
    const url = new URL(`${on.platform.baseUrl}/mcp`);
    expect(await discoverOAuthProtectedResourceMetadata(url)).toMatchObject({
      resource: url.href,
      authorization_servers: [on.platform.baseUrl],
      scopes_supported: expect.arrayContaining(["read_events"]),
    });
    const { authorizationServerMetadata } = await discoverOAuthServerInfo(url);
    expect(authorizationServerMetadata).toMatchObject({ issuer: on.platform.baseUrl });
  });

  it("may be an access token, which the SDK's client requests automatically once its user approves", async () => {
    const { baseUrl } = on.platform;
    const { id, secret, redirectUri } = server.confidentialApp;
    const sent: URL[] = [];
    let verifier = "";
    let tokens: OAuthTokens | undefined;
    const authProvider: OAuthClientProvider = {
      redirectUrl: redirectUri,
      clientMetadata: { redirect_uris: [redirectUri] },
      clientInformation: () => ({ client_id: id, client_secret: secret }),
      state: () => "state",
      tokens: () => tokens,
      saveTokens: (given) => void (tokens = given),
      redirectToAuthorization: (url) => void sent.push(url),
      saveCodeVerifier: (given) => void (verifier = given),
      codeVerifier: () => verifier,
    };
    const open = () => new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { authProvider });
    const first = open();
    await expect(new Client({ name: "test", version: "1" }).connect(first)).rejects.toThrow("Unauthorized");
    const [request] = sent;
    expect(request!.searchParams.get("resource")).toBe(`${baseUrl}/mcp`);
    const { redirect } = await server.authorize(request!);
    await first.finishAuth(redirect!.searchParams.get("code")!);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(open());
    const order = { name: "create_order", arguments: { amount: 1, currency: "EUR" } };
    expect(await client.callTool(order)).toMatchObject({ structuredContent: { object: "order" } });
    await client.close();
  });

  it("is not a session of the dashboard", async () => {
    const headers = { Cookie: "service_session=x", "Service-Environment": "sandbox" };
    expect((await post(LIST, headers, "")).status).toBe(401);
  });

  it("belongs to the sandbox", async () => {
    expect((await post(LIST, {}, on.platform.liveKey)).body).toMatchObject({ code: "sandbox_only" });
  });

  it("is checked at each request", async () => {
    const { body } = await on.api("POST", "/v1/api_keys", { scopes: ["orders:read"] });
    const client = await connect(body.key as string);
    await client.listTools();
    await on.api("POST", `/v1/api_keys/${body.id}/revoke`);
    await expect(client.listTools()).rejects.toThrow("401");
    await client.close();
  });

  it("is rate-limited by calls", async () => {
    const platform = await servePlatform(["--rate-limit", "1", "--rate-burst", "4"]);
    try {
      const replies: number[] = [];
      while (!replies.includes(429) && replies.length < 20) {
        const reply = await apiOf(platform.baseUrl, platform.sandboxKey)("POST", "/mcp", LIST, ACCEPT);
        replies.push(reply.status);
      }
      expect(replies.at(-1)).toBe(429);
    } finally {
      await platform.stop();
    }
  });
});

describe("a page of another origin", () => {
  const ORIGIN = { Origin: "https://shop.example" };
  const isReadable = ({ headers }: { headers: Headers }) => headers.get("access-control-allow-origin") === "*";

  it("may send the SDK's requests, and read where to sign in", async () => {
    const url = `${on.platform.baseUrl}/mcp`;
    const request = await fetch(url, {
      method: "OPTIONS",
      headers: {
        ...ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version,mcp-session-id",
      },
    });
    expect([request.status, isReadable(request)]).toEqual([204, true]);
    expect(request.headers.get("access-control-allow-methods")).toBe("OPTIONS, POST");
    expect(request.headers.get("access-control-allow-headers")).toMatch(/MCP-Protocol-Version, Mcp-Session-Id/);
    const rejected = await fetch(url, {
      method: "POST",
      headers: { ...ORIGIN, ...ACCEPT, "Content-Type": "application/json" },
      body: JSON.stringify(LIST),
    });
    expect([rejected.status, isReadable(rejected)]).toEqual([401, true]);
    expect(rejected.headers.get("access-control-expose-headers")).toMatch(/Mcp-Session-Id.*WWW-Authenticate/);
    const notAllowed = await fetch(url, { headers: { ...ORIGIN, Accept: "text/event-stream" } });
    expect([notAllowed.status, isReadable(notAllowed)]).toEqual([405, true]);
  });

  it("may call tools with an access token", async () => {
    const { access_token } = await obtainTokens(server, "confidential");
    const reply = await post(LIST, ORIGIN, access_token);
    expect([reply.status, isReadable(reply)]).toEqual([200, true]);
    expect(messageOf(reply).result.tools).toContainEqual(expect.objectContaining({ name: "get_customer" }));
  });
});

describe("a call over /mcp", () => {
  it("is in the request log with the client's address", async () => {
    const args = { name: "create_order", arguments: { amount: 1, currency: "EUR" } };
    const { result } = messageOf(await post({ ...LIST, method: "tools/call", params: args }));
    const events = await on.api("GET", `/v1/events?related=${result.structuredContent.id}`);
    const log = await on.api("GET", `/v1/request_logs/${events.body.data[0].request.id}`);
    expect(log.body).toMatchObject({ method: "POST", path: "/v1/orders", status: 201, client_address: "127.0.0.1" });
    expect(log.body.request_headers["user-agent"]).toMatch(/^service-mcp\//);
  });

  it("is allowed only from the key's addresses", async () => {
    const elsewhere = await on.api("POST", "/v1/api_keys", { scopes: ["orders:read"], ip_allowlist: ["192.0.2.0/24"] });
    expect((await post(LIST, {}, elsewhere.body.key as string)).body).toMatchObject({ code: "ip_not_allowed" });
    const here = await on.api("POST", "/v1/api_keys", { scopes: ["orders:read"], ip_allowlist: ["127.0.0.0/8"] });
    const call = { ...LIST, method: "tools/call", params: { name: "list_orders", arguments: {} } };
    const { result } = messageOf(await post(call, {}, here.body.key as string));
    expect(result.structuredContent).toMatchObject({ object: "list" });
  });

  it("ends when its client disconnects", async () => {
    const { body } = await on.api("POST", "/v1/api_keys", { scopes: ["events:read"] });
    const outgoing = request(`${on.platform.baseUrl}/mcp`, {
      method: "POST",
      headers: { ...ACCEPT, "Content-Type": "application/json", Authorization: `Bearer ${body.key}` },
    });
    outgoing.on("error", () => {});
    outgoing.end(JSON.stringify({ ...LIST, method: "tools/call", params: WAIT }));
    const reads = async () => {
      const logs = await on.api("GET", `/v1/request_logs?key=${body.id}&limit=100`);
      return logs.body.data.length as number;
    };
    await once(outgoing, "response");
    await expect.poll(reads).toBeGreaterThan(1);
    outgoing.destroy();
    // It reads no more while another call does.
    await expect
      .poll(
        async () => {
          const before = await reads();
          await waitForASecond();
          return (await reads()) - before;
        },
        // In less time than a page of the log takes to fill.
        { interval: 10, timeout: 30_000 },
      )
      .toBe(0);
  });

  it("ends when the platform stops", async () => {
    const platform = await servePlatform();
    const client = await connect(platform.sandboxKey, platform.baseUrl);
    let begun: () => void;
    const running = new Promise<void>((resolve) => (begun = resolve));
    const waiting = client.callTool(WAIT, undefined, { onprogress: () => begun() });
    await running;
    const [result] = await Promise.all([waiting, platform.stop()]);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("stopping") }] });
    await client.close();
  });

  /** Waits as long as another call of the tool, which reads several times. */
  async function waitForASecond(): Promise<void> {
    const params = { ...WAIT, arguments: { timeout_seconds: 1, type: "webhook_endpoint.ping" } };
    await post({ ...LIST, method: "tools/call", params });
  }
});

it("the platform loads the protocol with the first request to /mcp", () => {
  const platform = readFileSync(new URL("../../dist/cli/serve.cjs", import.meta.url), "utf8");
  expect(platform).toContain("/v1/customers");
  expect(platform).not.toContain("notifications/initialized");
  expect(platform).toContain('import("../lazy/mcp-http.js")');
});
