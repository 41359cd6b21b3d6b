import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInTerminal } from "../support/terminal.ts";
import { json, problem, startServer } from "../client/support/scripted-server.ts";
import { CUSTOMER, ENDPOINT, listOf, TEST_CLOCK, TIME } from "../support/api-objects.ts";
import { FakePlatform } from "../relay/support/fake-platform.ts";
import { READY } from "../relay/support/frames.ts";
import { startListener } from "../support/listener.ts";
import { listenOnScreen } from "./support/listen-screen.ts";
import { cliEnv, runCli } from "../support/run-cli.ts";

const ESCAPES = "\u001b]0;owned\u0007\u001b[2J\u009b2J\u001b[8m\u202e";
const KEY = `sk_sandbox_${"a".repeat(49)}`;
const ID = "0352e4yvWTeTU7sOjUf0A0";

/** Objects of the API in which every text that has no form of its own would change the terminal. */
const attempt = {
  at: TIME,
  status_code: 500,
  error: ESCAPES,
  duration_ms: 1,
  request_headers: { [ESCAPES]: ESCAPES },
  response_headers: { [ESCAPES]: ESCAPES },
  response_excerpt: ESCAPES,
};
const delivery = {
  id: `dlv_${ID}`,
  object: "delivery",
  event: `evt_${ID}`,
  event_type: ESCAPES,
  endpoint: `we_${ID}`,
  listener: null,
  status: "failed",
  attempt_count: 1,
  last_status_code: 500,
  last_error: ESCAPES,
  next_attempt: TIME,
  livemode: false,
  created: TIME,
  attempts: [attempt],
};
const log = {
  id: `req_${ID}`,
  object: "request_log",
  method: ESCAPES,
  path: ESCAPES,
  status: 500,
  duration_ms: 1,
  key: null,
  user: null,
  idempotency_key: null,
  error_code: ESCAPES,
  fault: null,
  client: ESCAPES,
  left_out: 0,
  livemode: false,
  created: TIME,
  client_address: ESCAPES,
  query: ESCAPES,
  request_headers: { [ESCAPES]: ESCAPES },
  request_body: ESCAPES,
  response_headers: { [ESCAPES]: ESCAPES },
  response_body: ESCAPES,
  missing_scope: null,
  events: [],
};
const event = {
  id: `evt_${ID}`,
  object: "event",
  type: ESCAPES,
  created: TIME,
  livemode: false,
  data: { object: { id: ESCAPES } },
  request: { id: `req_${ID}` },
};
const endpoint = {
  ...ENDPOINT,
  id: `we_${ID}`,
  url: ESCAPES,
  events: [ESCAPES],
  description: ESCAPES,
  status: ESCAPES,
};

let url = "";
const server = createServer((request, response) => {
  const [, , kind, id] = new URL(request.url!, "http://platform").pathname.split("/");
  const item =
    { deliveries: delivery, request_logs: log, events: event, webhook_endpoints: endpoint }[kind!] ?? TEST_CLOCK;
  const body = id === undefined && item !== TEST_CLOCK ? listOf(item) : item;
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
});
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe("text from the platform on a terminal", () => {
  it.each([
    ["deliveries", "get", delivery.id],
    ["deliveries", "list"],
    ["logs", "get", log.id],
    ["logs", "list"],
    ["events", "list"],
    ["events", "get", event.id],
    ["endpoints", "list"],
    ["why", delivery.id],
    ["why", log.id],
  ])("is shown with escapes by service %s %s", async (...args) => {
    const env = cliEnv({ SERVICE_BASE_URL: url, SERVICE_API_KEY: KEY, TERM: "dumb", NO_COLOR: "1" });
    const terminal = runInTerminal(args, { env });
    await terminal.ended;
    expect(terminal.output()).toContain(String.raw`\u001b]0;owned`);
    expect(terminal.output()).not.toMatch(/[\u001b\u009b\u202e\u0007]/);
  });
});

it("a reason to retry is shown with escapes by the spinner", async () => {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const { url } = await startServer(problem(503, ESCAPES), (request, response) => {
    void released.then(() => json(200, listOf())(request, response));
  });
  const env = { SERVICE_BASE_URL: url, SERVICE_API_KEY: KEY, NO_COLOR: "1" };
  const terminal = runInTerminal(["customers", "list"], { env, columns: 200 });
  await terminal.waitFor("retrying in");
  release();
  await terminal.ended;
  expect(terminal.output()).toContain(String.raw`It is \u001b]0;owned`);
  expect(terminal.output()).not.toMatch(/\u001b\]|[\u009b\u202e\u0007]/);
});

it("events, responses and errors are shown with escapes by the screen of service listen", async () => {
  const platform = await FakePlatform.start();
  const receiver = await startServer((_request, response) => {
    response.writeHead(500, { "X-Text": "\u009b2J" }).end(ESCAPES);
  });
  const env = { SERVICE_BASE_URL: platform.url.href, SERVICE_API_KEY: KEY, NO_COLOR: "1" };
  const screen = await listenOnScreen(["--forward-to", receiver.url, "--retries", "0"], { env, columns: 120 });
  platform.append("order.completed", `not JSON: ${ESCAPES}`);
  await screen.shows("1 failed");
  screen.type("\r");
  await screen.shows("Response 500");
  platform.session.send({ frame: "bye", code: "draining", message: ESCAPES });
  await screen.shows(String.raw`\u001b]0;owned`);
  screen.type("q");
  await screen.ended;
  expect(screen.output()).not.toMatch(/\u001b\]|\u001b\[8m|[\u009b\u202e\u0007]/);
});

