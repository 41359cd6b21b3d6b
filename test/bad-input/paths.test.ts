import { beforeAll, describe, expect, it } from "vitest";
import { type Api, apiOf } from "../support/api.ts";
import { kitPlatform } from "../testing/kit.ts";
import { sendRaw } from "../support/raw-http.ts";

const platform = kitPlatform();
let api: Api;
beforeAll(async () => {
  api = apiOf(platform.baseUrl, platform.apiKey);
  for (const name of ["one", "two", "three"]) await api("POST", "/v1/customers", { email: `${name}@example.com` });
});

/** Requests the path as written; an HTTP client would normalize it. */
async function get(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${platform.apiKey}\r\n\r\n`;
  const { status, body } = await sendRaw(platform.baseUrl, head);
  return { status, body: JSON.parse(body) as Record<string, unknown> };
}

describe("reads a path literally", () => {
  it.each([
    "//v1/customers",
    "/V1/customers",
    "/v1/../v1/customers",
    "/v1/./customers",
    "/v1/%2e%2e/v1/customers",
    "/v1/customers;a=b",
    "/v1/customers/",
    "/v1/customers/cus_1/orders",
    "*",
  ])("returns 404 for %s", async (path) => {
    expect(await get(path)).toMatchObject({ status: 404, body: { code: "not_found" } });
  });

  it("rejects bytes that are not UTF-8", async () => {
    expect(await get("/v1/customers/%ff")).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });
});

describe("a query", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "before", "after", ""])(
    "rejects the unknown parameter %j",
    async (name) => {
      const { status, body } = await get(`/v1/customers?${name}=1`);
      expect(status).toBe(400);
      expect(body["errors"]).toEqual([expect.objectContaining({ pointer: `?${name}`, code: "unknown_field" })]);
    },
  );

  it.each([7, 8, 9, 500])("rejects %d unknown parameters", async (count) => {
    const query = Array.from({ length: count }, (_, index) => `x${index}=1`).join("&");
    expect(await get(`/v1/customers?${query}`)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  it.each(["1e1", "%2B1", "0x5", "%EF%BC%91", "99999999999999999999", "%201", "Infinity"])(
    "rejects limit=%s",
    async (limit) => {
      expect((await get(`/v1/customers?limit=${limit}`)).body["errors"]).toEqual([
        expect.objectContaining({ pointer: "?limit" }),
      ]);
    },
  );

  it.each(["2026-11-21T00:00:00", "2026-11-21T00:00:00+01:00", "1e9", "0", "now"])(
    "rejects created_after=%s",
    async (time) => {
      const { body } = await get(`/v1/customers?created_after=${encodeURIComponent(time)}`);
      expect(body["errors"]).toEqual([expect.objectContaining({ pointer: "?created_after", code: "invalid_format" })]);
    },
  );

  it("rejects a C1 control character", async () => {
    expect(await get("/v1/customers?email=%C2%9B31m")).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("control character") },
    });
  });

  it("rejects a query for an operation without parameters", async () => {
    expect(await get("/v1/me?verbose=1")).toMatchObject({ status: 400 });
    const response = await api("POST", "/v1/customers?dry_run=1", { email: "four@example.com" });
    expect(response.status).toBe(400);
    expect((await get("/v1/customers?email=four@example.com")).body["data"]).toEqual([]);
  });
});

describe("a cursor", () => {
  const nextCursor = async () => String((await get("/v1/customers?limit=1")).body["next_cursor"]);

  it.each(["", "a", "null", "%00", "..", "e30", "A".repeat(7000)])("rejects %s", async (cursor) => {
    expect((await get(`/v1/customers?cursor=${cursor}`)).status).toBe(400);
  });

  it("rejects a cursor with any character changed, added or missing", async () => {
    const cursor = await nextCursor();
    expect((await get(`/v1/customers?limit=1&cursor=${cursor}`)).status).toBe(200);
    const variants = Array.from(cursor).map(
      (character, index) => cursor.slice(0, index) + (character === "A" ? "B" : "A") + cursor.slice(index + 1),
    );
    for (const variant of [...variants, `${cursor}A`, cursor.slice(0, -1), `${cursor}${cursor}`]) {
      expect((await get(`/v1/customers?limit=1&cursor=${variant}`)).body["code"], variant).toBe("invalid_cursor");
    }
  });
});

it("the API returns the text of a path or query as JSON data, never as markup", async () => {
  for (const path of ["/v1/<script>", "/v1/customers/<script>", "/v1/customers?<script>=1"]) {
    const response = await sendRaw(
      platform.baseUrl,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${platform.apiKey}\r\n\r\n`,
    );
    expect(response.headers["content-type"]).toMatch(/^application\/problem\+json/);
    expect(response.headers["x-content-type-options"]).toBe("nosniff");
  }
});
