import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { createTransport } from "../../src/client/transport.ts";
import { exchange } from "../../src/receiver-check/exchange.ts";
import { openForwarder, send } from "../relay/support/forwarder.ts";
import { type Respond, startBusyReceiver, startReceiver } from "../relay/support/receivers.ts";

const { signal } = new AbortController();

/** All parts of the command that open connections. Each resolves with the status and the body. */
const CALLERS: Record<string, (url: URL) => Promise<{ status?: number | undefined; text: string }>> = {
  async client(url) {
    return await createTransport().send({ method: "GET", url, headers: {}, body: undefined, timeLimit: 10, signal });
  },
  async listen(url) {
    const { status, excerpt } = await send(openForwarder({ url }));
    return { status, text: excerpt };
  },
  async "webhooks check"(url) {
    const clock = { elapsed: () => performance.now() };
    const limits = { limitMilliseconds: 10_000, skipVerify: false, signal, clock };
    const { status, excerpt } = await exchange({ url, method: "GET", headers: {}, body: Buffer.of(), ...limits });
    return { status, text: excerpt };
  },
};

/** Starts servers on one port of 127.0.0.1 and ::1. A port that is free at one may belong to a program at the other. */
async function withPortOfBoth<Started>(start: () => Promise<Started>): Promise<Started> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}

describe.each(Object.entries(CALLERS))("%s", (_name, call) => {
  it.each([
    ["localhost", "127.0.0.1"],
    ["localhost", "::1"],
    ["app.localhost", "127.0.0.1"],
    ["app.localhost", "::1"],
  ])("reaches %s on %s without DNS", async (name, host) => {
    const port = await withPortOfBoth(async () => {
      const other = createServer().listen(0, host === "::1" ? "127.0.0.1" : "::1");
      await once(other, "listening");
      const { port: free } = other.address() as AddressInfo;
      try {
        await startReceiver((response) => response.end("found"), host, false, free);
      } finally {
        other.close();
        await once(other, "close");
      }
      return free;
    });
    expect(await call(new URL(`http://${name}:${port}`))).toMatchObject({ status: 200, text: "found" });
  });
});

it("a request uses 127.0.0.1 for localhost unless it refuses the connection, however long connecting takes", async () => {
  const [busy, other] = await withPortOfBoth(async () => {
    const receiver = await startBusyReceiver();
    const respond: Respond = (response) => response.end("another program");
    return [receiver, await startReceiver(respond, "::1", false, receiver.port)];
  });
  const calls = Object.values(CALLERS).map((call) => call(new URL(`http://localhost:${busy.port}`)));
  // Node.js would try the next address after 250 ms.
  const startedAt = performance.now();
  await expect.poll(() => performance.now() - startedAt).toBeGreaterThan(400);
  busy.resume();
  for (const result of await Promise.all(calls)) expect(result).toMatchObject({ status: 200, text: "busy" });
  expect(other.requests).toEqual([]);
});
