import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { afterEach, expect, it } from "vitest";
import { parseRange } from "../../src/network/addresses.ts";
import { type HostedPlatform, hostPlatform } from "./delivery/support/hosted-platform.ts";

const LIMIT = 64;
const MORE = 40;

let platform: HostedPlatform;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await platform.close();
});

/** Opens connections from an address of this machine, on which nothing is sent. */
async function open(count: number, localAddress = "127.0.0.1"): Promise<Socket[]> {
  const port = Number(new URL(platform.baseUrl).port);
  const opened = Array.from({ length: count }, () => connect({ port, host: "127.0.0.1", localAddress }));
  for (const socket of opened) socket.on("error", () => {});
  sockets.push(...opened);
  await Promise.all(opened.map((socket) => once(socket, "connect")));
  for (const socket of opened) socket.resume();
  return opened;
}

const openOf = (those: readonly Socket[]) => those.filter((socket) => !socket.closed).length;

it("an address may have 64 connections without a request, while others can still connect", async () => {
  platform = await hostPlatform();
  const silent = await open(LIMIT + MORE);
  const others = await open(LIMIT, "127.0.0.2");
  await expect.poll(() => openOf(silent)).toBe(LIMIT);
  expect(openOf(others)).toBe(LIMIT);
  const [complaint, ...more] = platform.complaints;
  expect(complaint).toContain("an address has more than 64 connections that have sent no request");
  expect(more).toEqual([]);
  expect((await platform.api("GET", "/v1/me")).status).toBe(200);
});

it("connections with a request do not count", async () => {
  platform = await hostPlatform();
  const used = await open(LIMIT + MORE);
  await Promise.all(
    used.map(async (socket) => {
      socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await once(socket, "data");
    }),
  );
  const silent = await open(LIMIT + MORE);
  await expect.poll(() => openOf(silent)).toBe(LIMIT);
  expect(openOf(used)).toBe(LIMIT + MORE);
});

it("connections from a trusted proxy do not count", async () => {
  platform = await hostPlatform({ trustedProxies: [parseRange("127.0.0.1/32")!] });
  const proxied = await open(LIMIT + MORE);
  const silent = await open(LIMIT + MORE, "127.0.0.2");
  await expect.poll(() => openOf(silent)).toBe(LIMIT);
  expect(openOf(proxied)).toBe(LIMIT + MORE);
});
