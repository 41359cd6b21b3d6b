import { once } from "node:events";
import { type ClientRequest, get, type IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { LIMITS } from "../../src/contract/limits.ts";
import type { Tenant } from "../../src/platform/domain/request-context.ts";
import { OpenConnections } from "../../src/platform/listen/listeners.ts";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";

let platform: HostedPlatform;
let streams: ClientRequest[];
let sockets: WebSocket[];
beforeEach(async () => {
  platform = await hostPlatform();
  streams = [];
  sockets = [];
});
afterEach(async () => {
  for (const stream of streams) stream.destroy();
  for (const socket of sockets) socket.terminate();
  await platform.close();
});

const authorized = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

/** Requests an event stream. Resolves with the head of the response. */
async function stream(key = platform.sandboxKey): Promise<IncomingMessage> {
  const request = get(`${platform.baseUrl}/v1/events/stream`, { ...authorized(key), agent: false });
  request.on("error", () => {});
  streams.push(request);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response.on("error", () => {});
}

/** Requests a listen connection. Resolves with the response's status. */
async function listen(key = platform.sandboxKey): Promise<{ status: number; response?: IncomingMessage }> {
  const url = `${platform.baseUrl.replace("http", "ws")}/v1/listen`;
  const socket = new WebSocket(url, "service.listen.v1", authorized(key));
  sockets.push(socket);
  socket.on("error", () => {});
  return new Promise((resolve) => {
    socket.once("open", () => resolve({ status: 101 }));
    socket.once("unexpected-response", (_request, response) => resolve({ status: response.statusCode!, response }));
  });
}

async function bodyOf(response: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return JSON.parse(text);
}

const REJECTION = { status: 429, code: "connection_limit", detail: expect.stringContaining("which is the maximum") };

describe("event streams of an environment", () => {
  it("are rejected over the limit, and accepted again when one ends", async () => {
    const responses = await Promise.all(Array.from({ length: LIMITS.eventStreamsPerEnvironment }, () => stream()));
    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    const rejected = await stream();
    expect(rejected.statusCode).toBe(429);
    expect(rejected.headers["retry-after"]).toBe("5");
    expect(await bodyOf(rejected)).toMatchObject(REJECTION);
    expect((await platform.live("GET", "/v1/me")).status).toBe(200);
    expect((await listen()).status).toBe(101);
    streams[0]!.destroy();
    await expect.poll(async () => (await stream()).statusCode).toBe(200);
  });

  it("do not count if their query is rejected", async () => {
    for (let i = 0; i <= LIMITS.eventStreamsPerEnvironment; i++) {
      expect((await platform.api("GET", "/v1/events/stream?after=yesterday")).status).toBe(400);
    }
    expect((await stream()).statusCode).toBe(200);
  });
});

describe("listeners of an environment", () => {
  it("are rejected over the limit, and accepted again when one leaves", async () => {
    const responses = await Promise.all(Array.from({ length: LIMITS.listenersPerEnvironment }, () => listen()));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([101]));
    const { status, response } = await listen();
    expect(status).toBe(429);
    expect(response!.headers["retry-after"]).toBe("5");
    expect(await bodyOf(response!)).toMatchObject(REJECTION);
    sockets[0]!.close();
    await expect.poll(async () => (await listen()).status).toBe(101);
  });
});

it("listeners that close before they are counted do not count", async () => {
  const connections = new OpenConnections("streams", 1);
  const [one, two] = ["acct_1", "acct_2"].map((id) => ({
    environment: 1,
    name: "sandbox" as const,
    livemode: false,
    account: { id, name: id, version: "2026-11-01" },
  })) as [Tenant, Tenant];
  const removed = new PassThrough().destroy();
  await once(removed, "close");
  connections.take(one, removed);
  const open = new PassThrough();
  connections.take(one, open);
  expect(() => connections.take(one, new PassThrough())).toThrow("has 1 streams open");
  connections.take(two, new PassThrough());
  await once(open.destroy(), "close");
  connections.take(one, new PassThrough());
});
