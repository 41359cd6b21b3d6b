import type http from "node:http";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { nodeWebhook, type WebhookOptions } from "../../src/webhooks/index.ts";
import { deliver, describeAdapter } from "./adapter-conformance.ts";
import { EVENT, headerOf, NOW, PAYLOAD, SECRET } from "./deliveries.ts";
import { listen, openDelivery, readToEnd, type Receiver } from "./receiver-server.ts";

const OPTIONS = { secrets: SECRET, now: () => NOW };

describeAdapter({
  name: "node:http",
  start: async (options, onEvent) =>
    listen(
      nodeWebhook(options, async (event, _request, response) => {
        await onEvent(event);
        response.writeHead(204).end();
      }),
    ),
});

describe("node:http", () => {
  it("responds 405 with Allow to any method but POST", async () => {
    const onEvent = vi.fn<() => void>();
    const { url } = await listen(nodeWebhook(OPTIONS, onEvent));
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await fetch(url, { method, headers: { "service-signature": headerOf("") } });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
      expect(await response.json()).toMatchObject({ code: "method_not_allowed" });
    }
    expect(onEvent).not.toHaveBeenCalled();
  });

  it("returns a promise that resolves once the handler has responded", async () => {
    let ended: boolean | undefined;
    const webhook = nodeWebhook(OPTIONS, async (_event, _request, response) => {
      await Promise.resolve();
      response.writeHead(204).end();
    });
    const receiver = await listen(async (request, response) => {
      await webhook(request, response);
      ended = response.writableEnded;
    });
    expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
    await vi.waitFor(() => expect(ended).toBe(true));
  });

  it("uses the bytes that a parser kept in rawBody or body", async () => {
    const received: unknown[] = [];
    const webhook = nodeWebhook(OPTIONS, (event, _request, response) => {
      received.push(event);
      response.writeHead(204).end();
    });
    for (const keep of [
      (bytes: Buffer) => ({ rawBody: bytes, body: JSON.parse(String(bytes)) }),
      (bytes: Buffer) => ({ rawBody: bytes, body: "decoded otherwise" }),
      (bytes: Buffer) => ({ body: bytes }),
      (bytes: Buffer) => ({ rawBody: String(bytes) }),
    ]) {
      const receiver = await listen((request, response) => {
        void drain(request).then((bytes) => webhook(Object.assign(request, keep(bytes)), response));
      });
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
    }
    expect(received).toEqual([EVENT, EVENT, EVENT, EVENT]);
  });

  it("responds 413 to bytes over the limit that a parser kept", async () => {
    const onEvent = vi.fn<() => void>();
    const webhook = nodeWebhook({ ...OPTIONS, limit: 1000 }, onEvent);
    // 600 characters, 1200 bytes.
    const text = `"${"ë".repeat(600)}"`;
    for (const kept of [Buffer.from(text), text, new DataView(new TextEncoder().encode(text).buffer)]) {
      const receiver = await listen((request, response) => {
        void drain(request).then(() => webhook(Object.assign(request, { body: kept }), response));
      });
      expect(await deliver(receiver, text)).toMatchObject({ status: 413, problem: { code: "body_too_large" } });
    }
    expect(onEvent).not.toHaveBeenCalled();
  });

  it("suggests the fix if the body has been consumed", async () => {
    const onEvent = vi.fn<() => void>();
    const webhook = nodeWebhook(OPTIONS, onEvent);
    const receiver = await listen((request, response) => {
      void drain(request).then((bytes) =>
        webhook(Object.assign(request, { body: JSON.parse(String(bytes)) }), response),
      );
    });
    expect(await deliver(receiver, PAYLOAD)).toMatchObject({
      status: 500,
      problem: { code: "body_already_parsed", detail: expect.stringMatching(/before the body parser [^]*rawBody/) },
    });
    expect(onEvent).not.toHaveBeenCalled();
  });

  it("suggests the fix if the stream decodes its bytes, or if an empty body or a part of the body has been read", async () => {
    const webhook = nodeWebhook(OPTIONS, () => undefined);
    const decoding = await listen((request, response) => webhook(request.setEncoding("latin1"), response));
    expect(await deliver(decoding, PAYLOAD)).toMatchObject({ problem: { code: "body_already_parsed" } });
    const drained = await listen((request, response) => void drain(request).then(() => webhook(request, response)));
    expect(await deliver(drained, "")).toMatchObject({ problem: { code: "body_already_parsed" } });
    const begun = await listen((request, response) => {
      request.once("data", () => void webhook(request.pause(), response));
    });
    expect(await deliver(begun, PAYLOAD)).toMatchObject({ problem: { code: "body_already_parsed" } });
  });

  it("reads the stream if a parser set a body without reading it", async () => {
    const webhook = nodeWebhook(OPTIONS, (_event, _request, response) => response.writeHead(204).end());
    const receiver = await listen((request, response) => webhook(Object.assign(request, { body: {} }), response));
    expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
  });

  it("responds without details if the handler fails, and calls onError", async () => {
    const reported: unknown[] = [];
    const failure = new Error("database password hunter2");
    const receiver = await failing({ onError: (error) => reported.push(error) }, async () => Promise.reject(failure));
    const response = await fetch(receiver.url, signed());
    expect([response.status, await response.text()]).toEqual([500, ""]);
    expect(reported).toEqual([failure]);
    const printed = vi.spyOn(console, "error").mockReturnValue();
    const sealed = await listen(nodeWebhook({ secrets: async () => Promise.reject(failure) }, () => undefined));
    expect(await (await fetch(sealed.url, signed())).text()).toBe("");
    // Without onError, the error would be nowhere.
    expect(printed.mock.calls).toEqual([[failure]]);
    printed.mockRestore();
  });

  it("responds to the next delivery after onError itself has failed", async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);
    process.on("unhandledRejection", onRejection);
    onTestFinished(() => void process.off("unhandledRejection", onRejection));
    const failed = () => {
      throw new Error("the log is full");
    };
    for (const onError of [failed, async () => failed()]) {
      const receiver = await failing({ onError }, failed);
      expect((await fetch(receiver.url, signed())).status).toBe(500);
      expect((await fetch(receiver.url, signed())).status).toBe(500);
    }
    expect(rejections).toEqual([]);
  });

  it("aborts a response that the handler began before it failed", async () => {
    const receiver = await failing({}, (_event, _request, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("half");
      throw new Error("boom");
    });
    await expect(fetch(receiver.url, signed()).then(async (response) => response.text())).rejects.toThrow();
  });

  it("keeps a response that was complete before the handler failed", async () => {
    const receiver = await failing({}, (_event, _request, response) => {
      response.writeHead(202).end("taken");
      throw new Error("boom");
    });
    const head = [`Content-Length: ${Buffer.byteLength(PAYLOAD)}`, `Service-Signature: ${headerOf(PAYLOAD)}`];
    const socket = await openDelivery(receiver, head);
    socket.write(PAYLOAD);
    // The connection can be reused for the next delivery.
    socket.write(["POST / HTTP/1.1", "Host: receiver", "Connection: close", ...head, "", PAYLOAD].join("\r\n"));
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 202 [^]*taken[^]*HTTP\/1\.1 202 [^]*taken/);
  });

  it("does not respond again if something responded while the body was read", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const webhook = nodeWebhook({ ...OPTIONS, onError }, () => undefined);
    const receiver = await listen((request, response) => {
      response.writeHead(503).end();
      return webhook(request, response);
    });
    expect(await deliver(receiver, PAYLOAD, "")).toMatchObject({ status: 503 });
    expect(await deliver(receiver, PAYLOAD, "")).toMatchObject({ status: 503 });
    const rejected = [expect.objectContaining({ code: "header_missing" })];
    expect(onError.mock.calls).toEqual([rejected, rejected]);
  });

  it("disconnects a sender that does not stop", async () => {
    const receiver = await listen(nodeWebhook({ ...OPTIONS, limit: 1000 }, () => undefined));
    const socket = await openDelivery(receiver, ["Content-Length: 1000000000000"]);
    const closed = readToEnd(socket);
    const block = Buffer.alloc(1_048_576);
    const send = (): void => {
      if (!socket.destroyed) socket.write(block, send);
    };
    send();
    await closed;
    expect(socket.bytesWritten).toBeLessThan(64 * block.length);
  });
});

async function drain(request: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function signed(): RequestInit {
  return { method: "POST", body: PAYLOAD, headers: { "service-signature": headerOf(PAYLOAD) } };
}

async function failing(
  options: Partial<WebhookOptions>,
  handler: (event: unknown, request: http.IncomingMessage, response: http.ServerResponse) => unknown,
): Promise<Receiver> {
  return listen(nodeWebhook({ ...OPTIONS, ...options }, handler));
}
