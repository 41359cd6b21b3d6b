import { createServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import { advanceClock } from "../support/advance-clock.ts";
import { freePort } from "../support/free-port.ts";
import { SELF_SIGNED } from "../support/self-signed.ts";
import { explained, plain } from "./support/explained.ts";

const LOG = '{\n  "error": "TypeError: Cannot read properties of undefined"\n}';
/** The responses of the receiver by path. */
const RESPONSES: Record<string, [status: number, body: string, headers?: Record<string, string>]> = {
  "/500": [500, LOG],
  "/signature": [400, "Webhook signature verification failed"],
  "/stale": [400, "Timestamp outside the tolerance zone"],
  "/firewall": [403, "<!DOCTYPE html><title>Attention Required!</title>", { Server: "cloudflare" }],
  "/proxy": [502, "<html><head><title>502 Bad Gateway</title></head><body><hr>nginx/1.24</body></html>"],
  "/gateway": [504, "error code: 504"],
  "/csrf": [403, "CSRF token missing"],
  "/503": [503, "restarting", { "Retry-After": "120" }],
  "/401": [401, "Sign in"],
  "/404": [404, "No such route"],
  "/422": [422, '{"type":"about:blank","title":"Invalid","detail":"amount is too small"}'],
  "/429": [429, "slow down", { "Retry-After": "120" }],
  "/302": [302, "", { Location: "/moved?to=a&b=1" }],
  "/sign-in": [302, "", { Location: "/login" }],
  "/410": [410, "This webhook was retired"],
};

/** Paths that respond with 200 now. */
const repaired = new Set<string>();
const world = explained((request, response) => {
  const [status, body, headers] = (repaired.has(request.path) ? undefined : RESPONSES[request.path]) ?? [200, "ok"];
  response.writeHead(status, headers).end(body);
});
beforeEach(async () => {
  await world.clear();
  repaired.clear();
});

describe("service why for a delivery and its event", () => {
  it.each([
    [
      "/500",
      "receiver_error",
      "Billing responded with 500; attempt 2 is due at T",
      '500 in N ms, { "error": "TypeError: Cannot read properties of undefined" }',
      "Fix the error in the receiver, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/signature",
      "signature_rejected",
      "Billing rejected the signature with 400; attempt 2 is due at T",
      '400 in N ms, "Webhook signature verification failed"',
      "The receiver may use another secret, or parse the body before it verifies the signature. To find out which, verify the delivery with the receiver's secret (after the repair: `service deliveries retry DELIVERY`)",
      "service webhooks verify --delivery DELIVERY",
    ],
    [
      "/stale",
      "signature_rejected",
      "Billing rejected the timestamp of the signature with 400; attempt 2 is due at T",
      '400 in N ms, "Timestamp outside the tolerance zone"',
      "Correct the clock of the receiver, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/proxy",
      "receiver_error",
      "The proxy in front of Billing could not reach it and responded with 502; attempt 2 is due at T",
      '502 in N ms, "502 Bad Gateway"',
      "Start the application, or correct its address in the proxy, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/gateway",
      "receiver_error",
      "The proxy in front of Billing could not reach it and responded with 504; attempt 2 is due at T",
      '504 in N ms, "error code: 504"',
      "Start the application, or correct its address in the proxy, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/csrf",
      "receiver_unauthorized",
      "The CSRF protection of Billing rejected the request with 403; attempt 2 is due at T",
      '403 in N ms, "CSRF token missing"',
      "Exempt the path from CSRF protection, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/firewall",
      "receiver_unauthorized",
      "A firewall or proxy in front of Billing rejected the request with 403; attempt 2 is due at T",
      '403 in N ms, "Attention Required!"',
      "Allow the request in the firewall or proxy, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/401",
      "receiver_unauthorized",
      "Billing required a login and responded with 401; attempt 2 is due at T",
      '401 in N ms, "Sign in"',
      "Let this path verify the signature instead of requiring a login, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/404",
      "receiver_not_found",
      "Billing responded with 404; attempt 2 is due at T",
      '404 in N ms, "No such route"',
      "Handle POST at this path, or correct the endpoint's URL, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/422",
      "receiver_rejected",
      "Billing responded with 422; attempt 2 is due at T",
      '422 in N ms, "amount is too small"',
      "Change the receiver so that it accepts the event, then retry",
      "service deliveries retry DELIVERY",
    ],
    [
      "/429",
      "rate_limited",
      "Billing responded with 429 and Retry-After: 120; attempt 2 is due at T",
      '429 in N ms, "slow down"',
      "Billing asks for a pause of 2 min. Wait for the next attempt, or retry once it is back",
      "service deliveries retry DELIVERY",
    ],
    [
      "/503",
      "receiver_error",
      "Billing responded with 503 and Retry-After: 120; attempt 2 is due at T",
      '503 in N ms, "restarting"',
      "Billing asks for a pause of 2 min. Wait for the next attempt, or retry once it is back",
      "service deliveries retry DELIVERY",
    ],
    [
      "/302",
      "redirect",
      "Billing redirected the request with 302; attempt 2 is due at T",
      "302 in N ms, Location: /moved?to=a&b=1",
      "Deliveries do not follow redirects. Set the endpoint's URL to the redirect's target, then retry",
      "service endpoints update ENDPOINT --url 'RECEIVER/moved?to=a&b=1' && service deliveries retry DELIVERY",
    ],
  ])("explains the response of %s as %s", async (path, code, summary, evidence, action, fix) => {
    const endpoint = await world.endpoint(path, undefined, "Billing");
    const { event, deliveries } = await world.order();
    const delivery = deliveries[0]!.id;
    const ids = { DELIVERY: delivery, ENDPOINT: endpoint, RECEIVER: world.receiver.url };
    const withIds = (text: string | null) =>
      text?.replaceAll(/DELIVERY|ENDPOINT|RECEIVER/g, (name) => ids[name as keyof typeof ids]) ?? null;
    const expected = {
      code,
      summary,
      evidence: `Attempt 1 at T: ${evidence}`,
      action: withIds(action),
      fix: withIds(fix),
    };
    expect(plain(await world.why(delivery))).toEqual(expected);
    expect(plain(await world.why(event.id))).toEqual(expected);
    if (expected.fix !== `service deliveries retry ${delivery}`) return;
    repaired.add(path);
    await world.run(expected.fix);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}`))[0]!.status).toBe("succeeded");
  });

  it("finds out whether a rejected signature comes from a wrong secret, and leaves the secret as it is", async () => {
    const url = `${world.receiver.url}/signature`;
    const { body: endpoint } = await world.api("POST", "/v1/webhook_endpoints", { url, events: ["order.*"] });
    const { deliveries } = await world.order();
    const { id } = deliveries[0]!;
    const { action, fix } = await world.why(endpoint.id);
    const retry = `service deliveries retry --pending --endpoint ${endpoint.id}`;
    expect(fix).toBe(`service webhooks verify --delivery ${id}`);
    expect(action).toContain(` (after the repair: \`${retry}\`)`);
    const unasked = await world.run(fix);
    expect(unasked.exitCode).toBe(2);
    expect(unasked.stderr).toContain(`The signing secret that your receiver uses for ${endpoint.id} is needed`);
    expect(unasked.stderr).toContain("pass --secret-file FILE or --secret, or set SERVICE_WEBHOOK_SECRET");
    const wrong = await world.run(fix, { env: { SERVICE_WEBHOOK_SECRET: "whsec_another" } });
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toContain(`${id} was signed with another secret`);
    expect(wrong.stderr).toContain(`service endpoints rotate-secret ${endpoint.id}`);
    const right = await world.run(fix, { env: { SERVICE_WEBHOOK_SECRET: endpoint.secret } });
    expect(right.exitCode).toBe(0);
    const { body: same } = await world.api("GET", `/v1/webhook_endpoints/${endpoint.id}`);
    expect(same.previous_secret_until).toBeNull();
  });

  it("suggests changing the URL of an endpoint that redirects, unless the target is a sign-in page", async () => {
    const endpoint = await world.endpoint("/302");
    const { deliveries } = await world.order();
    await world.run((await world.why(deliveries[0]!.id)).fix);
    const { body } = await world.api("GET", `/v1/webhook_endpoints/${endpoint}`);
    expect(body.url).toBe(`${world.receiver.url}/moved?to=a&b=1`);
    await world.clear();
    await world.endpoint("/sign-in");
    const { deliveries: rejected } = await world.order();
    expect(plain(await world.why(rejected[0]!.id))).toMatchObject({
      code: "redirect",
      evidence: "Attempt 1 at T: 302 in N ms, Location: /login",
      action: "Let this path verify the signature instead of requiring a login, then retry",
      fix: `service deliveries retry ${rejected[0]!.id}`,
    });
  });

  it("lists the endpoint that still fails first, and has no command for a deleted endpoint", async () => {
    await world.endpoint("/500", undefined, "Warehouse");
    await world.endpoint("/ok", undefined, "Ledger");
    const deleted = await world.endpoint("/401", undefined, "Billing");
    const { event } = await world.order();
    await world.api("DELETE", `/v1/webhook_endpoints/${deleted}`);
    expect((await world.why(event.id)).summary).toMatch(
      /^Warehouse responded with 500; .+\. order\.created reached 1 of 2 endpoints$/,
    );
    const { stdout } = await world.service(["why", event.id, "--json"]);
    const { findings } = JSON.parse(stdout) as { findings: unknown[] };
    expect(findings[1]).toMatchObject({
      summary: `The endpoint ${deleted} required a login and responded with 401; the endpoint was deleted after 1 attempt`,
      action: null,
      fix: null,
    });
  });

  it("shows the receiver's response from before its endpoint was deleted", async () => {
    const endpoint = await world.endpoint("/401", undefined, "Billing");
    const { event, deliveries } = await world.order();
    const { id } = deliveries[0]!;
    await world.api("POST", `/v1/deliveries/${id}/retry`);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}`))[0]!.attempt_count).toBe(2);
    await world.clear();
    const expected = {
      code: "receiver_unauthorized",
      summary: `The endpoint ${endpoint} required a login and responded with 401; the endpoint was deleted after 2 attempts`,
      evidence: 'Attempt 2 at T: 401 in N ms, "Sign in"',
    };
    for (const about of [event.id, id]) {
      expect(plain(await world.why(about))).toEqual({
        ...expected,
        action: "Forward the event to your application, for example on port 3000",
        fix: `service events replay ${event.id} --forward-to 3000`,
      });
    }
    await world.endpoint("/ok");
    const { action, fix } = await world.why(event.id);
    expect(action).toBe("Replay the event to its current subscribers");
    await world.run(fix);
    await expect.poll(() => world.receiver.at("/ok").length).toBe(1);
  });

  it("shows the response of the last attempt once no retries are left", async () => {
    await world.endpoint("/500", undefined, "Billing");
    const { event } = await world.order();
    await advanceClock(world.api, 4 * 86_400);
    const [delivery] = await world.deliveries(`event=${event.id}`);
    expect(delivery!.status).toBe("failed");
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "receiver_error",
      summary: expect.stringMatching(/^Billing responded with 500; all \d+ attempts failed, and no retries are left$/),
      evidence: expect.stringMatching(/^Attempt \d+ at T: 500 in N ms/),
      fix: `service deliveries retry ${delivery!.id}`,
    });
  });

  it("gives the whole fix for a failed delivery to a disabled endpoint", async () => {
    const endpoint = await world.endpoint("/500", undefined, "Billing");
    const { event } = await world.order();
    await advanceClock(world.api, 4 * 86_400);
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { status: "disabled" });
    const [delivery] = await world.deliveries(`event=${event.id}`);
    const answer = await world.why(delivery!.id);
    expect(answer).toMatchObject({
      code: "receiver_error",
      summary: expect.stringMatching(/^Billing responded with 500; all \d+ attempts failed, and no retries are left$/),
      action: "Fix the error in the receiver, then enable the endpoint and retry the delivery",
      fix: `service endpoints enable ${endpoint} && service deliveries retry ${delivery!.id}`,
    });
    repaired.add("/500");
    await world.run(answer.fix);
    await expect.poll(async () => (await world.why(event.id)).code).toBe("delivered");
  });

  it("reports that a 410 response disabled the endpoint", async () => {
    const endpoint = await world.endpoint("/410", undefined, "Billing");
    const { deliveries } = await world.order();
    const expected = {
      code: "endpoint_disabled",
      summary: "Billing was disabled at T, because it responded with 410 Gone",
      evidence: 'Attempt 1 at T: 410 in N ms, "This webhook was retired"',
      action:
        "If the receiver is gone for good, delete the endpoint. Otherwise enable the endpoint once its receiver is back, then retry the delivery",
      fix: `service endpoints enable ${endpoint}`,
    };
    const [delivery] = deliveries;
    const { fix: both } = await world.why(endpoint);
    expect(both).toBe(`${expected.fix} && service deliveries retry --failed --endpoint ${endpoint}`);
    const fix = `${expected.fix} && service deliveries retry ${delivery!.id}`;
    expect(plain(await world.why(delivery!.id))).toEqual({ ...expected, fix });
    await world.run(expected.fix);
    expect(plain(await world.why(delivery!.id))).toMatchObject({
      summary: "Billing responded with 410 Gone before the endpoint was enabled again",
      action: "Retry now",
      fix: `service deliveries retry ${delivery!.id}`,
    });
  });

  it("explains a refused connection, with the URL", async () => {
    const url = `http://127.0.0.1:${await freePort()}/hooks`;
    const endpoint = await world.endpoint(url);
    const { deliveries } = await world.order();
    expect(plain(await world.why(deliveries[0]!.id))).toEqual({
      code: "connection_refused",
      summary: `Connection refused: no server is listening at ${url}; attempt 2 is due at T`,
      evidence: "Attempt 1 at T: refused",
      action: "Start the receiver, or correct the endpoint's URL, then retry",
      fix: `service deliveries retry ${deliveries[0]!.id}`,
    });
    expect(plain(await world.why(endpoint))).toMatchObject({
      code: "connection_refused",
      summary: `Connection refused: no server is listening at ${url}; the only attempt in the last hour failed, and 1 delivery is being retried`,
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
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
      summary: `The TLS handshake with ${host} failed: its certificate is self-signed; attempt 2 is due at T`,
      action: "Install a certificate that is valid for the host, then retry",
    });
  });

  it("reports in one line that the port of an https URL does not speak TLS", async () => {
    const { host } = new URL(world.receiver.url);
    const endpoint = await world.endpoint(`https://${host}/hooks`);
    const { deliveries } = await world.order();
    expect(plain(await world.why(deliveries[0]!.id))).toEqual({
      code: "tls",
      summary: `${host} does not speak TLS; attempt 2 is due at T`,
      evidence: "Attempt 1 at T: tls",
      action: "Use http:// in the endpoint's URL, then retry",
      fix: `service endpoints update ${endpoint} --url http://${host}/hooks && service deliveries retry ${deliveries[0]!.id}`,
    });
    await world.run(`service endpoints update ${endpoint} --url http://${host}/hooks`);
    expect((await world.api("GET", `/v1/webhook_endpoints/${endpoint}`)).body.url).toBe(`http://${host}/hooks`);
  });

  it("shows the path of each of several endpoints on one host", async () => {
    await world.endpoint("/500");
    const { deliveries } = await world.order();
    const { summary } = plain(await world.why(deliveries[0]!.id));
    expect(summary).toBe(`${new URL(world.receiver.url).host}/500 responded with 500; attempt 2 is due at T`);
  });

  it("does not blame the new URL for the response of the old one", async () => {
    const endpoint = await world.endpoint("/302");
    const { deliveries } = await world.order();
    await world.api("PATCH", `/v1/webhook_endpoints/${endpoint}`, { url: `${world.receiver.url}/moved` });
    expect(plain(await world.why(deliveries[0]!.id))).toEqual({
      code: "redirect",
      summary: "The endpoint redirected the request with 302 before its URL was changed; attempt 2 is due at T",
      evidence: "Attempt 1 at T: 302 in N ms, Location: /moved?to=a&b=1",
      action: "Retry now",
      fix: `service deliveries retry ${deliveries[0]!.id}`,
    });
    expect(plain(await world.why(endpoint))).toMatchObject({
      summary:
        "The endpoint redirected the request with 302 before its URL was changed; the only attempt in the last hour failed, and 1 delivery is being retried",
      action: "Retry now",
      fix: `service deliveries retry --pending --endpoint ${endpoint}`,
    });
  });

  it("distinguishes attempts before and after a change of the URL, although the clock is advanced", async () => {
    const late = await world.endpoint("/302");
    const { deliveries } = await world.order();
    await advanceClock(world.api, 120);
    await world.api("PATCH", `/v1/webhook_endpoints/${late}`, { url: `${world.receiver.url}/moved` });
    expect(plain(await world.why(deliveries[0]!.id)).summary).toMatch(
      /^The endpoint redirected the request with 302 before its URL was changed; /,
    );
    await world.clear();
    const early = await world.endpoint("/moved");
    await world.api("PATCH", `/v1/webhook_endpoints/${early}`, { url: `${world.receiver.url}/404` });
    const { deliveries: failed } = await world.order();
    await advanceClock(world.api, 10);
    expect(plain(await world.why(failed[0]!.id)).summary).toMatch(/^127\.0\.0\.1:\d+\/404 responded with 404; /);
  });

  it("suggests a retry after a rotation of the secret", async () => {
    const endpoint = await world.endpoint("/signature", undefined, "Billing");
    const { deliveries } = await world.order();
    await advanceClock(world.api, 2);
    await world.api("POST", `/v1/webhook_endpoints/${endpoint}/rotate_secret`, {});
    expect(plain(await world.why(deliveries[0]!.id))).toMatchObject({
      summary: "Billing rejected the signature with 400 before the secret was rotated; attempt 2 is due at T",
      action: "Retry now",
      fix: `service deliveries retry ${deliveries[0]!.id}`,
    });
  });

  it("names the cause that a rotation of the secret cannot have repaired", async () => {
    const endpoint = await world.endpoint("http://receiver.invalid/hook");
    const { deliveries } = await world.order();
    await advanceClock(world.api, 2);
    await world.api("POST", `/v1/webhook_endpoints/${endpoint}/rotate_secret`, {});
    expect(plain(await world.why(deliveries[0]!.id)).summary).toMatch(/^The host name receiver\.invalid could not be /);
  });
});
