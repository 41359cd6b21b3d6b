import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Poster, type PostResult } from "../../src/network/poster.ts";
import { systemClock } from "../../src/platform/ports.ts";

const received: Record<string, unknown>[] = [];
const server = createServer((request, response) => {
  received.push(request.headers);
  response.end();
});
const poster = new Poster({
  connect: ({ hostname, port }) => connect(Number(port), hostname),
  timeoutMs: 10_000,
  excerptBytes: 100,
  clock: systemClock,
});

beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => {
  poster.close();
  server.close();
});

function post(headers: readonly string[]): Promise<PostResult> {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return new Promise((resolve) => poster.post(url, headers, Buffer.of(), resolve));
}

it.each(["a\r\nx-injected: 1", "a\nx-injected: 1", "a\rx-injected: 1"])(
  "does not send a header whose value is %j, which would begin another one",
  async (value) => {
    const { status, error } = await post(["x-note", value]);
    expect(status).toBeUndefined();
    expect(error?.message).toBe("a header contains a line break");
    expect(received).toEqual([]);
  },
);

it("the poster sends every other value of a header as it is", async () => {
  expect(await post(["x-note", 'a "quoted" \\ value'])).toMatchObject({ status: 200 });
  expect(received.splice(0)).toMatchObject([{ "x-note": 'a "quoted" \\ value' }]);
});
