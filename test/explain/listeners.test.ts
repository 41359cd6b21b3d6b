import { beforeEach, describe, expect, it } from "vitest";
import { advanceClock } from "../support/advance-clock.ts";
import { freePort } from "../support/free-port.ts";
import { spawnListener, startListener } from "../support/listener.ts";
import { explained, plain } from "./support/explained.ts";

/** Paths that respond with 500. */
const failing = new Set<string>();
/** Error responses by path. */
const RESPONSES: Record<string, [status: number, body: string, headers?: Record<string, string>]> = {
  "/302": [302, "", { Location: "/moved" }],
  "/csrf": [403, "Invalid CSRF token"],
  "/login": [401, "", { "WWW-Authenticate": "Basic" }],
  "/401": [401, "no"],
  "/400": [400, "bad"],
  "/410": [410, ""],
  "/415": [415, ""],
  "/429": [429, "", { "Retry-After": "3600" }],
  "/502": [502, ""],
};
const VERIFY = "check that it uses the same secret and the raw body";
const HANG_UP = "Check whether the receiver crashed. If it serves https, use https://. Then replay the event";
const NOT_HTTP = "Check what listens on that port. If it serves https, use https://. Then replay the event";
/** Reject the signatures of requests that wait for it. */
const rejections: (() => void)[] = [];
const world = explained(({ path, headers: sent }, response) => {
  if (sent["session"] === "2") {
    return void rejections.push(() => response.writeHead(400).end("signature mismatch"));
  }
  if (path === "/hang-up") return void response.destroy();
  if (path === "/not-http") return void response.socket!.end("hello I am not http\r\n");
  const [status, body, headers] = failing.has(path)
    ? ([500, "the warehouse is closed"] as const)
    : (RESPONSES[path] ?? [200, "ok"]);
  response.writeHead(status, headers).end(body);
});
beforeEach(async () => {
  await world.clear();
});

/** Returns a command that forwards to this receiver. */
const forwarding = (fix: string | null) => fix!.replace(/--forward-to \S+/, `--forward-to ${world.receiver.url}`);
const succeeded = (event: string, count = 1) =>
  expect.poll(async () => (await world.deliveries(`event=${event}&status=succeeded`)).length).toBe(count);

