import { describe, expect, it } from "vitest";
import { receiverOnPlatform } from "./support/receiver-on-platform.ts";

const on = receiverOnPlatform();
const { api } = on;

const create = (body: object) => api("POST", "/v1/webhook_endpoints", body);
const good = { url: "https://hooks.example.com/in", events: ["order.completed"] };

describe("a ping", () => {
  it("is sent only to its endpoint, whatever that subscribes to", async () => {
    const pinged = (await create({ url: `${on.receiver.url}/pinged`, events: ["order.completed"] })).body;
    const other = (await create({ url: `${on.receiver.url}/other`, events: ["*"] })).body;
    const response = await api("POST", `/v1/webhook_endpoints/${pinged.id}/ping`);
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({
      object: "event",
      type: "webhook_endpoint.ping",
      livemode: false,
      data: { object: { id: pinged.id, object: "webhook_endpoint" } },
      request: { id: response.headers.get("request-id") },
    });
    expect(JSON.stringify(response.body)).not.toContain("whsec_");
    await on.receiver.until(1, "/pinged");
    const [received] = on.receiver.at("/pinged");
    expect(JSON.parse(received!.body)).toEqual(response.body);
    const deliveries = (await api("GET", `/v1/deliveries?event=${response.body.id}`)).body.data;
    expect(deliveries.map((delivery: { endpoint: string }) => delivery.endpoint)).toEqual([pinged.id]);
    await api("POST", `/v1/webhook_endpoints/${other.id}/ping`);
    await on.receiver.until(1, "/other");
    expect(on.receiver.at("/pinged")).toHaveLength(1);
  });

  it("contains a sample of another type if requested", async () => {
    const { id } = (await create({ url: `${on.receiver.url}/sampled`, events: ["customer.*"] })).body;
    const response = await api("POST", `/v1/webhook_endpoints/${id}/ping`, { type: "order.completed" });
    expect(response).toMatchObject({
      status: 201,
      body: { type: "order.completed", data: { object: { object: "order", status: "completed", livemode: false } } },
    });
    await on.receiver.until(1, "/sampled");
    expect(JSON.parse(on.receiver.at("/sampled")[0]!.body)).toEqual(response.body);
    const unknown = await api("POST", `/v1/webhook_endpoints/${id}/ping`, { type: "order.complete" });
    expect(unknown.body.errors).toMatchObject([{ pointer: "/type" }]);
  });

  it("is rejected while the endpoint is disabled", async () => {
    const { id } = (await create(good)).body;
    await api("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
    const response = await api("POST", `/v1/webhook_endpoints/${id}/ping`);
    expect(response.status).toBe(409);
    expect(response.body.code).toBe("endpoint_disabled");
  });
});
