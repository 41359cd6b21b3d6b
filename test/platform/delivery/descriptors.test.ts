import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type LookupFunction, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { type RunningPlatform, startPlatform } from "../../support/platform.ts";
import { hostPlatform } from "./support/hosted-platform.ts";
import { type ScriptedReceiver, startScriptedReceiver } from "./support/scripted-receiver.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- responses of every shape
type Call = (method: string, path: string, body?: object) => Promise<any>;

/** Calls the API over one open connection: a platform without free descriptors accepts no new one. */
function callsOf({ baseUrl, sandboxKey }: RunningPlatform): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return async (method, path, body) => {
    const headers = { Authorization: `Bearer ${sandboxKey}`, "Content-Type": "application/json" };
    const outgoing = request(baseUrl + path, { agent, method, headers });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(outgoing, "response");
    return JSON.parse(await text(response));
  };
}

async function receive(...[script]: Parameters<typeof startScriptedReceiver>): Promise<ScriptedReceiver> {
  const receiver = await startScriptedReceiver(script);
  onTestFinished(() => receiver.close());
  return receiver;
}

async function start(limits?: string): Promise<RunningPlatform> {
  const platform = await startPlatform([], limits);
  onTestFinished(async () => void (await platform.stop()));
  return platform;
}

const warned = ({ lines }: RunningPlatform, message: string) => lines.some((line) => line.includes(message));

describe("a process without free file descriptors", () => {
  it("records no failed attempt, warns, and delivers once some are free", async () => {
    const platform = await start();
    const call = callsOf(platform);
    const receiver = await receive();
    await call("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
    const limitTo = (count: number) => execFileSync("prlimit", ["--pid", `${platform.pid}`, `--nofile=${count}:`]);
    // The standard streams have the numbers below 3, so that nothing else can be opened.
    limitTo(3);
    expect(await call("GET", "/readyz")).toEqual({ status: "ready" });
    const { id: event } = await call("POST", "/v1/events", { type: "order.completed", data: {} });
    expect(event).toMatch(/^evt_/);
    await expect.poll(() => warned(platform, "no file descriptors are left for connections")).toBe(true);
    const [delivery] = (await call("GET", `/v1/deliveries?event=${event}`)).data;
    expect(delivery).toMatchObject({ status: "pending", attempt_count: 0 });
    limitTo(1000);
    await expect
      .poll(async () => await call("GET", `/v1/deliveries/${delivery.id}`))
      .toMatchObject({
        status: "succeeded",
        attempts: [{ status_code: 200, error: null }],
      });
  });

  it("repeats attempts that an advance of the test clock could not send", async () => {
    let failures = 0;
    let lookups = 0;
    const lookup: LookupFunction = (_hostname, _options, callback) => {
      lookups += 1;
      if (failures-- > 0) callback(Object.assign(new Error("too many open files"), { code: "EMFILE" }), []);
      else callback(null, [{ address: "127.0.0.1", family: 4 }]);
    };
    const platform = await hostPlatform({ lookup });
    onTestFinished(() => platform.close());
    const receiver = await receive((_request, response) => {
      response.writeHead(receiver.received.length === 1 ? 500 : 200, { connection: "close" }).end();
    });
    const url = receiver.url.replace("127.0.0.1", "receiver.test");
    await platform.api("POST", "/v1/webhook_endpoints", { url, events: ["*"] });
    await platform.api("POST", "/v1/events", { type: "order.completed", data: {} });
    const delivery = async () => (await platform.api("GET", "/v1/deliveries")).body.data[0];
    await expect.poll(delivery).toMatchObject({ status: "pending", attempt_count: 1 });
    failures = 2;
    const advanced = await platform.api("POST", "/v1/test_clock/advance", { seconds: 60 });
    expect(advanced).toMatchObject({ status: 200, body: { attempts: 1, succeeded: 1, failed: 0 } });
    expect(await delivery()).toMatchObject({ status: "succeeded", attempt_count: 2 });
    expect(lookups).toBe(4);
  });
});

it("the platform reserves descriptors for deliveries if clients have many connections", async () => {
  const platform = await start("ulimit -n 96");
  const call = callsOf(platform);
  const receiver = await receive();
  await call("POST", "/v1/webhook_endpoints", { url: receiver.url, events: ["*"] });
  const { hostname, port } = new URL(platform.baseUrl);
  const idle: Socket[] = Array.from({ length: 112 }, () => connect(Number(port), hostname).on("error", () => {}));
  onTestFinished(() => {
    for (const socket of idle) socket.destroy();
  });
  await Promise.all(idle.map((socket) => once(socket, "connect")));
  await expect.poll(() => warned(platform, "client connections are rejected")).toBe(true);
  for (let i = 0; i < 20; i++) await call("POST", "/v1/events", { type: "order.completed", data: {} });
  await receiver.until(20);
  await expect.poll(async () => (await call("GET", "/v1/deliveries?status=pending")).data).toEqual([]);
  const { data } = await call("GET", "/v1/deliveries?limit=100");
  expect(data.filter(({ attempt_count }: { attempt_count: number }) => attempt_count !== 1)).toEqual([]);
  expect(data).toHaveLength(20);
});
