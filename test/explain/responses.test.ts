import { createServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { SELF_SIGNED } from "../support/self-signed.ts";
import { explained, plain } from "./support/explained.ts";

const LOG = '{\n  "error": "TypeError: Cannot read properties of undefined"\n}';
/** The responses of the receiver by path. */
const RESPONSES: Record<string, [status: number, body: string, headers?: Record<string, string>]> = {
  "/500": [500, LOG],
  "/signature": [400, "Webhook signature verification failed"],
  "/401": [401, "Sign in"],
  "/404": [404, "No such route"],
  "/422": [422, "amount is too small"],
  "/429": [429, "slow down", { "Retry-After": "120" }],
  "/302": [302, "", { Location: "/moved?to=a&b=1" }],
  "/410": [410, "This webhook was retired"],
};

const world = explained((request, response) => {
  const [status, body, headers] = RESPONSES[request.path] ?? [200, "ok"];
  response.writeHead(status, headers).end(body);
});
beforeEach(() => world.clear());

describe("service why of a delivery, and of its event", () => {
  it.each([
    [
      "/500",
      "receiver_error",
      "Billing responded with 500; attempt 2 is due at T",
      '500 in N ms, "{ "error": "TypeError: Cannot read properties of undefined" }"',
      "Find the error in the receiver's log, repair it, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/signature",
      "signature_rejected",
      "Billing rejected the signature with 400; attempt 2 is due at T",
      '400 in N ms, "Webhook signature verification failed"',
      "Rotate the signing secret, and set the new one in the receiver",
      "service endpoints rotate-secret ENDPOINT",
    ],
    [
      "/401",
      "receiver_unauthorized",
      "Billing responded with 401; attempt 2 is due at T",
      '401 in N ms, "Sign in"',
      "Let the receiver accept requests with a valid signature and no other credential, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/404",
      "receiver_not_found",
      "Billing responded with 404; attempt 2 is due at T",
      '404 in N ms, "No such route"',
      "Let the receiver accept POST at this path or correct the endpoint's URL, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/422",
      "receiver_rejected",
      "Billing responded with 422; attempt 2 is due at T",
      '422 in N ms, "amount is too small"',
      "Let the receiver accept the event, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/429",
      "rate_limited",
      "Billing responded with 429; attempt 2 is due at T",
      '429 in N ms, "slow down"',
      "Let the receiver accept more requests, wait for the next attempt, or retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/302",
      "redirect",
      "Billing responded with 302; attempt 2 is due at T",
      "302 in N ms",
      "Use the URL of the redirect: deliveries do not follow it",
      "service endpoints update ENDPOINT --url 'RECEIVER/moved?to=a&b=1'",
    ],
  ])("explains the response of %s as %s", async (path, code, summary, evidence, action, fix) => {
    const endpoint = await world.endpoint(path, undefined, "Billing");
    const { event, deliveries } = await world.order();
    const delivery = deliveries[0]!.id;
    const ids = { DELIVERY: delivery, ENDPOINT: endpoint, RECEIVER: world.receiver.url };
    const expected = {
      code,
      summary,
      evidence: `Attempt 1 at T: ${evidence}`,
      action,
      fix: fix.replaceAll(/DELIVERY|ENDPOINT|RECEIVER/g, (name) => ids[name as keyof typeof ids]),
    };
    expect(plain(await world.why(delivery))).toEqual(expected);
    expect(plain(await world.why(event.id))).toEqual(expected);
  });

  it("says that a response with 410 disabled the endpoint", async () => {
    const endpoint = await world.endpoint("/410", undefined, "Billing");
    const { deliveries } = await world.order();
    const expected = {
      code: "endpoint_disabled",
      summary: "Billing was disabled at T because it responded with 410 Gone",
      evidence: 'Attempt 1 at T: 410 in N ms, "This webhook was retired"',
      action: "Enable the endpoint, if the receiver is back",
      fix: `service endpoints enable ${endpoint}`,
    };
    expect(plain(await world.why(deliveries[0]!.id))).toEqual(expected);
    expect(plain(await world.why(endpoint))).toEqual(expected);
  });

  it("explains a refused connection, with the URL", async () => {
    const url = `http://127.0.0.1:${await freePort()}/hooks`;
    const endpoint = await world.endpoint(url);
    const { deliveries } = await world.order();
    expect(plain(await world.why(deliveries[0]!.id))).toEqual({
      code: "connection_refused",
      summary: `No server listens at ${url}; attempt 2 is due at T`,
      evidence: "Attempt 1 at T: connection_refused: no server listens on this address and port",
      action: "Start the receiver or correct the endpoint's URL, then retry",
      fix: `service deliveries retry ${deliveries[0]!.id}`,
    });
    expect(plain(await world.why(endpoint))).toMatchObject({
      code: "connection_refused",
      summary: `No server listens at ${url}; the only attempt of the last hour failed, and 1 delivery waits`,
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
    });
  });

  it("explains a host without an address", async () => {
    await world.endpoint("http://no-such-host.invalid/hooks");
    const { deliveries } = await world.order();
    expect(plain(await world.why(deliveries[0]!.id))).toMatchObject({
      code: "dns",
      summary: "The host name of http://no-such-host.invalid/hooks could not be resolved; attempt 2 is due at T",
      evidence: expect.stringMatching(/^Attempt 1 at T: dns: /),
      action: "Repair the DNS record or correct the endpoint's URL, then retry",
    });
  });

  it("explains an untrusted certificate", async () => {
    const server = createServer(SELF_SIGNED).listen(0, "127.0.0.1");
    await once(server, "listening");
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await world.endpoint(`https://${host}/hooks`);
    const { deliveries } = await world.order();
    const answer = plain(await world.why(deliveries[0]!.id));
    server.close();
    expect(answer).toMatchObject({
      code: "tls",
      summary: expect.stringContaining(`The TLS handshake with ${host} failed: `),
      action: "Give the receiver a certificate that is valid for its host, then retry",
    });
  });
});

describe("service why of a failing endpoint", () => {
  it("counts the attempts of the last hour by cause, and quotes a response", async () => {
    RESPONSES["/mixed"] = [500, "the warehouse is closed"];
    const endpoint = await world.endpoint("/mixed", undefined, "Warehouse");
    await world.order();
    await world.order();
    RESPONSES["/mixed"] = [404, "No such route"];
    await world.order();
    const answer = plain(await world.why(endpoint));
    expect(answer).toEqual({
      code: "receiver_error",
      summary: "Warehouse responded with 500; 2 of the 3 attempts of the last hour failed, and 3 deliveries wait",
      evidence: 'Attempt 1 at T: 500 in N ms, "the warehouse is closed"',
      action: "Find the error in the receiver's log, repair it, then retry",
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
    });
  });

  it("names since when every attempt fails", async () => {
    const endpoint = await world.endpoint("/500", undefined, "Billing");
    const { event } = await world.order();
    for (let count = 1; count < 20; count++) {
      await world.api("POST", `/v1/events/${event.id}/replay`, { endpoint });
    }
    const failing = async () => (await world.api("GET", `/v1/webhook_endpoints/${endpoint}`)).body.health.failing_since;
    await expect.poll(failing).not.toBeNull();
    expect(plain(await world.why(endpoint))).toMatchObject({
      code: "receiver_error",
      summary: "Billing responded with 500; every attempt since T failed, and 20 deliveries wait",
    });
  });
});
