import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeWebhook } from "../../src/webhooks/index.ts";
import { startApplication } from "../receiver-check/support/application.ts";
import { receiverWith, VERIFIERS } from "../receiver-check/support/provider-receivers.ts";
import { apiOf } from "../support/api.ts";
import { BIN, cliEnv, runCli, spawnCli } from "../support/run-cli.ts";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { kitPlatform } from "../testing/kit.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SECRET = `whsec_${"m".repeat(43)}`;

/** Of an MCP client, as far as the tests read it. */
interface Configuration {
  mcpServers: { service: { command: string; args: string[] } };
}

const platform = kitPlatform();
let full: Client;
const clients: Client[] = [];
const strayOutput: Error[] = [];
let warnings = "";

/** An MCP client connected to the built command, which uses this key. */
async function connect(key: string, ...flags: string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const env = cliEnv({ ...platform.env, SERVICE_API_KEY: key });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, "mcp", ...flags],
    env,
    stderr: "pipe",
  });
  transport.stderr!.on("data", (text) => (warnings += String(text)));
  // Collects output on stdout that is not a protocol message.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is no EventTarget
  client.onerror = (error) => {
    if (error instanceof SyntaxError || error.name === "ZodError") strayOutput.push(error);
  };
  await client.connect(transport);
  clients.push(client);
  return client;
}

beforeAll(async () => {
  full = await connect(platform.apiKey);
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
});

async function call(name: string, args: Record<string, unknown> = {}, client = full): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: args })) as CallToolResult;
}

/** Returns the result of a successful call, and expects its text and structured content to match. */
async function result(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { isError, content, structuredContent } = await call(name, args);
  expect(isError, textOf({ content })).toBeUndefined();
  expect(JSON.parse(textOf({ content }))).toEqual(structuredContent);
  return structuredContent!;
}

