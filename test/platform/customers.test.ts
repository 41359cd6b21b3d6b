import { describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";

const { api, live } = apiOnPlatform();

let serial = 0;
const newEmail = () => `customer-${++serial}@example.com`;
const eventsOf = async (id: string) => (await api("GET", `/v1/events?related=${id}`)).body.data;

describe("a customer", () => {
  it("is created with the given fields, and null for the rest", async () => {
    const email = newEmail();
    const created = await api("POST", "/v1/customers", { email, phone: "+442071838750", metadata: { plan: "pro" } });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^cus_[0-9A-Za-z]{22}$/),
      object: "customer",
      email,
      name: null,
      phone: "+442071838750",
      metadata: { plan: "pro" },
      livemode: false,
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    expect((await api("GET", `/v1/customers/${created.body.id}`)).body).toEqual(created.body);
  });

  it("merges metadata on update, and emits its previous values", async () => {
    const metadata = { keep: "1", change: "a", drop: "x", empty: "y" };
    const { id } = (await api("POST", "/v1/customers", { email: newEmail(), metadata })).body;
    const patch = { name: "Ada", metadata: { change: "b", drop: null, empty: "", added: "n" } };
    const updated = await api("PATCH", `/v1/customers/${id}`, patch);
    expect(updated.body).toMatchObject({ name: "Ada", metadata: { keep: "1", change: "b", added: "n" } });
    const [event] = await eventsOf(id);
    expect(event).toMatchObject({
      type: "customer.updated",
      data: {
        object: updated.body,
        previous: { name: null, metadata: { change: "a", drop: "x", empty: "y", added: null } },
      },
      request: { id: updated.headers.get("request-id") },
    });
  });

  it("emits metadata whose keys are named like inherited properties", async () => {
    const metadata = { constructor: "old" };
    const { id } = (await api("POST", "/v1/customers", { email: newEmail(), metadata })).body;
    await api("PATCH", `/v1/customers/${id}`, { metadata: { constructor: null, toString: "new" } });
    const [event] = await eventsOf(id);
    expect(event.data.object.metadata).toEqual({ toString: "new" });
    expect(event.data.previous).toEqual({ metadata: { constructor: "old", toString: null } });
  });

  it("emits nothing for an update without changes", async () => {
    const { id } = (await api("POST", "/v1/customers", { email: newEmail(), name: "Ada" })).body;
    expect((await api("PATCH", `/v1/customers/${id}`, { name: "Ada" })).status).toBe(200);
    expect((await eventsOf(id)).map((event: { type: string }) => event.type)).toEqual(["customer.created"]);
  });

  it("no longer exists after a deletion", async () => {
    const { id } = (await api("POST", "/v1/customers", { email: newEmail() })).body;
    expect((await api("DELETE", `/v1/customers/${id}`)).body).toEqual({ id, object: "customer", deleted: true });
    expect((await api("GET", `/v1/customers/${id}`)).status).toBe(404);
    expect((await api("DELETE", `/v1/customers/${id}`)).status).toBe(404);
    expect((await eventsOf(id))[0]).toMatchObject({ type: "customer.deleted", data: { object: { id } } });
  });
});

describe("emails", () => {
  it.each(["a@b", "a@@example.com", "a b@example.com", "@example.com", "a@", "a@exa mple.com", "ü@example.com", ""])(
    "rejects %j",
    async (email) => {
      const response = await api("POST", "/v1/customers", { email });
      expect(response.status).toBe(400);
      expect(response.body.errors[0]).toMatchObject({ pointer: "/email" });
    },
  );

  it("reject 321 characters", async () => {
    const email = `${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(60)}.${"f".repeat(11)}.com`;
    expect(email.length).toBeGreaterThan(255);
    expect((await api("POST", "/v1/customers", { email })).status).toBe(400);
  });

  it("are unique regardless of case, stored as given, and a conflict includes the other customer", async () => {
    const first = (await api("POST", "/v1/customers", { email: "Grace@Example.com" })).body;
    expect(first.email).toBe("Grace@Example.com");
    const second = await api("POST", "/v1/customers", { email: "grace@example.COM" });
    expect(second.status).toBe(409);
    expect(second.body).toMatchObject({ code: "email_taken", existing: first.id });
    const other = (await api("POST", "/v1/customers", { email: newEmail() })).body;
    const moved = await api("PATCH", `/v1/customers/${other.id}`, { email: "GRACE@example.com" });
    expect(moved.body).toMatchObject({ status: 409, existing: first.id });
    expect((await api("GET", "/v1/customers?email=GRACE@EXAMPLE.COM")).body.data).toEqual([first]);
  });

  it("are unique among 50 concurrent creates", async () => {
    const email = newEmail();
    const responses = await Promise.all(Array.from({ length: 50 }, () => api("POST", "/v1/customers", { email })));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(49);
  });
});

