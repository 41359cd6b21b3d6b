import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult, TextResourceContents } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiOnPlatform } from "../support/api-on-platform.ts";
import { BIN, cliEnv } from "../support/run-cli.ts";

const on = apiOnPlatform();
const clients: Client[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

/** Connects the SDK's client to the command, or to the platform. */
const TRANSPORTS = {
  stdio: (key: string) => {
    const env = cliEnv({ ...on.platform.env, SERVICE_API_KEY: key });
    return new StdioClientTransport({ command: process.execPath, args: [BIN, "mcp", "--output-schemas"], env });
  },
  http: (key: string) => {
    const requestInit = { headers: { Authorization: `Bearer ${key}` } };
    return new StreamableHTTPClientTransport(new URL(`${on.platform.baseUrl}/mcp?output_schemas=true`), {
      requestInit,
    });
  },
};

async function connect(transport: keyof typeof TRANSPORTS, key: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(TRANSPORTS[transport](key));
  clients.push(client);
  return client;
}

function textOf({ content }: Pick<CallToolResult, "content">): string {
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

it("both transports have the same tools, except for the receiver check, which is local", async () => {
  const [stdio, http] = await Promise.all([
    connect("stdio", on.platform.sandboxKey),
    connect("http", on.platform.sandboxKey),
  ]);
  const [{ tools: local }, { tools: remote }] = await Promise.all([stdio.listTools(), http.listTools()]);
  expect(local.filter(({ name }) => name !== "check_receiver")).toEqual(remote);
  expect(local).toHaveLength(remote.length + 1);
});

describe.each(["stdio", "http"] as const)("MCP over %s", (transport) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(transport, on.platform.sandboxKey);
    // The client then checks each result against its output schema.
    await client.listTools();
  });

  async function call(name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
    return (await client.callTool({ name, arguments: args })) as CallToolResult;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the tests look into results of every shape
  async function result(name: string, args?: Record<string, unknown>): Promise<any> {
    const { isError, content, structuredContent } = await call(name, args);
    expect(isError, textOf({ content })).toBeUndefined();
    return structuredContent;
  }

  /** Returns the code of the API's error. */
  async function codeOf(name: string, args: Record<string, unknown>): Promise<string> {
    const { isError, _meta } = await call(name, args);
    expect(isError).toBe(true);
    return (_meta!["problem"] as { code: string }).code;
  }

  it("describes the account", () => {
    expect(client.getInstructions()).toContain(on.platform.ready.account);
    expect(client.getInstructions()).toContain(on.platform.baseUrl);
  });

  it("describes what each tool returns, and what it may change", async () => {
    const { tools } = await client.listTools();
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    for (const { name, outputSchema } of tools) expect(outputSchema, name).toMatchObject({ type: "object" });
    expect(hints["get_payment"]).toMatchObject({ readOnlyHint: true, idempotentHint: true });
    expect(hints["create_payment"]).toMatchObject({ readOnlyHint: false, idempotentHint: false });
    expect(hints["update_customer"]).toMatchObject({ destructiveHint: false, idempotentHint: true });
    expect(hints["delete_webhook_endpoint"]).toMatchObject({ destructiveHint: true, idempotentHint: true });
  });

  it("manages customers, orders and payments", async () => {
    const customer = await result("create_customer", { email: `${transport}@example.com` });
    expect(await result("update_customer", { id: customer.id, name: "Ada" })).toMatchObject({ name: "Ada" });
    const order = await result("create_order", { amount: 700, currency: "EUR", customer: customer.id });
    const payment = await result("create_payment", { amount: 700, currency: "EUR", order: order.id });
    expect(await result("list_payments", { order: order.id })).toMatchObject({ data: [payment] });
    const failed = { status: "failed", failure_code: "card_declined" };
    expect(await result("fail_payment", { id: payment.id, failure_code: "card_declined" })).toMatchObject(failed);
    const second = await result("create_payment", { amount: 700, currency: "EUR", order: order.id });
    expect(await result("succeed_payment", { id: second.id })).toMatchObject({ status: "succeeded" });
    expect(await result("get_payment", { id: second.id })).toMatchObject({ status: "succeeded" });
    expect(await result("complete_order", { id: order.id })).toMatchObject({ status: "completed" });
    expect(await result("delete_customer", { id: customer.id })).toMatchObject({ deleted: true });
  });

  it("repeats a write with the same idempotency key without another effect", async () => {
    const order = { amount: 1, currency: "EUR", idempotency_key: `once-over-${transport}` };
    const first = await result("create_order", order);
    expect(await result("create_order", order)).toEqual(first);
    expect(await codeOf("create_order", { ...order, amount: 2 })).toBe("idempotency_key_reused");
    expect(textOf(await call("create_order", { ...order, idempotency_key: "two words" }))).toContain(
      "idempotency_key must have 1 to 255 visible ASCII characters",
    );
  });

  it("gives every write an Idempotency-Key", async () => {
    const { id } = await result("create_order", { amount: 2, currency: "EUR" });
    const { data } = await result("list_request_logs", { method: "POST", path: "/v1/orders", limit: 1 });
    expect(data[0].idempotency_key).toMatch(/^[\w-]{16}$/);
    const request = await result("get_request_log", { id: data[0].id });
    expect(request.events).toHaveLength(1);
    expect(await result("get_event", { id: request.events[0] })).toMatchObject({ data: { object: { id } } });
  });

  it("manages endpoints and their deliveries", async () => {
    let status = 500;
    const receiver = createServer((_request, response) => response.writeHead(status).end());
    await once(receiver.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const endpoint = await result("create_webhook_endpoint", { url, events: ["payment.*"] });
    expect(endpoint.secret).toMatch(/^whsec_/);
    const ping = await result("ping_webhook_endpoint", { id: endpoint.id });
    await expect
      .poll(async () => (await result("list_deliveries", { event: ping.id })).data[0]?.attempt_count)
      .toBeGreaterThan(0);
    const [{ id: delivery }] = (await result("list_deliveries", { event: ping.id })).data;
    const { cause } = await result("explain", { id: delivery });
    expect(cause).toBe("receiver_error");
    status = 204;
    await result("retry_delivery", { id: delivery });
    await expect.poll(async () => (await result("get_delivery", { id: delivery })).status).toBe("succeeded");
    expect(await codeOf("cancel_delivery", { id: delivery })).toBe("delivery_not_cancelable");
    expect((await result("rotate_webhook_secret", { id: endpoint.id })).secret).not.toBe(endpoint.secret);
    expect(await result("update_webhook_endpoint", { id: endpoint.id, status: "disabled" })).toMatchObject({
      status: "disabled",
    });
    expect((await result("get_webhook_endpoint", { id: endpoint.id })).disabled_reason).toBe("user");
    expect((await result("list_webhook_endpoints")).data).toContainEqual(expect.objectContaining({ id: endpoint.id }));
    expect(await result("delete_webhook_endpoint", { id: endpoint.id })).toMatchObject({ deleted: true });
    receiver.close();
  });

  it("advances the test clock", async () => {
    const before = await result("get_test_clock");
    const after = await result("advance_test_clock", { seconds: 60 });
    expect(after.offset_seconds - before.offset_seconds).toBe(60);
    expect(await result("cancel_test_clock")).toMatchObject({ status: "idle" });
  });

  it("waits until an event happens", async () => {
    const order = await result("create_order", { amount: 3, currency: "EUR" });
    const steps: number[] = [];
    let completed: Promise<unknown> | undefined;
    const waiting = client.callTool(
      { name: "wait_for_event", arguments: { type: "order.*", related: order.id } },
      undefined,
      {
        onprogress: ({ progress }) => {
          steps.push(progress);
          // The wait has begun.
          completed ??= result("complete_order", { id: order.id });
        },
      },
    );
    const { structuredContent } = await waiting;
    await completed;
    expect(structuredContent).toMatchObject({
      object: "wait",
      event: { type: "order.completed", data: { object: { id: order.id } } },
    });
    expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
  });

  it("finds an event after another one, and returns where it stopped if there is none", async () => {
    const order = await result("create_order", { amount: 4, currency: "EUR" });
    const { data } = await result("list_events", { related: order.id });
    await result("complete_order", { id: order.id });
    const related = order.id;
    const first = await result("wait_for_event", { related, after: data[0].id });
    expect(first).toMatchObject({ event: { type: "order.completed" }, after: first.event.id });
    const none = await result("wait_for_event", { related, after: first.after, timeout_seconds: 1 });
    expect(none).toEqual({ object: "wait", event: null, after: first.after });
    const wrong = await call("wait_for_event", { type: "order.complete", timeout_seconds: 1 });
    expect(textOf(wrong)).toContain("did you mean order.completed");
  });

  it("reports which scope a tool needs", async () => {
    const { body } = await on.api("POST", "/v1/api_keys", { scopes: ["orders:read"] });
    const reader = await connect(transport, body.key as string);
    expect((await reader.listTools()).tools.map(({ name }) => name)).not.toContain("create_order");
    const args = { amount: 1, currency: "EUR" };
    const refused = (await reader.callTool({ name: "create_order", arguments: args })) as CallToolResult;
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toBe("create_order requires the scope orders:write, which the credential lacks.");
    await expect(reader.readResource({ uri: "service://events/evt_0000000000000000000000" })).rejects.toThrow(
      "events:read",
    );
  });

  it("has the guides of the package as resources", async () => {
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toContain("service://docs/receiving-webhooks");
    for (const uri of uris) {
      const [page] = (await client.readResource({ uri })).contents as TextResourceContents[];
      expect(page!.text, uri).toMatch(/^# /);
    }
    for (const uri of ["service://docs/nothing", "service://docs/../package", "file:///etc/passwd"]) {
      await expect(client.readResource({ uri }), uri).rejects.toThrow("Resource not found");
    }
  });

  it("has each event as a resource", async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(["service://events/{id}"]);
    const event = await result("trigger_event", { type: "payment.failed" });
    const [read] = (await client.readResource({ uri: `service://events/${event.id}` }))
      .contents as TextResourceContents[];
    expect(JSON.parse(read!.text)).toEqual(event);
    await expect(client.readResource({ uri: "service://events/evt_1" })).rejects.toThrow(
      'The event "evt_1" does not exist',
    );
  });

  it("has prompts whose tools and resources exist", async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["add_webhook_receiver", "debug_failing_endpoint"]);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    const uris = (await client.listResources()).resources.map(({ uri }) => uri);
    for (const { name } of prompts) {
      const { messages } = await client.getPrompt({ name, arguments: { endpoint: "we_1", events: "order.*" } });
      const { text } = messages[0]!.content as { text: string };
      const tools = text.match(/\b(?:create|get|list|update|ping|retry|trigger|wait)_\w+|\bexplain\b/g)!;
      expect(names).toEqual(expect.arrayContaining(tools));
      expect(uris).toEqual(expect.arrayContaining(text.match(/service:\/\/docs\/[a-z-]+/g)!));
      expect(text).toContain(name === "add_webhook_receiver" ? "order.*" : "we_1");
    }
    await expect(client.getPrompt({ name: "make_coffee" })).rejects.toThrow("Unknown prompt make_coffee");
  });
});