function textOf({ content }: Pick<CallToolResult, "content">): string {
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

async function toolNames(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

describe("service mcp --tools", () => {
  it("offers only the given tools or groups", async () => {
    const client = await connect(platform.apiKey, "--tools", "events,check_receiver");
    const names = ["list_events", "get_event", "replay_event", "trigger_event", "wait_for_event", "check_receiver"];
    expect(await toolNames(client)).toEqual(names);
    const refused = client.callTool({ name: "get_order", arguments: {} });
    await expect(refused).rejects.toThrow("Unknown tool get_order");
  });

  it("lists the groups after a misspelled one", async () => {
    const env = { ...platform.env, SERVICE_API_KEY: platform.apiKey };
    const { exitCode, stderr } = await runCli(["mcp", "--tools", "event"], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/group of tools "event"\n.*Groups: customers, .*receivers/);
  });

  it("lists the groups even without a credential", async () => {
    const { exitCode, stderr } = await runCli(["mcp", "--tools", "event"], { env: { SERVICE_CONFIG_DIR: "/nowhere" } });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Unknown tool or group of tools "event"')]);
  });

  it("reports the settings folder in which it found no credential", async () => {
    const { stderr } = await runCli(["mcp"], { env: { SERVICE_CONFIG_DIR: "/nowhere" } });
    expect(stderr).toContain('profile "default" has no credential in /nowhere');
  });
});

describe("service mcp", () => {
  it("describes the sandbox's account", async () => {
    const { account } = await platform.request<{ account: { id: string } }>("GET", "/v1/me");
    expect(full.getServerVersion()).toMatchObject({ name: "service" });
    expect(full.getInstructions()).toContain(account.id);
  });

  it("lists tools with the contract's schemas and their effects", async () => {
    const { tools } = await full.listTools();
    const tool = (name: string) => tools.find((tool) => tool.name === name)!;
    expect(tool("create_order").inputSchema).toMatchObject({
      type: "object",
      required: ["amount", "currency"],
      properties: { amount: { type: "integer", minimum: 0 } },
      additionalProperties: false,
    });
    expect(tool("get_order").annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(tool("delete_customer").annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(JSON.stringify(tools)).not.toMatch(/"\$id"|-id"/);
  });

  it("handles many concurrent calls without a warning", async () => {
    const orders = Array.from({ length: 30 }, () => result("create_order", { amount: 1, currency: "EUR" }));
    expect(new Set((await Promise.all(orders)).map(({ id }) => id)).size).toBe(30);
    expect(warnings).toBe("");
  });

  it("starts with the configuration in its help and docs, even if the system has another service command", async () => {
    const [configuration, inDocs] = [
      (await runCli(["mcp", "--help"])).stdout,
      readFileSync(join(ROOT, "docs/mcp.md"), "utf8"),
    ].map((text) => JSON.parse(/\{\s*"mcpServers"[^}]*\}\s*\}\s*\}/.exec(text)![0]) as Configuration);
    const { command, args } = configuration!.mcpServers.service;
    expect(args).toEqual([BIN, "mcp"]);
    const installed = "/home/ada/shop/node_modules/service-cli/bin/service.js";
    expect(inDocs!.mcpServers.service).toEqual({ command, args: [installed, "mcp"] });
    const project = mkdtempSync(join(tmpdir(), "service-mcp-"));
    writeFileSync(join(project, "service"), "#!/bin/sh\necho unrecognized service >&2\nexit 1\n");
    chmodSync(join(project, "service"), 0o755);
    const client = new Client({ name: "test", version: "1" });
    clients.push(client);
    const { env } = process;
    const path = [project, dirname(process.execPath), env["PATH"]].join(delimiter);
    const transport = new StdioClientTransport({
      command,
      args,
      cwd: project,
      env: { ...cliEnv({ ...platform.env, SERVICE_API_KEY: platform.apiKey }), PATH: path },
      stderr: "ignore",
    });
    await client.connect(transport);
    expect(await toolNames(client)).toContain("create_order");
  });

  it("explains an invalid ID", async () => {
    const wrong = async (args: Record<string, unknown>) => textOf(await call("get_customer", args));
    expect(await wrong({ id: 1, extra: 2 })).toContain("id must be a string");
    expect(await wrong({})).toContain("id is required");
    expect(textOf(await call("explain", {}))).toMatch(/\bid is required$/m);
  });

  it("restores and deletes a saved state by its name", async () => {
    const { id } = await result("create_customer", { email: "saved@example.com" });
    const name = "one-customer";
    await result("save_snapshot", { name });
    await result("delete_customer", { id });
    expect(await result("restore_snapshot", { name })).toMatchObject({ object: "sandbox", snapshot: name });
    expect(await result("get_customer", { id })).toMatchObject({ id });
    expect(textOf(await call("delete_snapshot", {}))).toContain("name is required");
    expect(await result("delete_snapshot", { name })).toMatchObject({ name });
    const descriptions = JSON.stringify((await full.listTools()).tools.map(({ inputSchema }) => inputSchema));
    expect(descriptions).not.toContain("undefined");
  });

  it("manages customers", async () => {
    const created = await result("create_customer", { email: "mcp@example.com", metadata: { plan: "pro" } });
    expect(created).toMatchObject({ object: "customer", email: "mcp@example.com", livemode: false });
    const id = created["id"];
    expect(await result("get_customer", { id })).toEqual(created);
    expect(await result("update_customer", { id, name: "Ada", metadata: { plan: null } })).toMatchObject({
      name: "Ada",
      metadata: {},
    });
    expect(await result("list_customers", { limit: 1, email: "mcp@example.com" })).toMatchObject({ data: [{ id }] });
    expect(await result("delete_customer", { id })).toMatchObject({ id, deleted: true });
  });

  it("manages orders, events, deliveries and replays", async () => {
    const application = await startApplication((work) =>
      nodeWebhook({ secrets: () => secret }, ({ id }, _request, response) => {
        work.act(id);
        response.writeHead(204).end();
      }),
    );
    const api = apiOf(platform.baseUrl, platform.apiKey);
    const endpoint = await api("POST", "/v1/webhook_endpoints", { url: application.webhooks, events: ["order.*"] });
    const secret = endpoint.body.secret as string;
    const order = await result("create_order", { amount: 700, currency: "EUR" });
    expect(await result("complete_order", { id: order["id"] })).toMatchObject({ status: "completed" });
    const events = (await result("list_events", { related: order["id"], type: "order.completed" }))["data"] as {
      id: string;
    }[];
    expect(await result("get_event", { id: events[0]!.id })).toEqual(events[0]);
    const replay = await result("replay_event", { id: events[0]!.id });
    expect(replay).toMatchObject({ object: "replay", event: events[0]!.id });
    const deliveries = (await result("list_deliveries", { event: events[0]!.id }))["data"] as { id: string }[];
    expect(deliveries).toHaveLength(2);
    expect(await result("get_delivery", { id: deliveries[0]!.id })).toMatchObject({ event_type: "order.completed" });
    expect(await result("explain", { id: events[0]!.id })).toMatchObject({ object: "explanation", kind: "event" });
    await api("DELETE", `/v1/webhook_endpoints/${endpoint.body.id}`);
    application.close();
  });

  it("triggers events", async () => {
    const event = await result("trigger_event", {
      type: "payment.failed",
      overrides: { amount: 5, "metadata.plan": "pro", failure_code: "insufficient_funds" },
    });
    expect(event).toMatchObject({
      type: "payment.failed",
      data: { object: { amount: 5, metadata: { plan: "pro" }, failure_code: "insufficient_funds" } },
    });
    const many = await result("trigger_event", { type: "order.created", count: 3 });
    expect(many["data"]).toHaveLength(3);
    expect(await result("trigger_event", { type: "order.completed", data: { id: "mine" } })).toMatchObject({
      data: { object: { id: "mine" } },
    });
  });

  it("advances the test clock", async () => {
    const before = await result("get_test_clock");
    const after = await result("advance_test_clock", { seconds: 60 });
    expect(Number(after["offset_seconds"]) - Number(before["offset_seconds"])).toBe(60);
  });

  it("checks a receiver on this machine only, and reports progress", async () => {
    const application = await startApplication((work) =>
      nodeWebhook({ secrets: SECRET }, ({ id }, _request, response) => {
        work.once(id);
        response.writeHead(204).end();
      }),
    );
    const reported: string[] = [];
    const args = { url: application.webhooks, secret: SECRET, probe: application.count };
    const { structuredContent: report } = await full.callTool({ name: "check_receiver", arguments: args }, undefined, {
      onprogress: ({ progress, total, message }) => reported.push(`${progress}/${total} ${message}`),
    });
    expect(reported[0]).toBe("1/27 Accepts a valid delivery");
    expect(report).toMatchObject({ object: "receiver_check", grade: "A", passed: true });
    application.close();
    for (const args of [
      { url: "http://192.0.2.1/hook", secret: SECRET },
      { url: application.webhooks, secret: SECRET, probe: "http://192.0.2.1/count" },
    ]) {
      const rejected = await call("check_receiver", args);
      expect(rejected.isError).toBe(true);
      expect(textOf(rejected)).toContain("192.0.2.1 is not on this machine");
    }
    expect(textOf(await call("check_receiver", { url: "localhost:1" }))).toContain("secret is required");
  });

  it("checks a receiver of another provider with the provider's payload", async () => {
    const application = await startApplication(receiverWith(VERIFIERS.github, SECRET));
    const args = { url: application.webhooks, secret: SECRET, probe: application.count, scheme: "github" };
    const { structuredContent: report } = await full.callTool({
      name: "check_receiver",
      arguments: { ...args, payload: '{"ref":"refs/heads/main"}' },
    });
    expect(report).toMatchObject({ grade: "A", counts: { not_applicable: 7 } });
    const sample = await full.callTool({ name: "check_receiver", arguments: args });
    expect(sample.structuredContent).toMatchObject({ grade: "A", counts: { not_applicable: 7 } });
    application.close();
    expect(textOf(await call("check_receiver", { ...args, scheme: "git-hub", payload: "{}" }))).toContain(
      "Did you mean github?",
    );
  });

  it("returns the problem's text if the platform rejects a call", async () => {
    const missing = await call("get_order", { id: "ord_0000000000000000000000" });
    expect(missing).toMatchObject({ isError: true, _meta: { problem: { status: 404, code: "not_found" } } });
    expect(textOf(missing)).toMatch(/^The order .* does not exist.*\n404 not_found, request req_\w+/);
    const invalid = await call("create_customer", { email: "nobody", nam: "Ada" });
    expect(textOf(invalid)).toContain("email: must be");
    expect(textOf(invalid)).toContain("did you mean name?");
    expect((await call("get_order", {})).isError).toBe(true);
  });

  it("reports an argument that a tool does not accept", async () => {
    const wrong = await call("trigger_event", { type: "order.complete", count: 0, often: true });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toContain("type must be equal to one of the allowed values (customer.created");
    expect(textOf(wrong)).toContain("count must be >= 1");
    expect(textOf(wrong)).toContain("must not have additional properties (often)");
  });

  it("rejects an unknown tool", async () => {
    await expect(call("drop_database")).rejects.toThrow("Unknown tool drop_database");
  });

  it("offers only the tools that the credential's scopes allow", async () => {
    const api = apiOf(platform.baseUrl, platform.apiKey);
    const key = await api("POST", "/v1/api_keys", { name: "reader", scopes: ["orders:read", "events:read"] });
    const reader = await connect(key.body.key as string);
    expect(await toolNames(reader)).toEqual([
      "list_orders",
      "get_order",
      "list_events",
      "get_event",
      "wait_for_event",
      "explain",
      "check_receiver",
    ]);
  });

  it("rejects live mode", async () => {
    expect(await runCli(["mcp", "--live"], { env: platform.env })).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringContaining("MCP tools are available in the sandbox only"),
    });
    const live = { ...platform.env, SERVICE_API_KEY: platform.liveKey };
    expect(await runCli(["mcp"], { env: live })).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it("reports a missing credential on stderr before the protocol starts", async () => {
    const nobody = { ...platform.env, SERVICE_API_KEY: undefined };
    expect(await runCli(["mcp"], { env: nobody })).toMatchObject({
      exitCode: 4,
      stdout: "",
      stderr: expect.stringContaining("Not signed in"),
    });
  });

  it("explains on a terminal what it waits for", async () => {
    const session = runInTerminal(["mcp"], { env: platform.env });
    await session.waitFor("To configure one: service mcp --help");
    session.type(CTRL_C);
    expect(await session.ended).toBe(0);
  });

  it("prints only protocol messages", () => {
    expect(strayOutput).toEqual([]);
  });

  it("responds to a call in flight when stdin ends", async () => {
    const messages = [
      {
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "create_customer", arguments: { email: "last@example.com" } } },
    ];
    const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
    const { exitCode, stdout } = await spawnCli(["mcp"], { env: platform.env, input });
    expect(exitCode).toBe(0);
    const responses = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(responses).toContainEqual(
      expect.objectContaining({
        id: 2,
        result: expect.objectContaining({ structuredContent: expect.objectContaining({ email: "last@example.com" }) }),
      }),
    );
  });

  it("exits with 0 when stdin ends, and on a signal", async () => {
    expect(await runCli(["mcp"], { env: platform.env })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    const child = spawn(process.execPath, [BIN, "mcp"], { env: cliEnv(platform.env), stdio: "pipe" });
    const ask = { jsonrpc: "2.0", id: 1, method: "ping" };
    child.stdin.write(`${JSON.stringify(ask)}\n`);
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    const [exitCode] = (await once(child, "exit")) as [number | null];
    expect(exitCode).toBe(0);
  });
});
