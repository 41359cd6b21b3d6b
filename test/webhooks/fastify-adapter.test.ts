import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { AddressInfo } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fastifyWebhook } from "../../src/webhooks/index.ts";
import { deliver, describeAdapter } from "./adapter-conformance.ts";
import { EVENT, headerOf, NOW, PAYLOAD, SECRET } from "./deliveries.ts";
import { type Receiver, receiverAt } from "./receiver-server.ts";

const OPTIONS = { secrets: SECRET, now: () => NOW };
const AT = { prefix: "/webhooks" };

describeAdapter({
  name: "Fastify",
  start: async (options, onEvent) => {
    const app = Fastify();
    await app.register(
      fastifyWebhook(options, async (event, _request, reply) => {
        await onEvent(event);
        return reply.code(204).send();
      }),
      AT,
    );
    return listening(app);
  },
});

describe("Fastify", () => {
  it("keeps the body parsers of other routes", async () => {
    const app = Fastify();
    await app.register(fastifyWebhook(OPTIONS, respond), AT);
    app.route({ method: "POST", url: "/orders", handler: async (request) => request.body });
    const receiver = await listening(app);
    expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
    const orders = { ...receiver, url: receiver.url.replace("webhooks", "orders") };
    expect(await deliver(orders, '{"amount":1}')).toMatchObject({ status: 200, problem: { amount: 1 } });
    expect(await deliver(orders, "{", "")).toMatchObject({
      status: 400,
      problem: { code: expect.stringMatching(/^FST_/) },
    });
  });

  it("does not depend on the body parsers of the application", async () => {
    const app = Fastify();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) =>
      done(null, JSON.parse(String(body))),
    );
    await app.register(fastifyWebhook(OPTIONS, respond), AT);
    expect(await deliver(await listening(app), PAYLOAD)).toMatchObject({ status: 204 });
  });

  it("serves the prefix with and without a slash, and POST only", async () => {
    const app = Fastify();
    await app.register(fastifyWebhook(OPTIONS, respond), AT);
    const receiver = await listening(app);
    expect(await deliver({ ...receiver, url: `${receiver.url}/` }, PAYLOAD)).toMatchObject({ status: 204 });
    expect((await fetch(receiver.url)).status).toBe(404);
  });

  it("suggests the fix if a hook has consumed the body", async () => {
    const onEvent = vi.fn<() => void>();
    const app = Fastify();
    app.addHook("onRequest", async (request) => {
      for await (const _chunk of request.raw);
    });
    await app.register(fastifyWebhook(OPTIONS, onEvent), AT);
    expect(await deliver(await listening(app), PAYLOAD)).toMatchObject({
      status: 500,
      problem: { code: "body_already_parsed" },
    });
    expect(onEvent).not.toHaveBeenCalled();
  });

  it("reads the stream that a hook substitutes, and survives its failure", async () => {
    const app = Fastify();
    app.addHook("preParsing", async (request, _reply, payload) =>
      request.headers["x-broken"] === undefined
        ? payload.pipe(new PassThrough())
        : new Readable({
            read() {
              this.destroy(new Error("no such encoding"));
            },
          }),
    );
    await app.register(fastifyWebhook(OPTIONS, respond), AT);
    const receiver = await listening(app);
    expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
    expect(await deliver(receiver, PAYLOAD, headerOf(PAYLOAD), { "x-broken": "1" })).toMatchObject({
      status: 400,
      problem: { code: "body_incomplete" },
    });
  });

  it("uses the bytes that a hook kept in rawBody", async () => {
    const app = Fastify();
    app.addHook("onRequest", async (request) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request.raw) chunks.push(chunk as Buffer);
      Object.assign(request, { rawBody: Buffer.concat(chunks) });
    });
    await app.register(fastifyWebhook(OPTIONS, respond), AT);
    const receiver = await listening(app);
    expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
    expect(await deliver(receiver, `${PAYLOAD} `, headerOf(PAYLOAD))).toMatchObject({ status: 400 });
  });

  it("passes errors of the handler to the error handler", async () => {
    const caught: unknown[] = [];
    const failure = new Error("boom");
    const app = Fastify();
    app.setErrorHandler(async (error, _request, reply) => {
      caught.push(error);
      return reply.code(503).send();
    });
    await app.register(
      fastifyWebhook(OPTIONS, async () => Promise.reject(failure)),
      AT,
    );
    expect(await deliver(await listening(app), PAYLOAD)).toMatchObject({ status: 503 });
    expect(caught).toEqual([failure]);
  });

  it("sends what the handler returns, and accepts handlers with Fastify's own types", async () => {
    const app = Fastify();
    await app.register(
      fastifyWebhook(OPTIONS, async (event, request: FastifyRequest, reply: FastifyReply) => {
        void reply.status(202);
        return { id: event.id, method: request.method };
      }),
      AT,
    );
    expect(await deliver(await listening(app), PAYLOAD)).toMatchObject({
      status: 202,
      problem: { id: EVENT.id, method: "POST" },
    });
  });

  it("works with inject", async () => {
    const app = Fastify();
    await app.register(fastifyWebhook(OPTIONS, respond), AT);
    const headers = { "service-signature": headerOf(PAYLOAD), "content-type": "application/json" };
    expect((await app.inject({ method: "POST", url: "/webhooks", headers, payload: PAYLOAD })).statusCode).toBe(204);
    expect((await app.inject({ method: "POST", url: "/webhooks", payload: PAYLOAD })).json()).toMatchObject({
      code: "header_missing",
    });
  });
});

async function respond(_event: unknown, _request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return reply.code(204).send();
}

async function listening(app: FastifyInstance): Promise<Receiver> {
  await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  return receiverAt((app.server.address() as AddressInfo).port);
}
