import { once } from "node:events";
import { renameSync } from "node:fs";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { EVENT_STREAM_PATH, LISTEN_PATH, LISTEN_SUBPROTOCOL } from "../../src/contract/listen.ts";
import { followStream } from "./delivery/support/event-stream.ts";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";
import { type ListenSocket, listenTo } from "./delivery/support/listen-socket.ts";

let platform: HostedPlatform;
let listener: ListenSocket;
let order: string;
beforeEach(async () => {
  platform = await hostPlatform();
  listener = await listenTo(platform.baseUrl, platform.sandboxKey);
  order = (await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" })).body.id;
  await listener.until(1);
});
afterEach(() => platform.close());

/** A stop takes 5 seconds; one that waits for the database or a client's close frame takes 30 or more. */
async function stopInTime(): Promise<void> {
  const began = performance.now();
  await platform.stop();
  expect(performance.now() - began).toBeLessThan(20_000);
}

/** The database rejects writes while its log is moved away. Resolves once the platform has noticed. */
async function takeDatabaseAway(): Promise<() => void> {
  const log = `${platform.database}-wal`;
  renameSync(log, `${log}.away`);
  await expect.poll(() => platform.complaints).toContain("the database cannot be used");
  return () => renameSync(`${log}.away`, log);
}

/** The response to a listen request: 101, or the status and code of an error. */
async function askToListen(): Promise<[status: number, code?: string]> {
  const socket = new WebSocket(`${platform.baseUrl.replace("http", "ws")}${LISTEN_PATH}`, LISTEN_SUBPROTOCOL, {
    headers: { Authorization: `Bearer ${platform.sandboxKey}` },
  });
  socket.on("error", () => {});
  return new Promise((resolve) => {
    socket.once("open", () => resolve([101]));
    socket.once("unexpected-response", (_request, response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("end", () => resolve([response.statusCode!, JSON.parse(text).code]));
    });
  });
}

it("a stop waits a limited time for the database to accept outcomes, and no event is lost", async () => {
  const bringBack = await takeDatabaseAway();
  listener.ack(1);
  await expect.poll(() => platform.complaints).toContain("the database rejects writes");
  await stopInTime();
  expect(platform.complaints).toContain("outcomes could not be recorded");
  bringBack();
  await platform.restart();
  const events = (await platform.api("GET", `/v1/events?related=${order}`)).body.data;
  expect(events).toMatchObject([{ type: "order.created", data: { object: { id: order } } }]);
  expect((await platform.api("GET", "/v1/deliveries")).body.data).toEqual([]);
  const again = await listenTo(platform.baseUrl, platform.sandboxKey, `?after=-3600`);
  await again.until(1);
  expect(again.events[0]!.id).toBe(events[0].id);
  await again.close();
});

it("during a stop, outcomes that the database accepts in time are recorded, and new connections are asked to retry later", async () => {
  const bringBack = await takeDatabaseAway();
  listener.ack(1);
  await expect.poll(() => platform.complaints).toContain("the database rejects writes");
  const stopped = stopInTime();
  await expect.poll(() => listener.frames.at(-1)).toMatchObject({ frame: "bye", code: "shutting_down" });
  expect(await askToListen()).toEqual([503, "unavailable"]);
  bringBack();
  await stopped;
  expect(platform.complaints).not.toContain("outcomes could not be recorded");
  await platform.restart();
  const { data } = (await platform.api("GET", "/v1/deliveries")).body;
  expect(data).toMatchObject([{ status: "succeeded", attempt_count: 1 }]);
});

it("a client that never closes its side does not delay a stop", async () => {
  const socket = new WebSocket(`${platform.baseUrl.replace("http", "ws")}${LISTEN_PATH}`, LISTEN_SUBPROTOCOL, {
    headers: { Authorization: `Bearer ${platform.sandboxKey}` },
  });
  await once(socket, "message");
  socket.pause();
  await stopInTime();
  socket.terminate();
});

it("an event stream requested while the platform stops does not delay the stop", async () => {
  const { host, hostname, port } = new URL(platform.baseUrl);
  const stream = await followStream(platform.baseUrl, platform.sandboxKey);
  // A request whose body is incomplete keeps its connection open until the response.
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => (text += part));
  const closed = once(socket, "close");
  const head = (line: string, ...headers: string[]) =>
    [line, `Host: ${host}`, `Authorization: Bearer ${platform.sandboxKey}`, ...headers, "", ""].join("\r\n");
  const body = JSON.stringify({ amount: 1, currency: "EUR" });
  const headers = ["Content-Type: application/json", `Content-Length: ${body.length}`, "Expect: 100-continue"];
  socket.write(head("POST /v1/orders HTTP/1.1", ...headers));
  await expect.poll(() => text).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  const began = performance.now();
  const stopped = platform.stop();
  await stream.ended;
  socket.write(body + head(`GET ${EVENT_STREAM_PATH} HTTP/1.1`));
  await Promise.all([stopped, closed]);
  expect(text.match(/^HTTP\/1.1 \d+/gm)).toEqual(["HTTP/1.1 100", "HTTP/1.1 201"]);
  // A shutdown closes the remaining connections after 10 seconds.
  expect(performance.now() - began).toBeLessThan(9_000);
});

it("a stop records the attempts of events that a listener retries, unless another connection has acknowledged them", async () => {
  const second = await platform.api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
  await listener.until(2);
  listener.retry(1);
  listener.retry(2);
  const retried = async () => (await platform.api("GET", "/v1/statistics")).body.listener_results;
  await expect.poll(retried).toHaveLength(2);
  await listener.close();
  const again = await listenTo(platform.baseUrl, platform.sandboxKey, "?after=-3600");
  await again.until(2);
  again.ack(1);
  const deliveries = async () => (await platform.api("GET", "/v1/deliveries")).body.data;
  await expect.poll(deliveries).toMatchObject([{ status: "succeeded", attempt_count: 1 }]);
  await platform.stop();
  await platform.restart();
  const [failed, succeeded] = (await deliveries()).toSorted((a: { status: string }, b: { status: string }) =>
    a.status < b.status ? -1 : 1,
  );
  expect(succeeded).toMatchObject({ status: "succeeded", attempt_count: 1 });
  expect(failed).toMatchObject({ status: "failed", attempt_count: 1, last_status_code: 500 });
  const [event] = (await platform.api("GET", `/v1/events?related=${second.body.id}`)).body.data;
  expect(failed.event).toBe(event.id);
});
