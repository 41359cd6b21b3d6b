import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";

const on = apiOnPlatform();
const { api } = on;

interface Exchanged {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  body: string;
}

/** Sends a request with only these headers. `unfinished` is the beginning of a body that never ends. */
async function exchange(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  { unfinished }: { unfinished?: string } = {},
): Promise<Exchanged> {
  const sent = request(on.platform.baseUrl + path, { method, headers, agent: false });
  if (unfinished === undefined) sent.end();
  else sent.write(unfinished);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const bytes = await buffer(response);
  sent.destroy();
  return { status: response.statusCode!, headers: response.headers, bytes, body: bytes.toString() };
}

const withKey = () => ({ Authorization: `Bearer ${on.platform.sandboxKey}` });

async function newOrder(): Promise<string> {
  return (await api("POST", "/v1/orders", { amount: 100, currency: "EUR" })).body.id as string;
}

describe("an empty body", () => {
  it.each(["application/x-www-form-urlencoded", "text/plain", "application/json; charset=utf-16"])(
    "is not a body, whatever its declared type: %s",
    async (type) => {
      for (const framing of ["Content-Length: 0", "Transfer-Encoding: chunked"]) {
        const [name = "", value = ""] = framing.split(": ");
        const headers = { ...withKey(), "Content-Type": type, [name]: value };
        const path = `/v1/orders/${await newOrder()}/complete`;
        const response = await exchange("POST", path, headers);
        expect([response.status, JSON.parse(response.body).status], framing).toEqual([200, "completed"]);
      }
    },
  );

  it("is rejected for its missing required fields", async () => {
    const headers = { ...withKey(), "Content-Type": "text/plain", "Content-Length": "0" };
    const response = await exchange("POST", "/v1/customers", headers);
    expect(JSON.parse(response.body)).toMatchObject({ status: 400, errors: [{ pointer: "/email", code: "required" }] });
  });

  it("of a wrong type is rejected as soon as its first byte arrives", async () => {
    const headers = { ...withKey(), "Content-Type": "text/plain", "Transfer-Encoding": "chunked" };
    // The body never ends.
    const response = await exchange("POST", "/v1/customers", headers, { unfinished: "a" });
    expect([response.status, JSON.parse(response.body).code]).toEqual([415, "unsupported_media_type"]);
  });
});

describe("links between resources", () => {
  it("are in the Location of created resources", async () => {
    const created = {
      "/v1/customers": { email: "location@example.com" },
      "/v1/orders": { amount: 1, currency: "EUR" },
      "/v1/payments": { amount: 1, currency: "EUR" },
      "/v1/events": { type: "order.created", data: { id: "x" } },
      "/v1/webhook_endpoints": { url: "http://127.0.0.1:9/", events: ["order.*"] },
      "/v1/api_keys": { scopes: ["customers:read"] },
      "/v1/oauth_apps": { name: "Shop", redirect_uris: ["https://shop.example/callback"] },
    };
    for (const [path, body] of Object.entries(created)) {
      const response = await api("POST", path, body);
      const location = response.headers.get("location")!;
      expect([response.status, location]).toEqual([201, `${path}/${response.body.id}`]);
      expect((await api("GET", location)).body.id).toBe(response.body.id);
    }
    const [endpoint] = (await api("GET", "/v1/webhook_endpoints")).body.data;
    const ping = await api("POST", `/v1/webhook_endpoints/${endpoint.id}/ping`);
    expect(ping.headers.get("location")).toBe(`/v1/events/${ping.body.id}`);
    const [key] = (await api("GET", "/v1/api_keys")).body.data;
    const rolled = await api("POST", `/v1/api_keys/${key.id}/roll`);
    expect(rolled.headers.get("location")).toBe(`/v1/api_keys/${rolled.body.id}`);
    const replay = await api("POST", `/v1/events/${ping.body.id}/replay`, {});
    expect((await api("GET", replay.headers.get("location")!)).body.data.map(({ id }: { id: string }) => id)).toEqual(
      expect.arrayContaining(replay.body.deliveries),
    );
  });

  it("point to the same resource when a request is repeated with its Idempotency-Key", async () => {
    const create = () => api("POST", "/v1/orders", { amount: 7, currency: "EUR" }, { "Idempotency-Key": "location" });
    const [first, second] = [await create(), await create()];
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
  });

  it("lead through all pages of a list, with its filters", async () => {
    const status = "pending";
    for (let created = 0; created < 5; created++) await newOrder();
    const all = (await api("GET", `/v1/orders?status=${status}&limit=100`)).body.data as { id: string }[];
    const received: string[] = [];
    let path: string | undefined = `/v1/orders?limit=2&status=${status}`;
    while (path !== undefined) {
      const response = await api("GET", path);
      received.push(...response.body.data.map(({ id }: { id: string }) => id));
      const link = response.headers.get("link");
      const [, next] = /^<([^>]+)>; rel="next"$/.exec(link ?? "") ?? [];
      expect(link === null).toBe(response.body.next_cursor === null);
      path = next?.slice(on.platform.baseUrl.length);
      expect(next ?? "none").toMatch(path === undefined ? "none" : on.platform.baseUrl);
    }
    expect(received).toEqual(all.map(({ id }) => id));
    expect(received.length).toBeGreaterThan(4);
  });
});

