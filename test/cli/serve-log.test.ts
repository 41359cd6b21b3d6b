import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { formatCredential } from "../../src/contract/credentials.ts";
import { createJsonLog } from "../../src/platform/observability/json-log.ts";
import { startScriptedReceiver } from "../platform/delivery/support/scripted-receiver.ts";
import { apiOf } from "../support/api.ts";
import { type RunningPlatform, startPlatform } from "../support/platform.ts";
import { runCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";

const KEY = formatCredential("sk_sandbox_", Buffer.alloc(32, 9));

const running: RunningPlatform[] = [];
afterEach(async () => {
  for (const platform of running.splice(0)) await platform.stop();
});

async function start(...args: string[]) {
  const platform = await startPlatform(args);
  running.push(platform);
  const lines = () => platform.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { platform, lines, api: apiOf(platform.baseUrl, platform.sandboxKey) };
}

describe("service serve --json", () => {
  it("prints one line per request with level and time, and loses none at exit", async () => {
    const { platform, lines, api } = await start();
    const ids = [];
    for (let i = 0; i < 100; i++) ids.push((await api("GET", "/v1/orders")).headers.get("request-id"));
    expect(await platform.stop()).toBe(0);
    expect(lines()[0]).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      event: "request",
      method: "GET",
      path: "/v1/orders",
      status: 200,
      duration_ms: expect.any(Number),
      request_id: ids[0],
    });
    expect(lines().map((line) => line["request_id"])).toEqual([...ids, undefined]);
    expect(lines().at(-1)).toMatchObject({ level: "info", event: "stopping" });
  });

  it("prints no credential, wherever it occurs", async () => {
    const { platform, lines, api } = await start();
    await api("GET", `/v1/customers/${KEY}`);
    await api("GET", `/v1/customers?email=${KEY}`);
    await expect.poll(() => lines().length).toBe(2);
    expect(lines().map((line) => line["path"])).toEqual(["/v1/customers/sk_sandbox_…", "/v1/customers"]);
    expect(platform.lines.join("\n")).not.toContain(KEY.slice(-20));
    expect(platform.lines.join("\n")).not.toContain(platform.sandboxKey.slice(-20));
  });

  it("prints only problems with --log-level warn, fewer with error, but always the first line", async () => {
    const gone = await startScriptedReceiver((_request, response) => void response.writeHead(410).end());
    for (const [level, expected] of [
      ["warn", ["warning"]],
      ["error", []],
    ] as const) {
      const { platform, lines, api } = await start("--log-level", level);
      expect(platform.ready.event).toBe("ready");
      const endpoint = await api("POST", "/v1/webhook_endpoints", { url: gone.url, events: ["*"] });
      await api("POST", "/v1/customers", { email: "ada@example.com" });
      const status = async () => (await api("GET", `/v1/webhook_endpoints/${endpoint.body.id}`)).body.status;
      await expect.poll(status).toBe("disabled");
      await platform.stop();
      expect(lines().map(({ event }) => event)).toEqual(expected);
    }
    await gone.close();
  });

  it("logs a client that disconnects before the end of its body only at level debug", async () => {
    const { platform, lines, api } = await start("--log-level", "debug");
    for (const [path, type] of [
      ["/oauth/token", "application/x-www-form-urlencoded"],
      ["/sign-in", "application/x-www-form-urlencoded"],
      ["/v1/customers", "application/json"],
    ]) {
      const { hostname, port } = new URL(platform.baseUrl);
      const socket = connect(Number(port), hostname);
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${platform.sandboxKey}`;
      socket.write(`${head}\r\nContent-Type: ${type}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`);
      const [respond] = (await once(socket, "data")) as [Buffer];
      expect(respond.toString()).toMatch(/^HTTP\/1\.1 100 Continue/);
      socket.resetAndDestroy();
    }
    const aborted = { level: "debug", message: expect.stringContaining("before the end of the request") };
    await expect.poll(() => lines().filter(({ level }) => level !== "info")).toMatchObject([aborted, aborted, aborted]);
    expect((await api("GET", "/v1/me")).status).toBe(200);
  });

  it("rejects an unknown level", async () => {
    const { exitCode, stderr } = await runCli(["serve", "--ephemeral", "--log-level", "loud"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("debug, info, warn, error");
  });
});

describe("service serve on a terminal", () => {
  it("prints one line per request without credentials, and only problems with --log-level warn", async () => {
    for (const args of [[], ["--log-level", "warn"]]) {
      const session = runInTerminal(["serve", "--ephemeral", "--port", "0", ...args]);
      await session.waitFor("Press Ctrl-C to stop");
      const [, url = "", key = ""] = /ready at (\S+)[^]*sandbox +(\S+)/.exec(session.text()) ?? [];
      const env = { SERVICE_BASE_URL: url, SERVICE_API_KEY: key };
      expect(await runCli(["orders", "list"], { env })).toMatchObject({ exitCode: 0 });
      await apiOf(url, key)("GET", `/v1/customers/${KEY}`);
      if (args.length === 0) await session.waitFor(/404 {2}GET +\/v1\/customers\/sk_sandbox_… {2}req_\w+ {2}[\d.]+ ms/);
      session.type(CTRL_C);
      expect(await session.ended).toBe(0);
      expect(session.text()).not.toContain(KEY.slice(-20));
      expect(session.text().includes("/v1/customers")).toBe(args.length === 0);
      // Successful reads by the CLI are hidden.
      expect(session.text()).not.toContain("/v1/orders");
    }
  });
});

it("serve logs an error with its cause and stack, without properties that libraries add", () => {
  const written: string[] = [];
  const log = createJsonLog("info", (line) => written.push(line));
  const cause = Object.assign(new Error(`refused ${KEY}`), { headers: { authorization: "Bearer x" } });
  log.error({ err: new TypeError("it broke", { cause }), request_id: "req_1" }, "a request failed");
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(/^\{.*\}\n$/);
  expect(JSON.parse(written[0]!)).toEqual({
    level: "error",
    time: expect.any(String),
    event: "error",
    request_id: "req_1",
    message: "a request failed",
    err: {
      type: "TypeError",
      message: "it broke",
      stack: expect.stringContaining("serve-log.test.ts"),
      cause: { type: "Error", message: "refused sk_sandbox_…", stack: expect.any(String) },
    },
  });
});
