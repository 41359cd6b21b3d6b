import { once } from "node:events";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { kitPlatform } from "../testing/kit.ts";

const platform = kitPlatform();

/** Sends an incomplete request and resolves with the platform's response. */
async function leave(unfinished: string): Promise<string> {
  const { hostname, port } = new URL(platform.baseUrl);
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => (received += text));
  socket.write(unfinished);
  await once(socket, "close");
  return received;
}

it("the platform closes incomplete requests, sooner if the headers are incomplete", { timeout: 60_000 }, async () => {
  const head = `POST /v1/customers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${platform.apiKey}\r\n`;
  const json = `${head}Content-Type: application/json\r\n`;
  let areBodiesOpen = true;
  const bodies = [
    leave(`${json}Content-Length: 100\r\n\r\n{"email":`).finally(() => (areBodiesOpen = false)),
    leave(`${json}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`),
  ];
  const headers = [await leave(head), await leave(head)];
  expect(areBodiesOpen).toBe(true);
  for (const response of [...headers, ...(await Promise.all(bodies))]) {
    expect(response).toMatch(/^HTTP\/1\.1 408 /);
    expect(response).toContain('"code":"request_timeout"');
  }
});

it.each([
  ["a request that is not HTTP", "hello\r\n\r\n"],
  [
    "a rejected upgrade",
    "GET /v1/listen HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  ],
])("the platform closes the socket of a client that never closes its own side after %s", async (_what, text) => {
  const { hostname, port } = new URL(platform.baseUrl);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on("error", () => {});
  socket.write(text);
  await once(socket.resume(), "end");
  // A closed socket responds to further data with a reset.
  await expect
    .poll(
      () => {
        socket.write("x");
        return socket.destroyed;
      },
      { timeout: 60_000 },
    )
    .toBe(true);
});
