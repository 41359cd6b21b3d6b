import { describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";

const { api } = apiOnPlatform();

describe("an email", () => {
  it.each([
    "ada@bücher.example",
    '"ada lovelace"@example.com',
    "ada@[127.0.0.1]",
    "ada@example.com\n",
    " ada@example.com",
    "ada@example.com,bob@example.com",
    "Ada <ada@example.com>",
    "аda@example.com",
    ".ada@example.com",
    "ada.@example.com",
    "a..b@example.com",
    "ada@-example.com",
    "ada@example-.com",
    "ada@example..com",
    "ada@example.com.",
    "ada@127.0.0.1",
    `${"a".repeat(65)}@example.com`,
    `ada@${"a".repeat(64)}.com`,
    "mailto:ada@example.com?bcc=bob",
  ])("rejects %j instead of repairing it", async (email) => {
    const response = await api("POST", "/v1/customers", { email });
    expect(response.body.errors).toEqual([expect.objectContaining({ pointer: "/email", code: "invalid_format" })]);
  });

  it("accepts an internationalized domain in its ASCII form", async () => {
    const email = "ada@xn--bcher-kva.example";
    expect((await api("POST", "/v1/customers", { email })).body.email).toBe(email);
  });

  it("rejects an email of a million characters immediately", async () => {
    for (const email of [`${"a".repeat(900_000)}@b.example`, `a@${"b.".repeat(450_000)}example`]) {
      const { status, body } = await api("POST", "/v1/customers", { email });
      expect(status).toBe(400);
      expect(JSON.stringify(body).length).toBeLessThan(1000);
    }
  });

  it.each([null, 5, true, {}, []])("rejects %j as an email of the wrong type", async (email) => {
    const response = await api("POST", "/v1/customers", { email });
    expect(response.body.errors).toEqual([expect.objectContaining({ pointer: "/email", code: "wrong_type" })]);
  });
});

describe("a name", () => {
  it.each([
    ["", "too_short"],
    ["x".repeat(257), "too_long"],
    [7, "wrong_type"],
  ])("rejects %j", async (name, code) => {
    const response = await api("POST", "/v1/customers", { email: "name@example.com", name });
    expect(response.body.errors).toEqual([expect.objectContaining({ pointer: "/name", code })]);
  });

  it.each([
    "<script>alert(1)</script>",
    "'; DROP TABLE customers; --",
    "{{7*7}}",
    "%s%n",
    "=1+1",
    "a\u202eb",
    "\u2028",
  ])("returns the text %j unchanged", async (name) => {
    const email = `${Buffer.from(name).toString("hex")}@example.com`;
    const { id } = (await api("POST", "/v1/customers", { email, name })).body;
    expect((await api("GET", `/v1/customers/${id}`)).body.name).toBe(name);
  });
});

describe("a deleted customer", () => {
  it("cannot be updated, and frees its email address", async () => {
    const email = "again@example.com";
    const { id } = (await api("POST", "/v1/customers", { email })).body;
    await api("DELETE", `/v1/customers/${id}`);
    expect((await api("PATCH", `/v1/customers/${id}`, { name: "x" })).status).toBe(404);
    expect((await api("POST", "/v1/customers", { email })).status).toBe(201);
  });
});
