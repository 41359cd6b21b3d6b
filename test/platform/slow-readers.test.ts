import { type AddressInfo, connect, Socket } from "node:net";
import { get, type IncomingMessage, Server } from "node:http";
import { once } from "node:events";
import { duplexPair } from "node:stream";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { EVENT_STREAM_PATH, LISTEN_PATH, LISTEN_SUBPROTOCOL } from "../../src/contract/listen.ts";
import { LIMITS } from "../../src/contract/limits.ts";
import { listenTo } from "./delivery/support/listen-socket.ts";
import { hostedPlatform } from "./delivery/support/hosted-platform.ts";

const EVENTS = 40;
const EVENT_BYTES = 900_000;
/** Number of events that fit the buffers; the log contains ten times as many. */
const MAX_RETAINED_BYTES = 4_000_000;

const platform = hostedPlatform();
const ids: string[] = [];
let authorized: { headers: Record<string, string> };

beforeAll(async () => {
  authorized = { headers: { Authorization: `Bearer ${platform.sandboxKey}` } };
  const data = { id: "x", text: "a".repeat(EVENT_BYTES) };
  while (ids.length < EVENTS) {
    ids.push((await platform.api("POST", "/v1/events", { type: "order.created", data })).body.id as string);
  }
});
beforeEach(() => platform.restart());

const handles = () => (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles();

/** The sockets of this process, which runs the server. */
function serverSockets(): Socket[] {
  return handles().filter((handle) => handle instanceof Socket);
}

function httpServer(): Server {
  const { port } = new URL(platform.baseUrl);
  const servers = handles().filter((handle) => handle instanceof Server);
  return servers.find((server) => (server.address() as AddressInfo).port === Number(port))!;
}

/** Returns the bytes that the server buffers for a client that does not read. */
function retainedBytes(): number {
  return Math.max(0, ...serverSockets().map((socket) => socket.writableLength));
}

it("a listener that stops reading gets few buffered events, and all events once it reads again", async () => {
  const socket = new WebSocket(
    `${platform.baseUrl.replace("http", "ws")}${LISTEN_PATH}?after=-3600&window=1000`,
    LISTEN_SUBPROTOCOL,
    authorized,
  );
  const received: string[] = [];
  let closed: number | undefined;
  socket.on("close", (code) => (closed = code));
  socket.on("message", (frame: Buffer) => {
    const { events = [] } = JSON.parse(frame.toString("utf8")) as { events?: { id: string; seq: number }[] };
    const isFirst = received.length === 0 && events.length > 0;
    received.push(...events.map(({ id }) => id));
    const acks = events.map(({ seq }) => ({ seq, status_code: 200, duration_ms: 1 }));
    if (acks.length > 0) socket.send(JSON.stringify({ frame: "acks", acks }));
    if (isFirst) socket.pause();
  });
  await expect.poll(() => socket.isPaused).toBe(true);
  await expect.poll(retainedBytes).toBeGreaterThan(EVENT_BYTES);
  expect(retainedBytes()).toBeLessThan(MAX_RETAINED_BYTES);
  socket.resume();
  await expect.poll(() => ({ count: received.length, closed })).toEqual({ count: EVENTS, closed: undefined });
  expect(received).toEqual(ids);
  socket.terminate();
});

it("a listener without acknowledgements gets at most 9 MB, and the rest as it acknowledges", async () => {
  const socket = new WebSocket(
    `${platform.baseUrl.replace("http", "ws")}${LISTEN_PATH}?after=-3600&window=1000`,
    LISTEN_SUBPROTOCOL,
    authorized,
  );
  const unacknowledged: number[] = [];
  let acknowledged = 0;
  let most = 0;
  socket.on("message", (frame: Buffer) => {
    const { events = [] } = JSON.parse(frame.toString("utf8")) as { events?: { seq: number }[] };
    unacknowledged.push(...events.map(({ seq }) => seq));
    most = Math.max(most, unacknowledged.length);
  });
  const EVENTS_OF_8_MIB = 10;
  while (acknowledged < EVENTS) {
    const count = Math.min(EVENTS_OF_8_MIB, EVENTS - acknowledged);
    await expect.poll(() => unacknowledged.length).toBe(count);
    const acks = [{ seq: unacknowledged.shift(), status_code: 200, duration_ms: 1 }];
    socket.send(JSON.stringify({ frame: "acks", acks }));
    acknowledged += 1;
  }
  expect(most).toBe(EVENTS_OF_8_MIB);
  socket.terminate();
});

it("a stream that stops reading gets few buffered events, and all events once it reads again", async () => {
  const request = get(`${platform.baseUrl}${EVENT_STREAM_PATH}?after=-3600`, { ...authorized, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  await expect.poll(retainedBytes).toBeGreaterThan(EVENT_BYTES);
  expect(retainedBytes()).toBeLessThan(MAX_RETAINED_BYTES);
  let text = "";
  const received = () => [...text.matchAll(/^id: (\S+)\ndata/gm)].map(([, id]) => id);
  // Without the events' own text.
  response.setEncoding("utf8").on("data", (part: string) => (text += part.replaceAll(/a{100,}/g, "")));
  await expect.poll(() => received().length).toBe(EVENTS);
  expect(received()).toEqual(ids);
  request.on("error", () => {});
  request.destroy();
});

it("clients that do not read their responses get 64 MiB in total, and others are served", async () => {
  const list = "/v1/events?limit=100";
  const { body: page } = await platform.api("GET", list);
  const most = Math.floor((64 * 1024 * 1024) / Buffer.byteLength(JSON.stringify(page)));
  // The operating system would buffer a part of each page.
  const silent = Array.from({ length: 2 * most }, () => {
    const [client, socket] = duplexPair();
    httpServer().emit(
      "connection",
      Object.assign(
        socket.on("error", () => {}),
        { remoteAddress: "127.0.0.1" },
      ),
    );
    client.write(`GET ${list} HTTP/1.1\r\nHost: localhost\r\n`);
    client.write(`Authorization: ${authorized.headers["Authorization"]}\r\n\r\n`);
    return socket;
  });
  await expect.poll(() => silent.filter(({ destroyed }) => !destroyed)).toHaveLength(most);
  expect((await platform.api("GET", list)).body).toEqual(page);
  for (const socket of silent) socket.destroy();
});

it("streams that do not read get 64 MiB in total, and others continue", async () => {
  const { hostname, port } = new URL(platform.baseUrl);
  const head = `GET ${EVENT_STREAM_PATH}?after=-3600 HTTP/1.1\r\nHost: localhost\r\n`;
  const silent = Array.from({ length: LIMITS.eventStreamsPerEnvironment }, () =>
    connect(Number(port), hostname).pause(),
  );
  for (const socket of silent) {
    socket.on("error", () => {});
    socket.write(`${head}Authorization: ${authorized.headers["Authorization"]}\r\n\r\n`);
  }
  await Promise.all(silent.map((socket) => once(socket, "connect")));
  const ports = new Set(silent.map(({ localPort }) => localPort));
  const held = () => serverSockets().filter(({ remotePort }) => ports.has(remotePort));
  const listener = await listenTo(platform.baseUrl, platform.sandboxKey, "?after=-3600&window=1000");
  await listener.until(5);
  await expect.poll(() => held().length, { timeout: 60_000 }).toBeLessThan(silent.length);
  expect(held().length).toBeGreaterThan(0);
  expect(held().reduce((sum, { writableLength }) => sum + writableLength, 0)).toBeLessThan(80 * 1024 * 1024);
  await listener.close();
  for (const socket of silent) socket.destroy();
});
