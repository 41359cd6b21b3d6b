import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInTerminal } from "../support/terminal.ts";
import { json, startServer } from "../client/support/scripted-server.ts";
import { FakePlatform } from "../relay/support/fake-platform.ts";
import { startListener } from "../support/listener.ts";
import { cliEnv, runCli } from "../support/run-cli.ts";

const ESCAPES = "\u001b]0;owned\u0007\u001b[2J\u009b2J\u001b[8m\u202e";
const ID = "0352e4yvWTeTU7sOjUf0A0";

/** Objects of the API in which every text that is not an ID or a kind would change the terminal. */
const attempt = {
  id: `atp_${ID}`,
  at: ESCAPES,
  status_code: 500,
  error: ESCAPES,
  duration_ms: 1,
  response_excerpt: ESCAPES,
};
const delivery = {
  object: "delivery",
  id: `dlv_${ID}`,
  event: `evt_${ID}`,
  endpoint: `we_${ID}`,
  listener: null,
  type: ESCAPES,
  status: "failed",
  attempt_count: 1,
  attempts: [attempt],
  next_attempt: ESCAPES,
  created: ESCAPES,
};
const log = {
  object: "request_log",
  id: `req_${ID}`,
  method: ESCAPES,
  path: ESCAPES,
  status: ESCAPES,
  error_code: ESCAPES,
  duration_ms: 1,
  created: ESCAPES,
  key: null,
  request_body: ESCAPES,
  response_body: ESCAPES,
  events: [],
};
const event = {
  object: "event",
  id: `evt_${ID}`,
  type: ESCAPES,
  created: ESCAPES,
  livemode: false,
  data: { object: { id: ESCAPES } },
  request: { id: `req_${ID}` },
};
const endpoint = {
  object: "webhook_endpoint",
  id: `we_${ID}`,
  url: ESCAPES,
  status: ESCAPES,
  events: [ESCAPES],
  created: ESCAPES,
};

let url = "";
const server = createServer((request, response) => {
  const [, , kind, id] = new URL(request.url!, "http://platform").pathname.split("/");
  const item = { deliveries: delivery, request_logs: log, events: event, webhook_endpoints: endpoint }[kind!] ?? {
    object: ESCAPES,
  };
  const body = id === undefined ? { object: "list", data: [item], has_more: false, next_cursor: null } : item;
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
});
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe("text of the platform on a terminal", () => {
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
    const key = `sk_sandbox_${"a".repeat(49)}`;
    const env = cliEnv({ SERVICE_BASE_URL: url, SERVICE_API_KEY: key, TERM: "dumb", NO_COLOR: "1" });
    const terminal = runInTerminal(args, { env });
    await terminal.ended;
    expect(terminal.output()).toContain(String.raw`\u001b]0;owned`);
    expect(terminal.output()).not.toMatch(/[\u001b\u009b\u202e\u0007]/);
  });
});

describe("the body of an event", () => {
  it.each([
    ["is one line of listen --json", '[\n{"event":"summary"}\n, 10000000000000000001]', [{ event: "summary" }, 1e19]],
    ["is a string there if it is not JSON", '{},"event":"summary"', '{},"event":"summary"'],
  ])("%s", async (_name, body, payload) => {
    const platform = await FakePlatform.start();
    const key = `sk_sandbox_${"a".repeat(49)}`;
    const listener = await startListener({ SERVICE_BASE_URL: platform.url.href, SERVICE_API_KEY: key }, []);
    const { id } = platform.append("order.completed", body);
    const received = await listener.record(({ event }) => event === "received" || event === "summary");
    expect(received).toMatchObject({ event: "received", id, payload });
    await listener.interrupt();
    expect(listener.records.map((record) => record.event)).toEqual(["ready", "received", "summary"]);
  });
});

describe("an object of the API", () => {
  it.each([
    ["an ID that is not one", { object: "customer", id: "cus_1;\u001b[2J" }],
    ["an ID that is not text", { object: "customer", id: 5 }],
    ["an item of a list with an ID that is not one", { object: "list", data: [{ id: "$(id)" }], has_more: false }],
  ])("is rejected if it has %s", async (_name, body) => {
    const { url } = await startServer(json(200, body));
    const env = { SERVICE_BASE_URL: url, SERVICE_API_KEY: `sk_sandbox_${"a".repeat(49)}` };
    for (const flags of [[], ["--json"]]) {
      const { exitCode, stdout, stderr } = await runCli(["customers", "get", `cus_${ID}`, ...flags], { env });
      expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: "" });
      expect(stderr).toContain("returned JSON that is not an object of the API");
    }
  });
});
