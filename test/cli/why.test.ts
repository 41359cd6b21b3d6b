import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import type { BulkOperation } from "../../src/contract/schemas/bulk-operation.ts";
import type { Delivery } from "../../src/contract/schemas/delivery.ts";
import type { Event } from "../../src/contract/schemas/event.ts";
import type { Explanation } from "../../src/cli/explanation.ts";
import { apiOf } from "../support/api.ts";
import { cliOnPlatform } from "../support/cli-on-platform.ts";
import { spawnListener, startListener } from "../support/listener.ts";
import { servePlatform } from "../support/platform.ts";
import { runInTerminal } from "../support/terminal.ts";
import { type Reaction, type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

const cli = cliOnPlatform();
const { json, service } = cli;
const why = (id: string) => json<Explanation>("why", id);
const api = (method: string, path: string, body?: unknown, key = cli.platform.sandboxKey) =>
  apiOf(cli.platform.baseUrl, key)(method, path, body);

const receivers: ScriptedReceiver[] = [];
const endpoints: string[] = [];
// Each test lists only the deliveries to its own endpoints.
afterEach(async () => {
  for (const id of endpoints.splice(0)) await service(["endpoints", "delete", id]);
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});

async function newEndpoint(url: string): Promise<string> {
  const { id } = await json<{ id: string }>("endpoints", "create", "--url", url, "--events", "order.*");
  endpoints.push(id);
  return id;
}

async function receiverThat(...reactions: Reaction[]): Promise<string> {
  const receiver = await startScriptedReceiver(...reactions);
  receivers.push(receiver);
  return newEndpoint(receiver.url);
}

/** Creates an event. Resolves once its delivery to an endpoint was attempted. */
async function attempted(endpoint: string): Promise<{ event: Event; delivery: Delivery }> {
  const event = await json<Event>("trigger", "order.created");
  const list = () => json<Delivery[]>("deliveries", "list", "--event", event.id, "--endpoint", endpoint);
  await expect.poll(async () => (await list())[0]?.attempt_count).toBeGreaterThan(0);
  return { event, delivery: (await list())[0]! };
}

describe("the likely cause of a failed delivery", () => {
  it("is connection_closed after the receiver hung up", async () => {
    const { delivery } = await attempted(await receiverThat("hang up"));
    expect(await why(delivery.id)).toMatchObject({
      cause: "connection_closed",
      findings: [{ subject: delivery.id, fix: `service deliveries retry ${delivery.id}` }],
    });
  });
});

describe("service why", () => {
  it("finds the whole chain from the ID of each of its parts", async () => {
    const { event, delivery } = await attempted(await receiverThat({ status: 200 }));
    const request = event.request.id!;
    const order = String(event.data.object["id"]);
    for (const id of [event.id, delivery.id, order, request]) {
      const explanation = await why(id);
      expect(explanation).toMatchObject({
        object: "explanation",
        id,
        cause: "delivered",
        request: { id: request, method: "POST", path: "/v1/orders", events: [event.id] },
        subject: { id: order, object: "order" },
        event: { id: event.id },
      });
      const [shown] = explanation.deliveries;
      expect(shown).toMatchObject({ id: delivery.id, status: "succeeded", attempts: [{ status_code: 200 }] });
    }
  });

  it("explains the requested delivery first, even if its event has many newer deliveries", async () => {
    const endpoint = await receiverThat({ status: 500 }, { status: 200 });
    const { event, delivery } = await attempted(endpoint);
    await json("deliveries", "cancel", delivery.id);
    for (let count = 0; count < 21; count++) await json("events", "replay", event.id, "--endpoint", endpoint);
    const succeeded = () =>
      json<Delivery[]>("deliveries", "list", "--event", event.id, "--status", "succeeded", "--limit", "30");
    await expect.poll(async () => (await succeeded()).length).toBe(21);
    const { cause, findings, deliveries } = await why(delivery.id);
    expect({ cause, subject: findings[0]!.subject }).toEqual({ cause: "delivery_canceled", subject: delivery.id });
    expect(deliveries[0]).toMatchObject({ id: delivery.id, status: "canceled", attempts: [{ status_code: 500 }] });
    expect((await why(event.id)).findings).toMatchObject([
      { code: "delivered", summary: expect.stringMatching(/^Delivered to .+ by a replay at/) },
    ]);
  });

  it("causes no Node.js warning for an event with many deliveries, and neither does the MCP tool", async () => {
    const endpoint = await receiverThat({ status: 200 });
    const { event } = await attempted(endpoint);
    for (let count = 0; count < 11; count++) await json("events", "replay", event.id, "--endpoint", endpoint);
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    expect((await why(event.id)).deliveries).toHaveLength(12);
    const { baseUrl, sandboxKey } = cli.platform;
    const params = { name: "explain", arguments: { id: event.id } };
    const headers = { Accept: "application/json, text/event-stream" };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    expect((await apiOf(baseUrl, sandboxKey)("POST", "/mcp", call, headers)).body).toContain("delivered");
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });

  it("shows the attempts that a listener made", async () => {
    const receiver = await startScriptedReceiver({ status: 500 }, { status: 503, body: "busy" });
    receivers.push(receiver);
    const listener = await startListener(cli.platform.env, ["--forward-to", receiver.url, "--retries", "1"]);
    const event = await json<Event>("trigger", "payment.created");
    await listener.record(({ event: name, status }) => name === "forwarded" && status === 503);
    await listener.interrupt();
    await expect.poll(async () => (await why(event.id)).deliveries.length).toBe(1);
    const { cause, deliveries, findings } = await why(event.id);
    expect(deliveries[0]).toMatchObject({ endpoint: null, attempts: [{ status_code: 500 }, { status_code: 503 }] });
    expect(cause).toBe("receiver_error");
    const target = receiver.url.replace(/^http:\/\/|\/$/g, "");
    expect(findings[0]!.fix).toBe(`service events replay ${event.id} --forward-to ${target}`);
  });

  it("says what listen --chaos dropped and sent besides, with its attempt numbers", async () => {
    const receiver = await startScriptedReceiver({ status: 200 });
    receivers.push(receiver);
    const chaos = ["--chaos", "drop=1,badsig=1,duplicate=1,seed=1"];
    const listener = await spawnListener(cli.platform.env, ["--forward-to", receiver.url, ...chaos]);
    onTestFinished(() => listener.kill());
    const { id } = await json<Event>("trigger", "customer.created");
    await listener.record(({ event, copy }) => event === "forwarded" && copy === "duplicate");
    const said =
      "`listen --chaos` dropped the first attempt and sent 3 requests: the forged one was accepted with 200 and the duplicate was accepted with 200";
    await expect.poll(async () => (await why(id)).findings[0]?.summary).toContain(said);
    const { stdout } = await service(["why", id]);
    expect(stdout).toMatch(/with attempt 2; /);
    expect(stdout).toMatch(/^ +2 .* 200 {2}.*drop, badsig 200, duplicate 200$/m);
  });

  it("explains a request whose key lacks a scope", async () => {
    const { key, id } = (await api("POST", "/v1/api_keys", { scopes: ["customers:read"] })).body;
    const forbidden = await api("GET", "/v1/orders", undefined, key);
    const explanation = await why(forbidden.headers.get("request-id")!);
    const fix = `service keys update ${id} --scope customers:read,orders:read`;
    expect(explanation).toMatchObject({ cause: "missing_scope", findings: [{ fix }] });
    await service(fix.split(" ").slice(1));
    expect((await api("GET", "/v1/orders", undefined, key)).status).toBe(200);
  });

  it("names the scope that a key lacks to listen", async () => {
    const { key, id } = (await api("POST", "/v1/api_keys", { scopes: ["customers:read"] })).body;
    expect((await service(["listen"], { env: { SERVICE_API_KEY: key } })).exitCode).toBe(5);
    const [request] = (await api("GET", `/v1/request_logs?key=${id}`)).body.data;
    const explanation = await why(request.id);
    const fix = `service keys update ${id} --scope customers:read,listen:read`;
    expect(explanation).toMatchObject({ cause: "missing_scope", findings: [{ fix }] });
    expect(explanation.findings[0]!.summary).toContain("lacks the scope listen:read");
  });

  it("reports the scopes that it needs to show the rest", async () => {
    const { event } = await attempted(await receiverThat({ status: 500 }));
    const { key } = (await api("POST", "/v1/api_keys", { scopes: ["events:read", "orders:read"] })).body;
    const { stdout } = await service(["why", event.id, "--json"], { env: { SERVICE_API_KEY: key } });
    const { cause, findings, deliveries } = JSON.parse(stdout) as Explanation;
    expect({ cause, deliveries }).toEqual({ cause: "missing_scope", deliveries: [] });
    expect(findings[0]!.summary).toContain("deliveries:read");
  });

  it("distinguishes listeners on one machine by their targets", async () => {
    const failing = await startScriptedReceiver({ status: 500 });
    const working = await startScriptedReceiver({ status: 200 });
    receivers.push(failing, working);
    const listen = ({ url }: ScriptedReceiver) =>
      startListener(cli.platform.env, ["--forward-to", url, "--retries", "0"]);
    const listeners = [await listen(failing), await listen(working)];
    const event = await json<Event>("trigger", "customer.created");
    const list = () => json<Delivery[]>("deliveries", "list", "--event", event.id);
    await expect.poll(async () => (await list()).length).toBe(2);
    const results = (await list()).map(({ target, status, attempt_count: count }) => [target, status, count]);
    expect(new Map(results.map(([target, ...result]) => [target, result]))).toEqual(
      new Map([
        [failing.url, ["failed", 1]],
        [working.url, ["succeeded", 1]],
      ]),
    );
    const { stdout } = await service(["why", event.id]);
    expect(stdout).toContain(`to ${failing.url} by listener lsn_`);
    expect(stdout).toContain(`to ${working.url} by listener lsn_`);
    await Promise.all(listeners.map((listener) => listener.interrupt()));
  });

  it("shows a bulk operation", async () => {
    const endpoint = await receiverThat({ status: 200 });
    const { event } = await attempted(endpoint);
    const operation = await json<BulkOperation>(
      "events",
      "replay",
      "--since",
      "1h",
      "--endpoint",
      endpoint,
      "--type",
      event.type,
    );
    expect(await why(operation.id!)).toMatchObject({ kind: "bulk_operation", cause: "delivered", operation });
  });

  it.each([
    ["nonsense", 2, '"nonsense" is not an ID'],
    ["evt_nonsense", 2, '"evt_nonsense" is not an ID: an event ID is evt_ and 22 letters or digits'],
    ["key_4Vf8aTqz0bKm2sNw9XyRcd", 2, "`service why` does not support API key IDs (key_)"],
  ])("rejects %s", async (id, exitCode, reason) => {
    expect(await service(["why", id])).toMatchObject({ exitCode, stderr: expect.stringContaining(reason) });
  });

  it("prints the same in a pipe as on a terminal, the cause first, and only the code with --quiet", async () => {
    const { event, delivery } = await attempted(await receiverThat({ status: 500, body: "out of stock" }));
    const { stdout } = await service(["why", event.id]);
    const [summary, evidence, action, fix] = stdout.split("\n");
    expect(summary).toMatch(/^Cause: .+ responded with 500; attempt 2 is due at .+\.$/);
    expect(evidence).toMatch(/^Attempt 1 at .+: 500 in .+, "out of stock"$/);
    expect({ action, fix }).toEqual({
      action: "Fix the error in the receiver, then retry:",
      fix: `  service deliveries retry ${delivery.id}`,
    });
    const session = runInTerminal(["why", event.id], { env: cli.platform.env, columns: 500 });
    expect(await session.ended).toBe(0);
    const lines = (text: string) =>
      text
        .split("\n")
        .map((line) => line.trimEnd())
        .filter((line) => line !== "");
    expect(lines(stdout)).toEqual(lines(session.text()));
    expect((await service(["why", event.id, "--quiet"])).stdout).toBe("receiver_error\n");
  });

  it("explains where it looked for an ID that does not exist, and where else it may be", async () => {
    const id = "evt_0352oCcnm0VgdYFrJuKTNO";
    const event = await json<Event>("trigger", "payment.created");
    const { exitCode, stderr } = await service(["why", id]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain(`The event ${id} does not exist in the sandbox`);
    expect(stderr).toContain(`The newest event of the sandbox is payment.created at ${event.created} (${event.id})`);
    expect(stderr).toContain(`Look in live mode: service why ${id} --live`);
    const { baseUrl, sandboxKey } = cli.platform;
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "explain", arguments: { id } } };
    const headers = { Accept: "application/json, text/event-stream" };
    const { body } = await apiOf(baseUrl, sandboxKey)("POST", "/mcp", call, headers);
    expect(JSON.stringify(body)).toContain(`The event ${id} does not exist in the sandbox`);
    // There is nothing to add about an object.
    const customer = "cus_0352oCcnm0VgdYFrJuKTNO";
    expect((await service(["why", customer])).stderr.trim().split("\n")).toEqual([
      `Error: The customer ${customer} does not exist in the sandbox`,
      `Look in live mode: service why ${customer} --live`,
    ]);
    // The ID of an example in the help.
    const example = "evt_4Vf8aTqz0bKm2sNw9XyRcd";
    expect((await service(["why", example])).stderr.trim().split("\n")).toEqual([
      `Error: The event ${example} does not exist in the sandbox`,
      "IDs contain the time of their creation. That of this one is in the year 7133, so it is an example or mistyped.",
    ]);
  });

  it("shows when an endpoint was deleted, and by which request", async () => {
    const { body: endpoint } = await api("POST", "/v1/webhook_endpoints", {
      url: "http://127.0.0.1:9/",
      events: ["*"],
    });
    const deletion = (await api("DELETE", `/v1/webhook_endpoints/${endpoint.id}`)).headers.get("request-id")!;
    await expect.poll(async () => (await service(["why", endpoint.id])).exitCode).toBe(0);
    const { cause, findings } = await why(endpoint.id);
    expect(cause).toBe("endpoint_deleted");
    expect(findings[0]).toMatchObject({
      summary: expect.stringMatching(`^The webhook endpoint ${endpoint.id} was deleted from the sandbox at 2`),
      evidence: `Deleted by request ${deletion}`,
      action: "See the request that deleted it",
      fix: `service logs get ${deletion}`,
    });
  });

  it("draws the chain within the width of the terminal", async () => {
    const { event, delivery } = await attempted(
      await receiverThat({ status: 400, body: "invalid signature ".repeat(40) }),
    );
    const session = runInTerminal(["why", event.id], { env: cli.platform.env, columns: 80 });
    expect(await session.ended).toBe(0);
    const text = session.text();
    for (const part of [
      "Request",
      "Object",
      "Event",
      delivery.id,
      "Likely cause",
      "400 in",
      "service webhooks verify",
    ]) {
      expect(text).toContain(part);
    }
    const wide = text.split("\n").filter((line) => line.trimEnd().length > 80 && !line.startsWith("  service"));
    expect(wide).toEqual([]);
  });

  it("explains the newest failed API request without an ID, unless something failed later", async () => {
    const empty = await servePlatform();
    onTestFinished(async () => void (await empty.stop()));
    const { baseUrl: SERVICE_BASE_URL, sandboxKey: SERVICE_API_KEY } = empty;
    const env = { SERVICE_BASE_URL, SERVICE_API_KEY };
    const request = apiOf(SERVICE_BASE_URL, SERVICE_API_KEY);
    const explained = async () => {
      const { stdout } = await service(["why", "--json"], { env });
      return stdout === "" ? undefined : (JSON.parse(stdout) as Explanation);
    };
    const onTerminal = async () => {
      const session = runInTerminal(["why"], { env, columns: 160 });
      await session.ended;
      return session.text();
    };
    const rejection = async () => (await request("POST", "/v1/customers", {})).headers.get("request-id")!;
    const first = await rejection();
    await expect.poll(async () => (await explained())?.id).toBe(first);
    expect(await onTerminal()).toContain(`Newest failure: ${first}`);
    // The command that reads has reported its error.
    await service(["customers", "get", "cus_4Vf8aTqz0bKm2sNw9XyRcd"], { env });
    await request("POST", "/v1/customers", { email: "later@example.com" });
    const event = await explained();
    expect(event?.cause).toBe("no_receiver");
    const second = await rejection();
    await expect.poll(async () => (await explained())?.id).toBe(second);
    expect(await onTerminal()).toContain(`Newest failure: ${second}. Before it: service why ${event?.id}`);
  });

  it("explains the newest event without an ID if it reached no receiver", async () => {
    const empty = await servePlatform();
    onTestFinished(async () => void (await empty.stop()));
    const env = { SERVICE_BASE_URL: empty.baseUrl, SERVICE_API_KEY: empty.sandboxKey };
    const { stdout: id } = await service(["trigger", "order.created", "-q"], { env });
    const { stdout } = await service(["why"], { env });
    expect(stdout).toContain("No endpoint subscribes to order.created, and no listener is connected");
    expect(stdout).toContain(`service events replay ${id.trim()} --forward-to 3000`);
    const cwd = mkdtempSync(join(tmpdir(), "service-why-"));
    writeFileSync(join(cwd, "service.yaml"), "forward: { to: localhost:4100/hooks }\n");
    const inProject = await service(["why"], { env, cwd });
    expect(inProject.stdout).toContain(`service events replay ${id.trim()} --forward-to localhost:4100/hooks`);
  });

  it("shows one delivery, and how many others its event has", async () => {
    const endpoint = await receiverThat({ status: 200 });
    const { event, delivery } = await attempted(endpoint);
    await json("events", "replay", event.id, "--endpoint", endpoint);
    const { stdout } = await service(["why", delivery.id]);
    expect(stdout.match(/^. dlv_/gm)).toHaveLength(1);
    expect(stdout).toContain(`1 other delivery of this event: service why ${event.id}`);
  });

  it("indents what does not fit a line on 40 columns", async () => {
    const { event } = await attempted(await receiverThat({ status: 200 }));
    const session = runInTerminal(["why", event.id], { env: cli.platform.env, columns: 40 });
    expect(await session.ended).toBe(0);
    expect(session.text()).toMatch(new RegExp(`^Event {5}order\\.created\\n {10}${event.id}$`, "m"));
  });

  it("explains without an ID what a listener is still retrying, in a pipe too", async () => {
    const receiver = await startScriptedReceiver({ status: 500, body: "out of stock" });
    receivers.push(receiver);
    const listener = await spawnListener(cli.platform.env, ["--forward-to", receiver.url, "--retries", "20"]);
    const { id } = await json<Event>("trigger", "customer.created");
    await listener.record(({ event, status }) => event === "forwarded" && status === 500);
    await expect.poll(async () => (await service(["why"])).stdout).toContain(id);
    const { stdout, stderr } = await service(["why"]);
    expect(stderr).not.toContain(`Before it: service why ${id}`);
    expect(stdout).toMatch(/^Cause: your application responded with 500; the listener's next attempt is due /i);
    expect(stdout).toContain("out of stock");
    await listener.kill();
  });

  it("explains the newest failed attempt without an ID, even of a delivery that is retried", async () => {
    const endpoint = await receiverThat({ status: 500, body: "older" }, { status: 503, body: "newest failure" });
    await attempted(endpoint);
    const { delivery } = await attempted(endpoint);
    const session = runInTerminal(["why"], { env: cli.platform.env, columns: 120 });
    expect(await session.ended).toBe(0);
    expect(session.text()).toContain(`Newest failure: ${delivery.id}`);
    expect(session.text()).toContain("newest failure");
    await json("deliveries", "cancel", delivery.id);
    await json("events", "replay", delivery.event, "--endpoint", endpoint);
  });

  it("explains without an ID an older failure rather than a newer one of a deleted endpoint", async () => {
    const { delivery } = await attempted(await receiverThat({ status: 500, body: "out of stock" }));
    const gone = await startScriptedReceiver({ status: 410 });
    receivers.push(gone);
    const { id } = await json<{ id: string }>("endpoints", "create", "--url", gone.url, "--events", "customer.*");
    const event = await json<Event>("trigger", "customer.created");
    const last = async () => (await json<Delivery[]>("deliveries", "list", "--event", event.id))[0];
    await expect.poll(async () => (await last())?.status).toBe("failed");
    await service(["endpoints", "delete", id]);
    const { stdout } = await service(["why"]);
    expect(stdout).toContain(delivery.id);
    expect(stdout).toContain(`service deliveries retry ${delivery.id}`);
  });

  it("explains the first failing receivers in full, and shows the command for each of the others", async () => {
    const failing = await startScriptedReceiver({ status: 500, body: "out of stock" });
    const working = await startScriptedReceiver({ status: 200 });
    receivers.push(failing, working);
    for (const path of ["a", "b", "c", "d", "e"]) await newEndpoint(`${failing.url}${path}`);
    await newEndpoint(`${working.url}f`);
    const { event } = await attempted(await newEndpoint(`${working.url}g`));
    const list = () => json<Delivery[]>("deliveries", "list", "--event", event.id);
    await expect.poll(async () => (await list()).every(({ attempt_count: count }) => count > 0)).toBe(true);
    const { findings } = await why(event.id);
    const session = runInTerminal(["why", event.id], { env: cli.platform.env, columns: 120 });
    expect(await session.ended).toBe(0);
    const text = session.text();
    expect(text).toContain("Result: order.created did not reach 5 of 7 endpoints: 5 are being retried.");
    expect(text.match(/^Cause: /gm)).toHaveLength(4);
    expect(text).not.toContain("Also:");
    expect(text.match(/out of stock/g)).toHaveLength(4);
    expect(text.match(/service deliveries retry/g)).toHaveLength(4);
    expect(text).toContain("1 more:");
    expect(text).toContain(`service why ${findings[5]!.subject}`);
    expect(text).not.toContain(`service why ${event.id}`);
  });
});