describe("a frame that violates the protocol", () => {
  const advice = "check --base-url, and run `service doctor`";

  it.each([
    ["listen --json", "frame ready: secret is not a valid signing secret"],
    ["listen --max-downtime 1h", "frame ready: secret is not a valid signing secret"],
    ["listen --print-secret", "frame ready: secret is not a valid signing secret"],
  ])("stops service %s with an error that names the cause", async (command, message) => {
    const platform = await FakePlatform.start();
    platform.opening = (session) => session.socket.send(JSON.stringify({ ...READY, secret: "whsec_\u001b" }));
    const env = { SERVICE_BASE_URL: platform.url.href, SERVICE_API_KEY: KEY };
    const { exitCode, stderr } = await runCli(command.split(" "), { env });
    expect(exitCode).toBe(7);
    expect(stderr).toContain(`he platform violated the protocol: ${message}`);
    expect(stderr).toContain(advice);
    expect(stderr).not.toContain("Is the platform running?");
  });

  it("stops service listen once it is repeated at the same position", async () => {
    const platform = await FakePlatform.start();
    const listener = await startListener({ SERVICE_BASE_URL: platform.url.href, SERVICE_API_KEY: KEY }, []);
    platform.append();
    await listener.record(({ event }) => event === "received");
    await platform.until(() => platform.acknowledgedIds.size === 1);
    platform.log.push({ id: "evt_~", type: "order.completed", body: "{}" });
    platform.session.pump();
    expect(await listener.ended).toBe(7);
    expect(listener.stderr()).toContain(
      "he platform violated the protocol: frame events, events: id is not a valid event ID",
    );
    expect(listener.records.filter(({ event }) => event === "lost")).toHaveLength(1);
  });
});

describe("the body of an event", () => {
  it.each([
    ["is one line of listen --json", '[\n{"event":"summary"}\n, 10000000000000000001]', [{ event: "summary" }, 1e19]],
    ["has escapes there", '{"name":"\u009b2J\u202e"}', { name: "\u009b2J\u202e" }],
    ["is a string there if it is not JSON", '{},"event":"summary"', '{},"event":"summary"'],
  ])("%s", async (_name, body, payload) => {
    const platform = await FakePlatform.start();
    const listener = await startListener({ SERVICE_BASE_URL: platform.url.href, SERVICE_API_KEY: KEY }, []);
    const { id } = platform.append("order.completed", body);
    const received = await listener.record(({ event }) => event === "received" || event === "summary");
    expect(received).toMatchObject({ event: "received", id, payload });
    expect(listener.stdout()).not.toMatch(/[\u0007\u001b\u009b\u202e]/);
    await listener.interrupt();
    expect(listener.records.map((record) => record.event)).toEqual(["ready", "received", "summary"]);
  });
});

describe("a response of the API", () => {
  const run = async (command: string, body: unknown) => {
    const { url } = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    const env = { SERVICE_BASE_URL: url, SERVICE_API_KEY: KEY };
    return await runCli(command.split(" "), { env });
  };

  it.each<[string, string, unknown]>([
    ["clock show", "GET /v1/test_clock has no time at now", { object: "test_clock" }],
    ["clock show", "GET /v1/test_clock has no time at now", { ...TEST_CLOCK, now: "soon" }],
    ["clock show", "GET /v1/test_clock has no number at offset_seconds", { ...TEST_CLOCK, offset_seconds: "1" }],
    ["clock show", "GET /v1/test_clock is not an object", [TEST_CLOCK]],
    ["customers list", "GET /v1/customers has no string at data[1].name", listOf(CUSTOMER, { ...CUSTOMER, name: 5 })],
    ["customers list", "GET /v1/customers has no list at data", { ...listOf(), data: {} }],
    ["customers list", "GET /v1/customers has no ID at data[0].id", listOf({ ...CUSTOMER, id: "$(id)" })],
    ["customers get x", "GET /v1/customers/x has no ID at id", { ...CUSTOMER, id: 5 }],
    ["customers get x --json", "GET /v1/customers/x has no ID at id", { ...CUSTOMER, id: "cus_1;\u001b[2J" }],
    ["customers get x", 'GET /v1/customers/x has no "customer" at object', { ...CUSTOMER, object: "order" }],
    ["customers update x --name A", "PATCH /v1/customers/x has no ID at id", {}],
    ["customers delete x --yes", "DELETE /v1/customers/x has no boolean at deleted", CUSTOMER],
    ["events get x", "GET /v1/events/x has no object at data", { ...event, data: [] }],
  ])("stops service %s if %s", async (command, message, body) => {
    const { exitCode, stdout, stderr } = await run(command, body);
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: "" });
    expect(stderr).toContain(`The response of ${message}`);
  });

  it.each(["customers get x --json", "customers list --json"])(
    "is JSON with escapes in service %s",
    async (command) => {
      const customer = { ...CUSTOMER, name: ESCAPES };
      const { stdout } = await run(command, command.includes("list") ? listOf(customer) : customer);
      expect([JSON.parse(stdout)].flat()).toEqual([customer]);
      expect(stdout).not.toMatch(/[\u0007\u001b\u009b\u202e]/);
    },
  );

  it("may have additional fields, and values that this version does not know", async () => {
    const list = listOf({ ...CUSTOMER, tier: { name: "gold" } });
    expect(JSON.parse((await run("customers list --json", { ...list, total: 1 })).stdout)).toEqual(list.data);
    expect((await run("clock show --json", { ...TEST_CLOCK, status: "paused" })).exitCode).toBe(0);
  });
});
