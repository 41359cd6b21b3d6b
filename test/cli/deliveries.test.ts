import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import stringWidth from "string-width";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import type { Attempt, Delivery } from "../../src/contract/schemas/delivery.ts";
import type { Event } from "../../src/contract/schemas/event.ts";
import { json as respond, startServer } from "../client/support/scripted-server.ts";
import { startListener } from "../support/listener.ts";
import { runInTerminal } from "../support/terminal.ts";
import { type Reaction, type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";

const cli = cliOnPlatform();
const { json, service } = cli;

const receivers: ScriptedReceiver[] = [];
const endpoints: string[] = [];
// Each test lists only the deliveries to its own endpoints.
afterEach(async () => {
  for (const id of endpoints.splice(0)) await service(["endpoints", "delete", id]);
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function newEndpoint(...reactions: Reaction[]): Promise<{ id: string; receiver: ScriptedReceiver }> {
  const receiver = await startScriptedReceiver(...reactions);
  receivers.push(receiver);
  const { id } = await json<{ id: string }>("endpoints", "create", "--url", receiver.url, "--events", "customer.*");
  endpoints.push(id);
  return { id, receiver };
}

/** Returns the endpoint's only delivery once it has this many attempts. */
async function delivered(endpoint: string, attempts: number): Promise<Delivery> {
  const list = () => json<Delivery[]>("deliveries", "list", "--endpoint", endpoint);
  await expect.poll(async () => (await list())[0]?.attempt_count).toBe(attempts);
  return (await list())[0]!;
}

describe("service deliveries list", () => {
  it("filters by endpoint, event and status", async () => {
    const good = await newEndpoint({ status: 200 });
    const bad = await newEndpoint({ status: 500 });
    const event = await json<Event>("trigger", "customer.created");
    const [first, second] = [await delivered(good.id, 1), await delivered(bad.id, 1)];
    expect(first).toMatchObject({ event: event.id, event_type: "customer.created", status: "succeeded" });
    expect(second).toMatchObject({ event: event.id, status: "pending", next_attempt: expect.any(String) });
    const ids = async (...args: string[]) =>
      (await json<Delivery[]>("deliveries", "list", ...args)).map(({ id }) => id).toSorted();
    expect(await ids("--event", event.id)).toEqual([first.id, second.id].toSorted());
    expect(await ids("--event", event.id, "--status", "pending")).toEqual([second.id]);
    expect(await ids("--endpoint", good.id)).toEqual([first.id]);
    expect(await ids("--endpoint", good.id, "--status", "failed")).toEqual([]);

    const { stdout } = await service(["deliveries", "list", "--endpoint", good.id]);
    const { id, created } = first;
    expect(stdout).toBe([id, "succeeded", event.type, "200", "1", good.id, event.id, "", created].join("\t") + "\n");
  });

  it("shows a listener's timeout in a word, and one line per delivery on 80 columns", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => silent.close().closeAllConnections());
    const { port } = silent.address() as AddressInfo;
    const args = ["--forward-to", `127.0.0.1:${port}`, "--timeout", "1s", "--retries", "0"];
    const listener = await startListener(cli.platform.env, args);
    const event = await json<Event>("trigger", "payment.created");
    await listener.record(({ event: name }) => name === "forwarded");
    await listener.interrupt();
    const list = ["deliveries", "list", "--event", event.id];
    await expect.poll(async () => (await json<Delivery[]>(...list)).length).toBe(1);
    const session = runInTerminal(list, { env: cli.platform.env, columns: 80 });
    expect(await session.ended).toBe(0);
    // A short age leaves room for the number of attempts.
    expect(session.text()).toMatch(/^dlv_\w{22} {2}failed +payment\.created +timeout( +1)? +(just now|\d+\w ago)$/m);
    const [id, , , response] = (await service(list)).stdout.split("\t");
    expect(response).toBe("timeout");
    const details = runInTerminal(["deliveries", "get", id!], { env: cli.platform.env, columns: 120 });
    expect(await details.ended).toBe(0);
    expect(details.text()).toMatch(/^Created +\S+Z {2}\(.+\), by the listener's report$/m);
  });

  it.each([
    [["--status", "done"], 2, "is not one of pending, succeeded, failed"],
    [["--event", "we_4Vf8aTqz0bKm2sNw9XyRcd"], 2, "event: must be the ID of a"],
  ])("rejects %j", async (args, exitCode, reason) => {
    expect(await service(["deliveries", "list", ...args])).toMatchObject({
      exitCode,
      stdout: "",
      stderr: expect.stringContaining(reason),
    });
  });
});

describe("service deliveries get", () => {
  it("prints the API's own object, with its attempts", async () => {
    const { id } = await newEndpoint({ status: 503, body: "busy" });
    await json("trigger", "customer.created");
    const delivery = await delivered(id, 1);
    expect(await json("deliveries", "get", delivery.id)).toEqual({
      ...delivery,
      attempts: [
        {
          at: expect.any(String),
          status_code: 503,
          error: null,
          duration_ms: expect.any(Number),
          request_headers: expect.objectContaining({ "Service-Event-Id": delivery.event }),
          response_headers: expect.objectContaining({ date: expect.any(String) }),
          response_excerpt: "busy",
          injected: null,
        },
      ],
    });
  });

  it("draws a timeline of attempts, responses and the next attempt on a terminal", async () => {
    const page = "<html>\n<h1>Oops \u001b[31m</h1>\n</html>";
    const { id } = await newEndpoint({ status: 500, body: page }, { status: 500, body: page }, "hang up");
    await json("trigger", "customer.created");
    await delivered(id, 1);
    await json("clock", "advance", "40s");
    await json("clock", "advance", "80s");
    const delivery = await delivered(id, 3);
    const session = runInTerminal(["deliveries", "get", delivery.id], { env: cli.platform.env, columns: 60 });
    expect(await session.ended).toBe(0);
    const drawn = session.text().slice(session.text().indexOf("Attempts"));
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    const lines = [
      "Attempts",
      String.raw`✗ 1  ${time}  500 {5}\S+ m?s`,
      "│    <html>",
      String.raw`│    <h1>Oops \\u001b\[31m</h1>`,
      "│    </html>",
      String.raw`│  [23]\d s later`,
      String.raw`✗ 2  ${time}  500 {5}\S+ m?s`,
      "│    same as above",
      String.raw`│  (\d\d s|1 min( \d+ s)?) later`,
      String.raw`✗ 3  ${time}  closed  \S+ m?s`,
      "│    the connection closed before the response was complete",
      String.raw`│  [12] min( \d+ s)? later`,
      String.raw`○ 4  ${time}  next attempt in ([12] min( \d+ s)?|\d+ s)`,
      "",
      "Retry it now:",
      `  service deliveries retry ${delivery.id}`,
    ];
    expect(drawn).toMatch(new RegExp(`^${lines.join("\n")}\n`));
  });

  it("prints one line per attempt in a pipe", async () => {
    const { id } = await newEndpoint({ status: 500, body: "a\tb\nc" }, { status: 204 });
    await json("trigger", "customer.created");
    await delivered(id, 1);
    await json("clock", "advance", "40s");
    const delivery = await delivered(id, 2);
    const { stdout, stderr } = await service(["deliveries", "get", delivery.id]);
    expect(stderr).toBe("");
    const lines = stdout.split("\n");
    expect(lines.slice(0, 5)).toEqual([
      `id\t${delivery.id}`,
      "status\tsucceeded",
      "type\tcustomer.created",
      `event\t${delivery.event}`,
      `receiver\t${id}`,
    ]);
    expect(lines.slice(-3)).toEqual([
      expect.stringMatching(/^attempt\t1\t[^\t]+Z\t500\t[\d.]+\t\ta\\tb\\nc$/),
      expect.stringMatching(/^attempt\t2\t[^\t]+Z\t204\t[\d.]+\t\t$/),
      "",
    ]);
    expect(await service(["deliveries", "get", delivery.id, "-q"])).toMatchObject({ stdout: `${delivery.id}\n` });
    expect(await service(["deliveries", "get", delivery.id, "--fields", "status,attempt_count"])).toMatchObject({
      stdout: "status\tsucceeded\nattempt_count\t2\n",
    });
  });

  const attempt = (more: Partial<Attempt>): Attempt => ({
    at: "2026-11-01T12:00:00Z",
    status_code: 500,
    error: null,
    request_headers: null,
    response_headers: null,
    duration_ms: 12,
    response_excerpt: null,
    injected: null,
    ...more,
  });
  const delivery = (more: Partial<Delivery>): Delivery => ({
    id: "dlv_1",
    object: "delivery",
    event: "evt_1",
    event_type: "order.completed",
    endpoint: "we_1",
    target: null,
    listener: null,
    status: "pending",
    attempt_count: 1,
    last_status_code: 500,
    last_error: null,
    last_attempt_at: "2026-11-01T12:00:00Z",
    next_attempt: null,
    attempting_since: null,
    livemode: false,
    created: "2026-11-01T12:00:00Z",
    ...more,
  });

  async function drawn(shown: Delivery, columns: number): Promise<string> {
    const { url } = await startServer(respond(200, shown));
    const env = { ...cli.platform.env, SERVICE_BASE_URL: url };
    const session = runInTerminal(["deliveries", "get", "dlv_1", "--no-color"], { env, columns });
    expect(await session.ended).toBe(0);
    return session.text();
  }

  it.each([60, 80, 100, 160, 200])("fits %i columns", async (columns) => {
    const excerpt = `{"error":"${"数据库 locked 🎉 ".repeat(40)}","token":"${"x".repeat(400)}"}`;
    const error = "blocked_target: the address 10.0.0.1 of internal.example.com is private and cannot be delivered to";
    const attempts = [
      attempt({ response_excerpt: excerpt }),
      attempt({ at: "2026-11-03T18:00:00Z", status_code: null, error }),
    ];
    const text = await drawn(delivery({ attempts, status: "failed" }), columns);
    expect(text).toContain("│  2 days 6 h later");
    expect(text).toMatch(/✗ 2 .* blocked /);
    expect(text).toContain("■ 3  failed: no more retries");
    expect(text).toMatch(/…\n/);
    for (const line of text.split("\n")) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
  });

  it("shows that no attempt is scheduled while the endpoint is disabled", async () => {
    expect(await drawn(delivery({ attempts: [attempt({})] }), 80)).toContain("○ 2  paused: the endpoint is disabled");
  });

  it("explains a redirect", async () => {
    const text = await drawn(delivery({ attempts: [attempt({ status_code: 302 })], status: "failed" }), 80);
    expect(text).toMatch(/✗ 1 .* 302 .*\n│ +redirects are not followed/);
  });
});

describe("service deliveries retry", () => {
  it("retries a pending delivery immediately", async () => {
    const { id, receiver } = await newEndpoint({ status: 500 });
    await json("trigger", "customer.created");
    const { id: delivery } = await delivered(id, 1);
    receiver.react({ status: 200 });
    expect(await json("deliveries", "retry", delivery)).toMatchObject({ id: delivery, status: "pending" });
    expect(await delivered(id, 2)).toMatchObject({ status: "succeeded", next_attempt: null });
    const { exitCode, stdout, stderr } = await service(["deliveries", "retry", delivery]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("409 delivery_not_retryable");
    expect(stderr).toMatch(/replay the event (evt_\w+) [^]*To replay it: service events replay \1\n/);
    expect(await service(["deliveries", "retry", "dlv_x"])).toMatchObject({ exitCode: 3 });
  });

  it("waits with --wait for the response, and exits with 1 unless it is 2xx", async () => {
    const { id } = await newEndpoint({ status: 503, body: "busy" }, { status: 500, body: "broken" }, { status: 204 });
    await json("trigger", "customer.created");
    const delivery = await delivered(id, 1);
    const retry = ["deliveries", "retry", delivery.id, "--wait"];
    const first = await service(retry);
    expect(first).toMatchObject({ exitCode: 1, stdout: "" });
    expect(first.stderr).toMatch(/^Error: 500 in \d.* ms: broken\nFor the likely cause: service why dlv_/);
    const { exitCode, stdout } = await service(retry);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^dlv_\w+\t204\t\d+\n$/) });
  });
});

