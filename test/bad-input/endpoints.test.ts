import { describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";

const { api } = apiOnPlatform();

const create = (fields: object) =>
  api("POST", "/v1/webhook_endpoints", { url: "https://example.com/", events: ["*"], ...fields });

describe("a URL", () => {
  it.each([
    " https://example.com/",
    "https://example.com/ ",
    "https://exa\nmple.com/",
    "https://exa\tmple.com/",
    "https://example.com\\@attacker.example/",
    "https:\\\\example.com/",
    "https://exa%mple.com/",
    "https://[::1/",
    "https://[::1%25eth0]/",
    "https://256.256.256.256/",
    "https://1.2.3.4.5/",
    "data:text/plain,x",
    "blob:https://example.com/1",
    "https://example.com:-1/",
    "https://example.com:443443/",
  ])("rejects %j instead of repairing it", async (url) => {
    const response = await create({ url });
    expect(response.status).toBe(400);
    expect(response.body.errors).toEqual([expect.objectContaining({ pointer: "/url" })]);
  });

  it.each([null, 5, {}, ["https://example.com/"]])("rejects %j as a URL of the wrong type", async (url) => {
    expect((await create({ url })).body.errors).toEqual([
      expect.objectContaining({ pointer: "/url", code: "wrong_type" }),
    ]);
  });
});

describe("a description", () => {
  it.each(["a\u0000b", "a\u001b[2J", "a\u009b2J", "a\u007f"])("rejects %j", async (description) => {
    expect((await create({ description })).body.code).toBe("invalid_json");
  });
});

describe("subscriptions", () => {
  it.each([
    ["*."],
    [".*"],
    ["order.**"],
    ["order.*.x"],
    ["ORDER.*"],
    [" order.created"],
    [""],
    ["order"],
    [null],
    [{}],
  ])("rejects %j", async (...events) => {
    const response = await create({ events });
    expect(response.status).toBe(400);
    expect(response.body.errors[0].pointer).toBe("/events/0");
  });
});

describe("the read-only fields of an endpoint", () => {
  it.each(["secret", "status", "id", "livemode", "created"])("rejects a %s chosen by the caller", async (field) => {
    expect((await create({ [field]: "x" })).body.errors).toEqual([
      expect.objectContaining({ pointer: `/${field}`, code: "unknown_field" }),
    ]);
  });

  it("is not found by the ID of another kind of object", async () => {
    const { id } = (await api("POST", "/v1/customers", { email: "a@example.com" })).body;
    for (const [method, rest] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/rotate_secret"],
      ["POST", "/ping"],
    ]) {
      const response = await api(method!, `/v1/webhook_endpoints/${id}${rest}`, method === "PATCH" ? {} : undefined);
      expect([response.status, response.body.code], `${method} ${rest}`).toEqual([404, "not_found"]);
    }
  });
});
