import { beforeEach, describe, expect, it } from "vitest";
import type { Explanation } from "../../src/cli/explanation.ts";
import type { RequestLog } from "../../src/contract/schemas/request-log.ts";
import { apiOf } from "../support/api.ts";
import { explained, plain } from "./support/explained.ts";

/** The statuses of the next responses. Afterwards the receiver responds with 200. */
const statuses: number[] = [];
const world = explained((_request, response) => void response.writeHead(statuses.shift() ?? 200).end());
beforeEach(async () => {
  await world.clear();
  statuses.length = 0;
});

/** Returns the ID of the newest request that got a fault, once another one than a known one did. */
async function lastRequest(fault: string, known?: string): Promise<string> {
  const read = async () => {
    const { body } = await world.api("GET", "/v1/request_logs?method=POST&path=/v1/orders&limit=1");
    const [log] = body.data as RequestLog[];
    return log?.fault?.id === fault && log.id !== known ? log.id : undefined;
  };
  await expect.poll(read).toBeDefined();
  return (await read())!;
}

describe("service why for a request", () => {
  it("lists the rejected fields", async () => {
    const rejected = await world.api("POST", "/v1/orders", { amount: -1, curency: "EUR" });
    expect(plain(await world.why(rejected.headers.get("request-id")!))).toMatchObject({
      code: "request_failed",
      summary: expect.stringMatching(
        /^POST \/v1\/orders failed with 400 invalid_request: (?=.*amount must be at least 0)(?=.*unknown field curency \(did you mean currency\?\))/,
      ),
      evidence: 'Request body: {"amount":-1,"curency":"EUR"}',
      action: "Correct the request, then send it again",
      fix: null,
    });
  });

  it("names the customer that has the email address already", async () => {
    const customer = { email: "ada@example.com" };
    const { body: existing } = await world.api("POST", "/v1/customers", customer);
    const { headers } = await world.api("POST", "/v1/customers", customer);
    expect(await world.why(headers.get("request-id")!)).toMatchObject({
      code: "request_failed",
      summary: `POST /v1/customers failed with 409 email_taken: the email ada@example.com belongs to customer ${existing.id}`,
      action: "Use the existing customer",
      fix: `service customers get ${existing.id}`,
    });
  });

  it("needs nothing if the object has the status already", async () => {
    const { body: order } = await world.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
    const act = async (verb: string) =>
      (await world.api("POST", `/v1/orders/${order.id}/${verb}`)).headers.get("request-id")!;
    await act("complete");
    expect(await world.why(await act("complete"))).toMatchObject({
      summary: expect.stringContaining("/complete failed with 409 invalid_transition: "),
      action: "The order is already completed, so treat this response as a success",
      fix: null,
    });
    expect((await world.why(await act("cancel"))).action).toBe("The order stays completed, so create another one");
  });

  it("says what to change in a request that is too large or not JSON", async () => {
    const order = { amount: 1, currency: "EUR" };
    const large = await world.api("POST", "/v1/orders", { ...order, metadata: { text: "x".repeat(2 ** 20) } });
    expect(await world.why(large.headers.get("request-id")!)).toMatchObject({
      summary: expect.stringContaining("POST /v1/orders failed with 413 body_too_large: "),
      action: "Store the data elsewhere, and send a reference to it",
    });
    const text = await world.api("POST", "/v1/orders", order, { "Content-Type": "text/plain" });
    expect(await world.why(text.headers.get("request-id")!)).toMatchObject({
      summary: expect.stringContaining("POST /v1/orders failed with 415 unsupported_media_type: "),
      action: "Send the body as JSON, with Content-Type: application/json",
    });
  });

  it("names the request that used the Idempotency-Key before, and what differs", async () => {
    const create = (amount: number) =>
      world.api("POST", "/v1/orders", { amount, currency: "EUR" }, { "Idempotency-Key": "reused" });
    const [first, , rejected] = [await create(100), await create(100), await create(200)];
    expect(plain(await world.why(rejected.headers.get("request-id")!))).toMatchObject({
      code: "request_failed",
      summary: `POST /v1/orders failed with 422 idempotency_key_reused: ${first.headers.get("request-id")} used this Idempotency-Key N ms earlier with another body: amount was 100 and is 200 now`,
      action: "Send the request with a new Idempotency-Key",
      fix: null,
    });
  });

  it.each([
    {
      effect: "lose_response",
      got: "no response",
      when: /after the request took effect: the order ord_\w+ exists$/,
      evidence: /^The response, which was not sent: 201, \{"id":"ord_/,
      action: "Repeat the request with the same Idempotency-Key, which returns this response without a second effect",
    },
    {
      effect: "truncate",
      got: "half of the response",
      when: /after the request took effect: the order ord_\w+ exists$/,
      evidence: /^The response, of which half was sent: 201, \{"id":"ord_/,
      action: "Repeat the request with the same Idempotency-Key, which returns this response without a second effect",
    },
    {
      effect: "disconnect",
      got: "no response",
      when: /before the request had an effect$/,
      evidence: undefined,
      action: "Repeat the request with the same Idempotency-Key",
    },
  ])("leads with the fault $effect, then explains the event", async ({ effect, got, when, evidence, action }) => {
    await world.endpoint("/a", undefined, "Billing");
    statuses.push(500);
    const fault = (await world.api("POST", "/v1/faults", { match: { method: "POST", path: "/v1/orders" }, effect }))
      .body;
    const order = { amount: 1, currency: "EUR" };
    await expect(world.api("POST", "/v1/orders", order, { "Idempotency-Key": effect })).rejects.toThrow();
    const request = await lastRequest(fault.id);
    const answer = await world.why(request);
    expect(answer).toEqual({
      code: "response_lost",
      subject: request,
      summary: expect.stringMatching(
        `^The client got ${got} to POST /v1/orders: the fault ${fault.id} closed the connection ${when.source}`,
      ),
      evidence: evidence === undefined ? null : expect.stringMatching(evidence),
      action,
      fix: null,
    });
    if (evidence !== undefined) {
      await expect
        .poll(async () => {
          const { stdout } = await world.service(["why", request, "--json"]);
          return (JSON.parse(stdout) as Explanation).findings[1]?.summary;
        })
        .toMatch(/^Billing responded with 500/);
    }
    await expect(world.api("POST", "/v1/orders", order)).rejects.toThrow();
    const repeatable = "Send each POST with an Idempotency-Key, which makes it safe to repeat";
    expect((await world.why(await lastRequest(fault.id, request))).action).toBe(
      evidence === undefined ? repeatable : `${repeatable}: repeating this one has a second effect`,
    );
    await world.api("DELETE", `/v1/faults/${fault.id}`);
    const response = await world.api("POST", "/v1/orders", order, { "Idempotency-Key": effect });
    expect(response.headers.get("idempotent-replayed")).toBe(evidence === undefined ? null : "true");
  });

  it("does not suggest removing a fault that is used up or was removed", async () => {
    const match = { method: "POST", path: "/v1/orders" };
    const create = async (times?: number) =>
      (await world.api("POST", "/v1/faults", { match, effect: "status", status: 503, times })).body.id as string;
    const fails = async () =>
      (await world.api("POST", "/v1/orders", { amount: 1, currency: "EUR" })).headers.get("request-id")!;
    const failure = "POST /v1/orders failed with 503 unavailable: the fault";
    const usedUp = await create(1);
    expect(await world.why(await fails())).toMatchObject({
      summary: `${failure} ${usedUp} made this request fail on purpose`,
      action: "The fault is used up: send the request again",
      fix: null,
    });
    const fault = await create();
    const request = await fails();
    await world.api("DELETE", `/v1/faults/${fault}`);
    expect(await world.why(request)).toMatchObject({
      summary: `${failure} ${fault} made this request fail on purpose`,
      action: "The fault was removed: send the request again",
      fix: null,
    });
    await world.api("DELETE", `/v1/faults/${usedUp}`);
  });

  it("does not suggest a login for a key that was revoked", async () => {
    const { body: key } = await world.api("POST", "/v1/api_keys", { name: "old", scopes: ["orders:read"] });
    await world.api("POST", `/v1/api_keys/${key.id}/revoke`);
    const rejected = await apiOf(world.platform.baseUrl, key.key)("GET", "/v1/orders");
    const id = rejected.headers.get("request-id")!;
    expect(plain(await world.why(id))).toMatchObject({
      code: "request_failed",
      summary: "GET /v1/orders failed with 401 revoked_credential",
      evidence: `The API key old (${key.prefix}…${key.last4}) was revoked at T`,
      action: "Create a key with the same scopes, and send the request with it",
      fix: "service keys create --name old --scope orders:read",
    });
    const { stdout } = await world.run("service keys create --name old --scope orders:read --json");
    const { key: replacement } = JSON.parse(stdout) as { key: string };
    expect((await apiOf(world.platform.baseUrl, replacement)("GET", "/v1/orders")).status).toBe(200);
  });

  it("suggests allowing the address from which a key was used", async () => {
    const ip_allowlist = ["203.0.113.0/24"];
    const { body: key } = await world.api("POST", "/v1/api_keys", { scopes: ["orders:read"], ip_allowlist });
    const get = () => apiOf(world.platform.baseUrl, key.key)("GET", "/v1/orders");
    const answer = await world.why((await get()).headers.get("request-id")!);
    expect(answer).toMatchObject({
      summary: expect.stringMatching(/^GET \/v1\/orders failed with 403 ip_not_allowed: /),
      action: "Allow 127.0.0.1 for the key",
      fix: `service keys update ${key.id} --ip-allow 203.0.113.0/24,127.0.0.1/32`,
    });
    await world.run(answer.fix);
    expect((await get()).status).toBe(200);
  });

  it("mentions that requests without a valid credential are not retained", async () => {
    const { headers } = await apiOf(world.platform.baseUrl, "sk_sandbox_wrong")("GET", "/v1/orders");
    const { exitCode, stderr } = await world.service(["why", headers.get("request-id")!]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("Requests without a valid credential are not retained");
  });

  it("explains why the request caused no event", async () => {
    const read = await world.api("GET", "/v1/orders");
    expect(plain(await world.why(read.headers.get("request-id")!))).toMatchObject({
      code: "no_event",
      summary: "The request only read data, so it caused no event",
      evidence: "GET /v1/orders: 200",
    });
    const create = () =>
      world.api("POST", "/v1/orders", { amount: 1, currency: "EUR" }, { "Idempotency-Key": "repeated" });
    const [first, second] = [await create(), await create()];
    expect(second.body).toEqual(first.body);
    expect(plain(await world.why(second.headers.get("request-id")!))).toMatchObject({
      code: "no_event",
      summary: "The request repeated an earlier one with the same idempotency key, so it caused no other event",
      action: "Explain what the earlier request created",
      fix: `service why ${first.body.id}`,
    });
  });
});
