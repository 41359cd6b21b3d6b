import { describe, expect, it } from "vitest";
import { fetchWebhook, SignatureError, verifyRequest } from "../../src/webhooks/index.ts";
import { describeAdapter } from "./adapter-conformance.ts";
import { EVENT, headerOf, NOW, PAYLOAD, SECRET } from "./deliveries.ts";
import { listenFetch } from "./fetch-server.ts";

const OPTIONS = { secrets: SECRET, now: () => NOW };

describeAdapter({
  name: "Fetch",
  start: async (options, onEvent) => {
    const webhook = fetchWebhook(options, async (event) => {
      await onEvent(event);
      return new Response(null, { status: 204 });
    });
    return listenFetch(webhook);
  },
});

describe("fetchWebhook", () => {
  it("responds 405 with Allow to any method but POST", async () => {
    const webhook = fetchWebhook(OPTIONS, () => new Response());
    const response = await webhook(new Request("http://receiver/", { method: "PUT", body: PAYLOAD }));
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("passes the request to the handler and rethrows its errors", async () => {
    const failure = new Error("boom");
    const paths: string[] = [];
    const webhook = fetchWebhook(OPTIONS, async (_event, request: Request) => {
      paths.push(new URL(request.url).pathname);
      throw failure;
    });
    await expect(webhook(signed())).rejects.toBe(failure);
    expect(paths).toEqual(["/hooks"]);
  });
});

describe("verifyRequest", () => {
  it("returns the event", async () => {
    expect(await verifyRequest(signed(), OPTIONS)).toEqual(EVENT);
  });

  it("rejects a body that has been read or is being read", async () => {
    const read = signed();
    await read.json();
    expect(await rejectionOf(verifyRequest(read, OPTIONS))).toMatchObject({
      code: "body_already_parsed",
      message: expect.stringContaining("request.clone()"),
    });
    const locked = signed();
    locked.body?.getReader();
    expect(await rejectionOf(verifyRequest(locked, OPTIONS))).toMatchObject({ code: "body_already_parsed" });
    const begun = signed();
    const reader = begun.body?.getReader();
    await reader?.read();
    reader?.releaseLock();
    expect(await rejectionOf(verifyRequest(begun, OPTIONS))).toMatchObject({ code: "body_already_parsed" });
  });

  it("accepts the clone that the error recommends", async () => {
    const request = signed();
    const clone = request.clone();
    await request.json();
    expect(await verifyRequest(clone, OPTIONS)).toEqual(EVENT);
  });

  it("rejects a request without a body or a header", async () => {
    const request = new Request("http://receiver/", { method: "POST" });
    expect(await rejectionOf(verifyRequest(request, OPTIONS))).toMatchObject({ code: "header_missing" });
  });

  it("rejects a stream that fails, and one that yields no bytes", async () => {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new TypeError("terminated")),
    });
    expect(await rejectionOf(verifyRequest(signed(broken), OPTIONS))).toMatchObject({
      code: "body_incomplete",
      cause: expect.any(TypeError),
    });
    const message = new ReadableStream({
      start: (controller) => controller.enqueue({ no: "bytes" }),
    });
    expect(await rejectionOf(verifyRequest(signed(message), OPTIONS))).toMatchObject({ code: "payload_not_raw" });
  });

  it("reads no more of an endless stream than the limit", async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new Uint8Array(1000));
      },
    });
    const options = { ...OPTIONS, limit: 10_000 };
    expect(await rejectionOf(verifyRequest(signed(endless), options))).toMatchObject({ code: "body_too_large" });
    expect(pulled).toBeLessThan(20);
  });

  it("rejects invalid options", async () => {
    expect(await rejectionOf(verifyRequest(signed(), { secrets: "" }))).toMatchObject({ code: "empty_secret" });
  });
});

function signed(body: RequestInit["body"] = PAYLOAD): Request {
  const headers = { "Service-Signature": headerOf(PAYLOAD) };
  return new Request("http://receiver/hooks", { method: "POST", body: body ?? null, headers, duplex: "half" });
}

async function rejectionOf(event: Promise<unknown>): Promise<unknown> {
  const error: unknown = await event.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(SignatureError);
  return error;
}
