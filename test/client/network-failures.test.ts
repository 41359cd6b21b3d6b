import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { NetworkError } from "../../src/client/errors.ts";
import { clientOf } from "./support/client.ts";
import { hangUp, json, listen, startServer } from "./support/scripted-server.ts";
import { freePort } from "../support/free-port.ts";
import { SELF_SIGNED } from "../support/self-signed.ts";

async function failureOf(baseUrl: string, options: Parameters<typeof clientOf>[1] = {}): Promise<NetworkError> {
  const error: unknown = await clientOf(baseUrl, options)
    .request({ method: "GET", path: "/v1/things" })
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  expect(error).toBeInstanceOf(NetworkError);
  return error as NetworkError;
}

/** Starts a server that does not speak HTTP. */
async function listenRaw(server: TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("each failure has its own message:", () => {
  it("an unknown host name", async () => {
    expect(await failureOf("http://platform.invalid")).toMatchObject({
      failure: "name_not_found",
      message: "Host platform.invalid not found",
    });
  });

  it("a closed port on this machine", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await failureOf(url)).toMatchObject({
      failure: "refused",
      message: `Connection refused: nothing listens on ${new URL(url).host}`,
      hint: expect.stringContaining("service serve"),
    });
  });

  it("a certificate of an unknown authority", async () => {
    const url = await listen(createTlsServer(SELF_SIGNED));
    expect(await failureOf(url.replace("http:", "https:"))).toMatchObject({
      failure: "tls",
      message: expect.stringContaining("is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)"),
      hint: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    });
  });

  it("https to a port that speaks plain http", async () => {
    const { url } = await startServer(hangUp);
    expect(await failureOf(url.replace("http:", "https:"))).toMatchObject({
      failure: "tls",
      message: `${new URL(url).host} speaks plain http, not https`,
    });
  });

  it("plain http to something else", async () => {
    const host = await listenRaw(createTcpServer((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n")));
    expect(await failureOf(`http://${host}`)).toMatchObject({
      failure: "not_the_platform",
      message: `${host} does not speak HTTP`,
    });
  });

  it("the sign-in page of a network", async () => {
    const { url } = await startServer((_request, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<!DOCTYPE html><title>Hotel Wi-Fi</title>"),
    );
    expect(await failureOf(url)).toMatchObject({
      failure: "not_the_platform",
      message: `${new URL(url).host} returned 200 with a web page instead of JSON`,
      hint: expect.stringContaining("sign-in"),
    });
  });

  it("a load balancer's page while its platform restarts, which is temporary", async () => {
    const { url } = await startServer(
      (_request, response) => response.writeHead(503, { "content-type": "text/html" }).end("<html>No server</html>"),
      json(200, { object: "identity" }),
    );
    await expect(clientOf(url).request({ method: "GET", path: "/v1/things" })).resolves.toMatchObject({ status: 200 });
  });

  it("JSON that ends early", async () => {
    const { url } = await startServer((_request, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"id":'),
    );
    expect(await failureOf(url)).toMatchObject({
      failure: "not_the_platform",
      message: expect.stringContaining("truncated"),
    });
  });

  it("a response that never arrives", async () => {
    const { url } = await startServer(() => {});
    expect(await failureOf(url, { timeLimit: 0.05 })).toMatchObject({
      failure: "timed_out",
      message: expect.stringMatching(`${new URL(url).host} did not respond within 0.0\\d* s`),
    });
  });

  it("a response that is interrupted", async () => {
    const { url } = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
      response.write('{"id":', () => response.destroy());
    });
    expect(await failureOf(url)).toMatchObject({ failure: "connection_lost" });
  });

  it("an endless response, which is cut off at 128 MiB", async () => {
    const megabyte = Buffer.alloc(1024 * 1024, " ");
    let left = 300;
    const { url } = await startServer((_request, response) => {
      const write = (): void => {
        while (left > 0 && !response.destroyed) {
          left--;
          if (!response.write(megabyte)) return;
        }
        response.end('{"object":"identity"}');
      };
      response.writeHead(200, { "content-type": "application/json" });
      response.on("drain", write);
      write();
    });
    expect(await failureOf(url)).toMatchObject({
      failure: "not_the_platform",
      message: `The response of ${new URL(url).host} is larger than 128 MiB`,
      hint: expect.stringContaining("--limit"),
    });
    expect(left).toBeGreaterThan(100);
  });

  it("a connection that is reset", async () => {
    const { url } = await startServer(hangUp);
    expect(await failureOf(url)).toMatchObject({ failure: "connection_lost" });
  });
});