describe("service why for an event and a listener", () => {
  it("reports that a listener excluded it or disconnected", async () => {
    const listener = await startListener(world.env, ["--forward-to", world.receiver.url, "--events", "customer.*"]);
    const { event } = await world.order(0);
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      summary: "No endpoint subscribes to order.created, nor does the connected listener",
      evidence: "The listener subscribes to customer.*",
      action: "Send the event to your application now, and include its type in --events of the listener",
      fix: `service events replay ${event.id} --forward-to ${world.receiver.url.replace("http://", "")}`,
    });
    await listener.interrupt();
    await expect.poll(async () => (await world.api("GET", "/v1/statistics")).body.listeners).toBe(0);
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "no_receiver",
      summary: "No endpoint subscribes to order.created, and no listener is connected",
    });
  });

  it("reports that a listener is still forwarding it, or ended before its next attempt", async () => {
    const url = `${world.receiver.url}/hang-up`;
    const listener = await spawnListener(world.env, ["--forward-to", url, "--retries", "10"]);
    const { event } = await world.order(0);
    await listener.record(({ event: name }) => name === "forwarded");
    await expect.poll(async () => (await world.why(event.id)).code).toBe("connection_closed");
    expect(plain(await world.why(event.id))).toMatchObject({
      summary: expect.stringMatching(
        /^Your application closed the connection .+; the listener's next attempt is due (at T|now)$/,
      ),
      evidence: expect.stringMatching(/^Attempt \d at T: closed/),
      action: HANG_UP.replace("replay the event", "check the listener's next attempt"),
      fix: null,
    });
    await listener.kill();
    // It might resume at first.
    await expect.poll(() => world.deliveries(`event=${event.id}&status=failed`)).toHaveLength(1);
    const answer = await world.why(event.id);
    expect(plain(answer)).toMatchObject({
      code: "connection_closed",
      summary: expect.stringMatching(/^Your application closed the connection .+$/),
      evidence: expect.stringMatching(/^Attempt \d at T: closed/),
      action: HANG_UP,
      fix: `service events replay ${event.id} --forward-to ${url.replace("http://", "")}`,
    });
    await world.run(forwarding(answer.fix));
    await succeeded(event.id);
  });

  it.each([
    [
      ["--where", "data.object.amount=7", "--forward-to", "localhost:4000/hooks"],
      "The listener did not forward the event: its --where excludes it",
      /^lsn_\w+ reported that its filter excludes the event$/,
      "Forward the event without the filter",
      "localhost:4000/hooks",
    ],
    [
      [],
      "The listener printed the event without forwarding it: it has no --forward-to or --route for order.created",
      /^lsn_\w+ reported that it did not forward the event$/,
      "Forward the event to your application",
      // An earlier session of the same listener may have had a target.
      "\\S+",
    ],
  ])(
    "reports that a listener with %j did not forward it, even after it exited",
    async (args, summary, evidence, action, target) => {
      const listener = await startListener(world.env, args);
      const { event } = await world.order(0);
      const fix = expect.stringMatching(new RegExp(`^service events replay ${event.id} --forward-to ${target}$`));
      const expected = { code: "not_forwarded", summary, evidence: expect.stringMatching(evidence), action, fix };
      await expect.poll(async () => (await world.why(event.id)).code).toBe("not_forwarded");
      expect(await world.why(event.id)).toMatchObject(expected);
      await listener.interrupt();
      await world.endpoint("/later");
      expect(await world.why(event.id)).toMatchObject(expected);
      await world.clear();
      await world.run(forwarding((await world.why(event.id)).fix));
      await succeeded(event.id);
    },
  );

  it("reports what a listener forwarded to, and replays what it did not deliver", async () => {
    const port = await freePort();
    const listener = await startListener(world.env, ["--forward-to", `http://127.0.0.1:${port}/a`, "--retries", "0"]);
    const { event } = await world.order(0);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(1);
    await listener.interrupt();
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "connection_refused",
      summary: `Connection refused: no server is listening at 127.0.0.1:${port}`,
      action: "Start your application there, then replay the event",
      fix: `service events replay ${event.id} --forward-to 127.0.0.1:${port}/a`,
    });
  });

  it.each([
    ["/302", "redirect", "Use the redirect's target; redirects are not followed", "/moved"],
    ["/csrf", "receiver_unauthorized", "Exempt the path from CSRF protection, then replay the event"],
    [
      "/login",
      "receiver_unauthorized",
      "Let this path verify the signature instead of requiring a login, then replay the event",
    ],
    [
      "/401",
      "receiver_unauthorized",
      `If your application verifies signatures, ${VERIFY}; if it requires a login, let this path verify the signature instead, then replay the event`,
    ],
    [
      "/400",
      "receiver_rejected",
      `If your application verifies signatures, ${VERIFY}; otherwise change it so that it accepts the event, then replay the event`,
    ],
    ["/410", "endpoint_disabled", "Handle POST at this path, or correct --forward-to, then replay the event"],
    ["/415", "receiver_rejected", "Accept Content-Type: application/json in your application, then replay the event"],
    ["/502", "receiver_error", "Start the application, or correct its address in the proxy, then replay the event"],
    ["/hang-up", "connection_closed", HANG_UP],
    ["/not-http", "invalid_response", NOT_HTTP],
  ])("gives the advice of the listener's own hint for %s", async (path, code, action, fixed = path) => {
    const url = world.receiver.url + path;
    const listener = await startListener(world.env, ["--forward-to", url, "--retries", "0"]);
    const { event } = await world.order(0);
    const { hint } = await listener.record(({ event: name }) => name === "forwarded");
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(1);
    await listener.interrupt();
    const fix = `service events replay ${event.id} --forward-to ${world.receiver.url.replace("http://", "")}${fixed}`;
    expect(await world.why(event.id)).toMatchObject({ code, action, fix });
    const inListen = action.replace("your application", "the receiver").replace("--forward-to", "the URL");
    expect(hint).toContain(inListen.split(/,? [Tt]hen replay/)[0]);
  });

  it("says how long an application wants a pause, until that is over", async () => {
    const url = `${world.receiver.url}/429`;
    const listener = await startListener(world.env, ["--forward-to", url, "--retries", "0"]);
    const { event } = await world.order(0);
    const { hint } = await listener.record(({ event: name }) => name === "forwarded");
    expect(hint).toContain("Retry-After: 3600");
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(1);
    await listener.interrupt();
    expect(await world.why(event.id)).toMatchObject({
      code: "rate_limited",
      summary: "Your application responded with 429 and Retry-After: 3600",
      action: "Your application asks for a pause of 1 h. Replay the event afterwards",
    });
    await advanceClock(world.api, 3600);
    expect(plain(await world.why(event.id)).action).toMatch(
      /^Replay the event: its pause of 1 h has been over since \S+Z$/,
    );
  });

  it.each([
    ["http://nohost.invalid/hooks", "dns", "dns", "3000/hooks"],
    ["https:RECEIVER", "tls", "tls", "RECEIVER"],
    ["http:RECEIVER/hang-up", "connection_closed", "closed", "RECEIVER/hang-up"],
    ["http:RECEIVER/not-http", "invalid_response", "not HTTP", "RECEIVER/not-http"],
  ])("names the error of %s, in the lists of attempts too", async (to, code, short, fixed) => {
    const host = world.receiver.url.replace("http:", "");
    const target = to.replace("RECEIVER", host);
    const listener = await startListener(world.env, ["--forward-to", target, "--retries", "0"]);
    const { event } = await world.order(0);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(1);
    await listener.interrupt();
    const fix = `service events replay ${event.id} --forward-to ${fixed.replace("RECEIVER", host.slice(2))}`;
    expect(await world.why(event.id)).toMatchObject({ code, evidence: expect.stringContaining(short), fix });
    expect((await world.service(["why", event.id])).stdout).toMatch(new RegExp(`^ +1 \\S+  ${short}`, "m"));
    expect((await world.service(["deliveries", "list", "--event", event.id])).stdout).toContain(`\t${code}\t`);
    const { event: later } = await world.order(0);
    expect((await world.why(later.id)).fix).not.toContain("nohost.invalid");
  });

  it("reports that no listener was connected, since when, and how to get the event", async () => {
    const first = await spawnListener(world.env, [
      "--forward-to",
      `${world.receiver.url}/hooks`,
      "--events",
      "order.*",
    ]);
    await world.endpoint("/c", ["customer.*"], "Customers");
    await world.endpoint("/p", ["payment.*"], "Payments");
    await first.kill();
    await expect.poll(async () => (await world.api("GET", "/v1/statistics")).body.listeners).toBe(0);
    const { event } = await world.order(0);
    const target = `${world.receiver.url.replace("http://", "")}/hooks`;
    const answer = await world.why(event.id);
    expect(plain(answer)).toMatchObject({
      code: "listener_disconnected",
      summary: "No listener was connected when the event happened: the last one disconnected at T",
      evidence: expect.stringMatching(
        /^lsn_\w+ forwarded order\.created to http:\/\/127\.0\.0\.1:\d+\/hooks from T to T\. No endpoint subscribes to order\.created\. Payments subscribes to /,
      ),
      action: "Forward the event to your application now",
      fix: `service events replay ${event.id} --forward-to ${target}`,
    });
    const later = await startListener(world.env, ["--forward-to", world.receiver.url]);
    expect(await world.why(event.id)).toMatchObject({
      code: "listener_disconnected",
      action: "Replay the event to the connected listener",
      fix: `service events replay ${event.id}`,
    });
    await later.interrupt();
    await world.run(answer.fix);
    await succeeded(event.id);
    expect(world.receiver.received.at(-1)).toMatchObject({ path: "/hooks", event: event.id });
  });

  it("does not count the attempts of two sessions of a listener as those of one", async () => {
    failing.add("/local");
    const url = `${world.receiver.url}/local`;
    const args = ["--forward-to", url, "--retries", "1"];
    const sessions = [await startListener(world.env, args), await startListener(world.env, args)];
    const { event } = await world.order(0);
    for (const one of sessions) await one.record(({ event: name, attempt }) => name === "forwarded" && attempt === 2);
    await expect
      .poll(async () => plain(await world.why(event.id)).summary)
      .toBe("Your application responded with 500; all attempts of 2 sessions failed, and no retries are left");
    expect(plain(await world.why(event.id)).evidence).toMatch(/^Last attempt at T: 500 in N ms/);
    expect((await world.service(["why", event.id])).stdout).toContain(`${url} by 2 sessions of listener lsn_`);
    failing.clear();
    for (const one of sessions) await one.interrupt();
  });

  it("tells from an application's secret that a session signs with another one", async () => {
    const url = `${world.receiver.url}/sessions`;
    const args = ["--forward-to", url, "--retries", "0"];
    const sessions = [
      await startListener(world.env, args),
      await startListener({ ...world.env, SERVICE_WEBHOOK_SECRET: "whsec_another" }, [...args, "-H", "Session: 2"]),
    ];
    const { event } = await world.order(0);
    await succeeded(event.id);
    await expect.poll(() => rejections.length).toBe(1);
    for (const reject of rejections.splice(0)) reject();
    const known = "Your application rejected the signature with 400; another attempt succeeded with 200 at T";
    await expect.poll(async () => plain(await world.why(event.id)).summary).toBe(known);
    const [delivery] = await world.deliveries(`event=${event.id}`);
    expect(await world.why(event.id)).toMatchObject({
      action: "Start all sessions of `service listen` with the same secret, or stop the others",
      fix: `service why ${delivery!.listener}`,
    });
    for (const one of sessions) await one.interrupt();
    await expect.poll(async () => (await world.why(event.id)).fix).toBe("service listen --print-secret");
    expect((await world.why(event.id)).action).toMatch(
      /Compare its secret with the listener's \(after the repair: `service events replay \S+ --forward-to \S+`\)$/,
    );
    expect(plain(await world.why(event.id)).summary).toBe(known);
    const env = { SERVICE_WEBHOOK_SECRET: "whsec_another" };
    expect((await world.service(["listen", "--print-secret"], { env })).stdout).toBe("whsec_another\n");
  });

  it("explains the ID that sessions share, and names the targets of both", async () => {
    for (const path of ["/one", "/two"]) failing.add(path);
    const targets = ["one", "two"].map((path) => `${world.receiver.url}/${path}`);
    const sessions = [];
    for (const url of targets) {
      sessions.push(await startListener(world.env, ["--forward-to", url, "--retries", "0"]));
    }
    const { event } = await world.order(0);
    await expect.poll(async () => (await world.deliveries(`event=${event.id}&status=failed`)).length).toBe(2);
    const [delivery] = await world.deliveries(`event=${event.id}`);
    const id = delivery!.listener!;
    const names = targets.map((url) => url.replace("http://", ""));
    expect(plain(await world.why(event.id)).evidence).toMatch(/^Not delivered to \S+ and \S+$/);
    for (const name of names) expect((await world.why(event.id)).evidence).toContain(name);
    const shared = await world.why(id);
    expect(plain(shared)).toMatchObject({
      code: "listener_connected",
      summary: "2 sessions of `service listen` share this ID, because they use the same credential",
    });
    for (const url of targets) expect(shared.evidence).toContain(`forwards to ${url}, since `);
    for (const one of sessions) await one.interrupt();
    await expect.poll(async () => (await world.why(id)).code).toBe("listener_disconnected");
    expect((await world.why(id)).fix).toMatch(/^service listen --forward-to http:\S+$/);
    const routes = ["order.created", "customer.*"].flatMap((types) => ["--route", `${types}=${targets[0]}`]);
    const routed = await startListener(world.env, [...routes, "--forward-to", targets[1]!]);
    await expect
      .poll(async () => (await world.why(id)).summary)
      .toBe(
        `A session of \`service listen\` forwards order.created to ${targets[0]}, customer.* to ${targets[0]}, everything else to ${targets[1]}`,
      );
    await routed.interrupt();
    await expect.poll(async () => (await world.why(id)).code).toBe("listener_disconnected");
    expect((await world.why(id)).fix).toBe(
      `service listen --route order.created=${targets[0]} --route 'customer.*=${targets[0]}' --forward-to ${targets[1]}`,
    );
    failing.clear();
    expect(await world.service(["why", "lsn_4Vf8aTqz0bKm2sNw9XyRcd"])).toMatchObject({ exitCode: 3 });
  });

  it("lists what listeners retry or have not delivered, until they have", async () => {
    await world.endpoint("/a", undefined, "Billing");
    failing.add("/local");
    const url = `${world.receiver.url}/local`;
    const listener = await spawnListener(world.env, ["--forward-to", url, "--events", "order.*", "--retries", "10"]);
    const { event } = await world.order();
    await succeeded(event.id);
    const listed = async () => (await world.api("GET", "/v1/statistics")).body.listener_results;
    await expect.poll(listed).toMatchObject([{ event: event.id, result: "forwarding" }]);
    for (let count = 0; count < 6; count++) await world.api("POST", "/v1/customers", { email: `${count}@example.com` });
    const newest = async () => (await world.service(["why"])).stdout;
    expect(await newest()).toMatch(
      /^Cause: Your application responded with 500; .+\. order\.created reached 1 of 2 receivers\.$/m,
    );
    await listener.kill();
    await expect.poll(listed).toMatchObject([{ event: event.id, result: "disconnected" }]);
    expect(await newest()).toContain(", and the listener disconnected at ");
    expect(plain(await world.why(event.id))).toMatchObject({
      code: "listener_disconnected",
      summary:
        "Your application responded with 500, and the listener disconnected at T, before the next attempt. order.created reached 1 of 2 receivers",
    });
    failing.clear();
    const next = await startListener(world.env, ["--forward-to", url]);
    await world.service(["events", "replay", event.id]);
    await succeeded(event.id, 3);
    expect(await listed()).toEqual([]);
    expect(await newest()).not.toContain(event.id);
    await next.interrupt();
  });

  it("reports what failed while a listener retries, although an endpoint received the event", async () => {
    await world.endpoint("/a", undefined, "Billing");
    const url = `${world.receiver.url}/local`;
    const listener = await startListener(world.env, ["--forward-to", url, "--retries", "10"]);
    failing.add("/local");
    const { event } = await world.order();
    await succeeded(event.id);
    const isRetried = ({ event: name, attempt }: { event: string; attempt?: unknown }) =>
      name === "forwarded" && attempt === 2;
    await listener.record(isRetried);
    const answer = await world.why(event.id);
    expect(plain(answer)).toMatchObject({
      code: "receiver_error",
      summary: expect.stringMatching(
        /^Your application responded with 500; the listener's next attempt is due (at T|now)\. order\.created reached 1 of 2 receivers$/,
      ),
      evidence: expect.stringMatching(/^Attempt \d at T: 500 in N ms, "the warehouse is closed"$/),
      action: "Fix the error in your application, then check the listener's next attempt",
      fix: null,
    });
    failing.clear();
    await succeeded(event.id, 2);
    expect(plain(await world.why(event.id)).summary).toBe("Delivered to both receivers");
    await listener.interrupt();
  });
});