describe("compression", () => {
  it.each([
    ["gzip", "gzip"],
    ["br", "br"],
    ["gzip, deflate, br", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["br;q=0, *", "gzip"],
    ["GZIP", "gzip"],
    ["deflate", undefined],
    ["identity, gzip;q=0.2", undefined],
    ["gzip;q=nonsense", undefined],
    ["", undefined],
  ])("of a long response follows Accept-Encoding: %s", async (accepted, coding) => {
    const plain = await fetch(`${on.platform.baseUrl}/openapi.json`, { headers: { "Accept-Encoding": "identity" } });
    const { headers, bytes } = await exchange("GET", "/openapi.json", { "Accept-Encoding": accepted });
    expect([headers["content-encoding"], headers.vary]).toEqual([coding, "Accept-Encoding"]);
    const text = coding === "br" ? brotliDecompressSync(bytes) : coding === "gzip" ? gunzipSync(bytes) : bytes;
    expect(text.toString()).toBe(await plain.text());
    if (coding !== undefined) expect(bytes.length).toBeLessThan(text.length / 5);
  });

  it("applies to lists and problems of the API, but not to short responses and pages", async () => {
    for (let created = 0; created < 8; created++) await newOrder();
    const codingOf = async (path: string) =>
      (await exchange("GET", path, { ...withKey(), "Accept-Encoding": "gzip" })).headers["content-encoding"];
    expect(await codingOf("/v1/orders")).toBe("gzip");
    const unknown = Array.from({ length: 20 }, (_, index) => `unknown${index}=1`).join("&");
    expect(await codingOf(`/v1/customers?${unknown}`)).toBe("gzip");
    expect(await codingOf("/v1/me")).toBeUndefined();
    expect(await codingOf("/sign-in")).toBeUndefined();
  });
});

describe("If-None-Match", () => {
  const status = async (header: string) =>
    (await fetch(`${on.platform.baseUrl}/openapi.json`, { headers: { "If-None-Match": header } })).status;

  it("accepts strong and weak tags, lists of them, and any tag", async () => {
    const tag = (await fetch(`${on.platform.baseUrl}/openapi.json`)).headers.get("etag")!;
    const strong = tag.replace("W/", "");
    for (const header of [tag, strong, `W/${strong}`, `"other", ${tag}`, `W/"a",${strong} , "b"`, "*"]) {
      expect(await status(header), header).toBe(304);
    }
    for (const header of ['"other"', 'W/"other", "more"', strong.slice(1, -1), ""]) {
      expect(await status(header), header).toBe(200);
    }
  });
});
