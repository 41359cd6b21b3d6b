import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inputFieldsOf, OBJECT_KINDS, type ObjectKind, pathOf } from "../../src/contract/resources.ts";
import { Browser } from "./oauth/support/browser.ts";
import { type Api, apiOf } from "../support/api.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { LISTEN_PATH } from "../../src/contract/listen.ts";

/** The methods of each route, in Fastify's notation: `/v1/customers/:id`. HEAD and OPTIONS are what the tests expect. */
const routes = new Map<string, Set<string>>();

function onFastify(message: unknown): void {
  (message as { fastify: FastifyInstance }).fastify.addHook("onRoute", ({ url, method }) => {
    const methods = routes.get(url) ?? new Set();
    for (const name of [method].flat()) if (name !== "HEAD") methods.add(name);
    routes.set(url, methods);
  });
}

let platform: ServedPlatform;
let withKey: Record<string, string>;
let withSession: Record<string, string>;
/** Of each route, a path that exists. */
const examples = new Map<string, string>();

beforeAll(async () => {
  subscribe("fastify.initialization", onFastify);
  platform = await servePlatform(["--contact", "mailto:security@example.com"]);
  unsubscribe("fastify.initialization", onFastify);
  withKey = { Authorization: `Bearer ${platform.sandboxKey}` };
  const browser = new Browser(platform.baseUrl);
  await browser.get(platform.ready.sign_in_url!);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  withSession = { Cookie: cookie, "Service-Environment": "sandbox", "Sec-Fetch-Site": "same-origin" };
  const api = apiOf(platform.baseUrl, platform.sandboxKey);
  await createResources(api);
  for (const path of routes.keys()) examples.set(path, await exampleOf(api, path));
});
afterAll(() => platform.stop());

/** Creates a resource of every kind. None changes afterwards. */
async function createResources(api: Api): Promise<void> {
  const receiver = createServer((_request, response) => response.end());
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  await api("POST", "/v1/webhook_endpoints", { url, events: ["customer.*"] });
  for (const kind of OBJECT_KINDS) await createExample(api, kind);
  await api("POST", "/v1/oauth_apps", { name: "Shop", redirect_uris: ["https://shop.example/callback"] });
  await api("POST", "/v1/events/replay", { type: "order.created" });
  await api("POST", "/v1/faults", { match: { path: "/v1/*" }, effect: "disconnect", rate: 0 });
  for (const path of ["/v1/deliveries", "/v1/bulk_operations"]) {
    const read = async () => (await api("GET", path)).body.data as { status: string }[];
    const isDone = (rows: { status: string }[]) =>
      rows.length > 0 && rows.every(({ status }) => ["succeeded", "completed"].includes(status));
    await vi.waitUntil(async () => isDone(await read()), { timeout: 30_000 });
  }
  // The first use of the key is recorded a second later.
  const isUsed = async () => (await api("GET", "/v1/api_keys")).body.data[0].last_used !== null;
  await vi.waitUntil(isUsed, { timeout: 30_000 });
  receiver.close();
  receiver.closeAllConnections();
}

/** Creates an object with the examples of its required fields, and those that it must refer to. Returns its ID. */
async function createExample(api: Api, kind: ObjectKind): Promise<string> {
  const body: Record<string, unknown> = {};
  for (const [name, { required, type, of, examples, choices }] of inputFieldsOf(kind)) {
    if (!required) continue;
    body[name] = type === "id" ? await createExample(api, of as ObjectKind) : (examples ?? choices ?? [])[0];
  }
  if (kind === "customer") body["email"] = `${randomUUID()}@example.com`;
  return (await api("POST", pathOf(kind), body)).body.id as string;
}