describe("service trigger --wait", () => {
  it("exits with 0 once all deliveries succeeded", async () => {
    const { id } = await newEndpoint({ status: 200 });
    const { exitCode, stdout, stderr } = await service(["trigger", "customer.created", "--wait"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`\nDELIVERY\tdlv_\\w+\tsucceeded\t${id}\n$`));
  });

  it("shows the result of each delivery on a terminal", async () => {
    await newEndpoint({ status: 200 });
    await newEndpoint({ status: 204 });
    const session = runInTerminal(["trigger", "customer.created", "--wait"], { env: cli.platform.env });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(
      /succeeded +dlv_\w+ +to we_\w+\nsucceeded +dlv_\w+ +to we_\w+\n✓ 2 deliveries succeeded/,
    );
  });

  it("reports that neither an endpoint nor a listener received the event", async () => {
    const args = ["trigger", "order.created", "--wait", "--timeout", "1s"];
    const session = runInTerminal(args, { env: cli.platform.env });
    expect(await session.ended).toBe(1);
    const text = session.text().replaceAll(/\s+/g, " ");
    expect(text).toContain(
      "No deliveries: no enabled endpoint subscribes to this event type, and no listener forwarded it within 1 s",
    );
    expect(text).toMatch(/For the reason: service why evt_\w{22}/);
    const once = runInTerminal(["trigger", "order.created"], { env: cli.platform.env });
    expect(await once.ended).toBe(0);
    expect(once.text()).toContain("No endpoint or listener receives this event.");
  });

  it.each([
    [204, 0, "succeeded"],
    [500, 1, "failed"],
  ])("waits for a listener whose second attempt gets %i, and exits with %i", async (status, code, result) => {
    const receiver = await startScriptedReceiver({ status: 503 }, { status });
    receivers.push(receiver);
    const listener = await startListener(cli.platform.env, ["--forward-to", receiver.url, "--retries", "1"]);
    const { exitCode, stdout } = await service(["trigger", "customer.created", "--wait"]);
    expect(await listener.interrupt()).toBe(0);
    expect(stdout).toMatch(new RegExp(`\nDELIVERY\tdlv_\\w+\t${result}\tlsn_\\w+\n$`));
    expect(exitCode).toBe(code);
  });

  it("waits for each connected listener, whichever responds first", async () => {
    const good = await startScriptedReceiver({ status: 204 });
    const bad = await startScriptedReceiver({ status: 500 });
    receivers.push(good, bad);
    const flags = ["--retries", "1", "--forward-to"];
    const listeners = [
      await startListener(cli.platform.env, [...flags, good.url]),
      await startListener(cli.platform.env, [...flags, bad.url]),
    ];
    const { exitCode, stdout, stderr } = await service(["trigger", "customer.created", "--wait"]);
    for (const listener of listeners) expect(await listener.interrupt()).toBe(0);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("1 of 2 deliveries failed"),
    });
    expect(stdout.match(/\nDELIVERY\t/g)).toHaveLength(2);
  });

  it("exits with 1 once a delivery has permanently failed", async () => {
    const { id } = await newEndpoint({ status: 500 });
    const waiting = service(["trigger", "customer.created", "--wait", "--json"]);
    await delivered(id, 1);
    await json("clock", "advance", "4d");
    const { exitCode, stdout, stderr } = await waiting;
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ object: "event", type: "customer.created" });
    expect(JSON.parse(stderr)).toMatchObject({ code: "delivery_failed", detail: "1 delivery failed" });
  });

  it("stops after --timeout and lists the pending deliveries", async () => {
    const { id } = await newEndpoint({ status: 500 });
    await newEndpoint({ status: 200 });
    const { exitCode, stdout, stderr } = await service(["trigger", "customer.created", "--wait", "--timeout", "1s"]);
    expect(exitCode).toBe(1);
    const { id: delivery } = await delivered(id, 1);
    expect(stdout).toContain(`DELIVERY\t${delivery}\tpending\t${id}\n`);
    expect(stderr).toContain("Error: 1 of 2 deliveries still pending after 1 s\n");
    expect(stderr).toContain(`service why ${delivery}\n`);
  });
});