describe("phones and metadata", () => {
  it.each(["0301234", "+1", "+4420718387501234", "+44 20 7183 8750", "+44abc", "+４４２０７１８３８７５０"])(
    "rejects the phone %j",
    async (phone) => {
      const response = await api("POST", "/v1/customers", { email: newEmail(), phone });
      expect(response.body.errors).toEqual([expect.objectContaining({ pointer: "/phone", code: "invalid_format" })]);
    },
  );

  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
  it.each([
    ["51 keys", keys(51), "/metadata"],
    ["a key of 41 characters", { ["k".repeat(41)]: "v" }, `/metadata/${"k".repeat(41)}`],
    ["a value of 501 characters", { k: "v".repeat(501) }, "/metadata/k"],
    ["a number", { k: 1 }, "/metadata/k"],
    ["an empty key", { "": "v" }, "/metadata/"],
  ])("rejects metadata with %s", async (_name, metadata, pointer) => {
    const response = await api("POST", "/v1/customers", { email: newEmail(), metadata });
    expect(response.status).toBe(400);
    expect(response.body.errors).toEqual([expect.objectContaining({ pointer })]);
  });

  it("counts merged keys", async () => {
    const { id } = (await api("POST", "/v1/customers", { email: newEmail(), metadata: keys(50) })).body;
    const response = await api("PATCH", `/v1/customers/${id}`, { metadata: { one_more: "v" } });
    expect(response.body.errors).toEqual([expect.objectContaining({ pointer: "/metadata", code: "too_many" })]);
  });
});

describe("environments", () => {
  it("never show each other's customers", async () => {
    const email = newEmail();
    const { id } = (await api("POST", "/v1/customers", { email })).body;
    expect((await live("GET", `/v1/customers/${id}`)).status).toBe(404);
    expect((await live("PATCH", `/v1/customers/${id}`, { name: "x" })).status).toBe(404);
    expect((await live("DELETE", `/v1/customers/${id}`)).status).toBe(404);
    expect((await live("GET", `/v1/customers?email=${email}`)).body.data).toEqual([]);
    expect((await live("GET", `/v1/events?related=${id}`)).body.data).toEqual([]);
    const twin = await live("POST", "/v1/customers", { email });
    expect(twin.status).toBe(201);
    expect(twin.body.livemode).toBe(true);
  });
});

describe("idempotency keys", () => {
  it("return the first response again, with a single effect", async () => {
    const email = newEmail();
    const headers = { "Idempotency-Key": `key-${email}` };
    const first = await api("POST", "/v1/customers", { email }, headers);
    const again = await api("POST", "/v1/customers", { email }, { "Idempotency-Key": `"key-${email}"` });
    expect(again.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await eventsOf(first.body.id)).length).toBe(1);
    const other = await api("POST", "/v1/customers", { email: newEmail() }, headers);
    const detail = "This Idempotency-Key was used with another body or version. Use a new key.";
    expect(other.body).toMatchObject({ status: 422, code: "idempotency_key_reused", detail });
    expect((await live("POST", "/v1/customers", { email }, headers)).headers.get("idempotent-replayed")).toBeNull();
  });

  it("are not used up by an error response", async () => {
    const email = newEmail();
    const headers = { "Idempotency-Key": "refused-first" };
    expect((await api("POST", "/v1/customers", { email: "wrong" }, headers)).status).toBe(400);
    expect((await api("POST", "/v1/customers", { email }, headers)).status).toBe(201);
  });

  it.each(["", "a b", "k".repeat(256), '""'])("reject %j", async (key) => {
    const response = await api("POST", "/v1/customers", { email: newEmail() }, { "Idempotency-Key": key });
    expect(response.body).toMatchObject({ status: 400, code: "invalid_idempotency_key" });
  });
});