async function exampleOf(api: Api, path: string): Promise<string> {
  if (path === "/dashboard/assets/:name") {
    const page = await fetch(`${platform.baseUrl}/docs/reference`);
    return /\/dashboard\/assets\/[^"]+/.exec(await page.text())![0];
  }
  const list = path.split("/:id", 1)[0]!;
  const id = path === list ? undefined : (await api("GET", list)).body.data?.[0]?.id;
  return path
    .replace(":id", id ?? "unknown")
    .replace(":code", "not_found")
    .replace(":group", "customers")
    .replace(":name", "concepts")
    .replace("*", "sandbox/customers");
}

interface Exchanged {
  status: number;
  headers: Record<string, unknown>;
}

/** Returns the response without headers that differ from request to request. */
function comparable({ status, headers }: Exchanged, path: string): Exchanged {
  const { date: _date, "request-id": _id, "transfer-encoding": _framing, ...others } = headers;
  // They contain the requests of this test, or the current minute.
  if (/^\/(metrics|v1\/(request_logs|statistics))/.test(path)) delete others["content-length"];
  if (others["set-cookie"] !== undefined) others["set-cookie"] = "another each time";
  return { status, headers: others };
}

async function get(path: string, headers: Record<string, string>): Promise<Exchanged> {
  const sent = httpRequest(platform.baseUrl + path, { headers: { ...headers, Connection: "close" }, agent: false });
  const [response] = (await once(sent.end(), "response")) as [IncomingMessage];
  sent.destroy();
  return { status: response.statusCode!, headers: response.headers };
}

/** Reads the bytes until the server closes the connection: an HTTP client would not show a body. */
async function head(path: string, headers: Record<string, string>): Promise<Exchanged & { rest: string }> {
  const { hostname, port, host } = new URL(platform.baseUrl);
  const socket = connect(Number(port), hostname);
  const fields = Object.entries({ Host: host, ...headers, Connection: "close" });
  socket.write(`HEAD ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
  const [start = "", rest = "nothing"] = (await buffer(socket)).toString().split("\r\n\r\n", 2);
  const [statusLine = "", ...lines] = start.split("\r\n");
  const received: Record<string, string> = {};
  for (const line of lines)
    received[line.slice(0, line.indexOf(":")).toLowerCase()] = line.slice(line.indexOf(":") + 2);
  return { status: Number(statusLine.split(" ")[1]), headers: received, rest };
}

const has = (method: string) => (path: string) => routes.get(path)!.has(method);

describe("every route", () => {
  it("is in the OpenAPI document with its methods, if it belongs to the API", async () => {
    const { paths } = (await (await fetch(`${platform.baseUrl}/openapi.json`)).json()) as { paths: object };
    const documented = Object.entries(paths).map(([path, item]) => [
      path.replace("{id}", ":id"),
      Object.keys(item)
        .map((name) => name.toUpperCase())
        .sort(),
    ]);
    // A WebSocket, which OpenAPI cannot describe.
    const registered = [...routes].filter(([path]) => path.startsWith("/v1/") && path !== LISTEN_PATH);
    expect(Object.fromEntries(documented)).toEqual(
      Object.fromEntries(registered.map(([path, methods]) => [path, [...methods].sort()])),
    );
    expect(registered.length).toBeGreaterThan(40);
  });

  it.each(["an API key", "a session"])("responds to HEAD as to GET, without a body, with %s", async (credential) => {
    const headers = { ...(credential === "a session" ? withSession : withKey), "Accept-Encoding": "gzip" };
    const readable = [...routes.keys()].filter(has("GET"));
    let successful = 0;
    for (const path of readable) {
      const url = examples.get(path)!;
      const { rest, ...response } = await head(url, headers);
      expect(rest, path).toBe("");
      const expected = comparable(await get(url, headers), path);
      expect(comparable(response, path), path).toEqual(expected);
      if (expected.status < 400) successful += 1;
    }
    expect(successful).toBeGreaterThan(readable.length - 10);
  });

  it("lists exactly its methods in response to OPTIONS", async () => {
    for (const [path, methods] of routes) {
      const response = await fetch(platform.baseUrl + examples.get(path)!, { method: "OPTIONS" });
      const all = [...methods, "OPTIONS", ...(has("GET")(path) ? ["HEAD"] : [])].sort();
      expect([response.status, response.headers.get("allow"), await response.text()], path).toEqual([
        204,
        all.join(", "),
        "",
      ]);
    }
  });

  it("responds with 405 and its methods to every other method", async () => {
    for (const [path, methods] of routes) {
      const all = [...methods, "OPTIONS", ...(has("GET")(path) ? ["HEAD"] : [])].sort();
      const others = ["GET", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "PURGE"].filter(
        (name) => !all.includes(name),
      );
      for (const method of others) {
        const response = await fetch(platform.baseUrl + examples.get(path)!, { method, redirect: "manual" });
        expect([response.status, response.headers.get("allow")], `${method} ${path}`).toEqual([405, all.join(", ")]);
      }
    }
  });

  it("is found only by its own path", async () => {
    for (const path of ["/openapiXjson", "/problems/not_found/more", "/dashboards", "/v1/customers/a/b"]) {
      for (const method of ["GET", "OPTIONS", "POST"]) {
        const response = await fetch(platform.baseUrl + path, { method, headers: withKey });
        expect(response.status, `${method} ${path}`).toBe(404);
      }
    }
  });
});
