import { describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";

const { api } = apiOnPlatform();

const typesAbout = async (id: string) =>
  (await api("GET", `/v1/events?related=${id}`)).body.data.map((event: { type: string }) => event.type);

describe("orders", () => {
  it("are pending, then completed or canceled, with an event each", async () => {
    const customer = (await api("POST", "/v1/customers", { email: "orders@example.com" })).body;
    const created = await api("POST", "/v1/orders", { amount: 4200, currency: "EUR", customer: customer.id });
    expect(created.body).toMatchObject({ object: "order", amount: 4200, currency: "EUR", status: "pending" });
    const completed = await api("POST", `/v1/orders/${created.body.id}/complete`);
    expect(completed).toMatchObject({ status: 200, body: { status: "completed" } });
    expect(await typesAbout(created.body.id)).toEqual(["order.completed", "order.created"]);

    const other = (await api("POST", "/v1/orders", { amount: 0, currency: "JPY" })).body;
    expect((await api("POST", `/v1/orders/${other.id}/cancel`)).body.status).toBe("canceled");
    expect((await api("GET", `/v1/orders?customer=${customer.id}`)).body.data).toEqual([completed.body]);
    const pending = (await api("POST", "/v1/orders", { amount: 1, currency: "USD" })).body;
    const { data } = (await api("GET", "/v1/orders?status=pending")).body;
    expect(data[0]).toEqual(pending);
    expect(new Set(data.map(({ status }: { status: string }) => status))).toEqual(new Set(["pending"]));
  });

  it("change status once: any other transition is 409 with the current status", async () => {
    const { id } = (await api("POST", "/v1/orders", { amount: 1, currency: "EUR" })).body;
    await api("POST", `/v1/orders/${id}/complete`);
    for (const move of ["complete", "cancel"]) {
      const response = await api("POST", `/v1/orders/${id}/${move}`);
      expect(response.body).toMatchObject({ status: 409, code: "invalid_transition", current: "completed" });
    }
    expect(await typesAbout(id)).toHaveLength(2);
  });

  it("complete once among 20 concurrent attempts", async () => {
    const { id } = (await api("POST", "/v1/orders", { amount: 1, currency: "EUR" })).body;
    const responses = await Promise.all(Array.from({ length: 20 }, () => api("POST", `/v1/orders/${id}/complete`)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await typesAbout(id)).toHaveLength(2);
  });

  it.each([
    [{ amount: -1, currency: "EUR" }, "/amount"],
    [{ amount: 1.5, currency: "EUR" }, "/amount"],
    [{ amount: "1", currency: "EUR" }, "/amount"],
    [{ amount: 1, currency: "eur" }, "/currency"],
    [{ amount: 1, currency: "EURO" }, "/currency"],
    [{ amount: 1, currency: "ZZZ" }, "/currency"],
    [{ amount: 1, currency: "EUR", customer: "cus_1" }, "/customer"],
    [{ amount: 1, currency: "EUR", customer: "cus_0000000000000000000000" }, "/customer"],
    [{ amount: 1, currency: "EUR", status: "completed" }, "/status"],
  ])("reject %j", async (body, pointer) => {
    const response = await api("POST", "/v1/orders", body);
    expect(response.status).toBe(400);
    expect(response.body.errors).toEqual([expect.objectContaining({ pointer })]);
  });
});

describe("payments", () => {
  it("can succeed", async () => {
    const order = (await api("POST", "/v1/orders", { amount: 900, currency: "EUR" })).body;
    const payment = (await api("POST", "/v1/payments", { amount: 900, currency: "EUR", order: order.id })).body;
    expect(payment).toMatchObject({ object: "payment", status: "pending", order: order.id, failure_code: null });
    expect((await api("POST", `/v1/payments/${payment.id}/succeed`)).body.status).toBe("succeeded");
    expect(await typesAbout(payment.id)).toEqual(["payment.succeeded", "payment.created"]);
    expect((await api("POST", `/v1/payments/${payment.id}/fail`)).body.code).toBe("invalid_transition");
    expect((await api("GET", `/v1/payments?order=${order.id}`)).body.data).toHaveLength(1);
  });

  it("can fail with a code", async () => {
    const payment = (await api("POST", "/v1/payments", { amount: 900, currency: "EUR" })).body;
    const failed = await api("POST", `/v1/payments/${payment.id}/fail`, { failure_code: "insufficient_funds" });
    expect(failed.body).toMatchObject({ status: "failed", failure_code: "insufficient_funds" });
    const other = (await api("POST", "/v1/payments", { amount: 1, currency: "EUR" })).body;
    expect((await api("POST", `/v1/payments/${other.id}/fail`)).body.failure_code).toBe("card_declined");
    const wrong = (await api("POST", "/v1/payments", { amount: 1, currency: "EUR" })).body;
    expect((await api("POST", `/v1/payments/${wrong.id}/fail`, { failure_code: "Nope!" })).status).toBe(400);
  });
});
