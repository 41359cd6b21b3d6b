import { type Context, Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import { honoWebhook } from "../../src/webhooks/index.ts";
import { describeAdapter } from "./adapter-conformance.ts";
import { EVENT, headerOf, NOW, PAYLOAD, SECRET } from "./deliveries.ts";
import { listenFetch } from "./fetch-server.ts";

const OPTIONS = { secrets: SECRET, now: () => NOW };

describeAdapter({
  name: "Hono",
  start: async (options, onEvent) => {
    const app = new Hono();
    app.onError((_error, c) => c.body(null, 500));
    app.post(
      "/webhooks",
      honoWebhook(options, async (event, c) => {
        await onEvent(event);
        return c.body(null, 204);
      }),
    );
    return listenFetch(async (request) => app.fetch(request));
  },
});

describe("Hono", () => {
  it("keeps the headers that middleware has set, on error responses too", async () => {
    const app = new Hono();
    app.use(async (c, next) => {
      c.header("x-request", "r1");
      await next();
    });
    app.post(
      "/webhooks",
      honoWebhook(OPTIONS, (event, c) => c.json({ id: event.id })),
    );
    const good = await app.request("/webhooks", signed());
    expect([good.status, await good.json(), good.headers.get("x-request")]).toEqual([200, { id: EVENT.id }, "r1"]);
    const bad = await app.request("/webhooks", { method: "POST", body: PAYLOAD });
    expect([bad.status, bad.headers.get("x-request"), bad.headers.get("content-type")]).toEqual([
      400,
      "r1",
      "application/problem+json",
    ]);
  });

  it("suggests the fix if middleware has read the body", async () => {
    const onEvent = vi.fn<() => Response>();
    const app = new Hono();
    app.use(async (c, next) => {
      await c.req.json();
      await next();
    });
    app.post("/webhooks", honoWebhook(OPTIONS, onEvent));
    const response = await app.request("/webhooks", signed());
    expect([response.status, await response.json()]).toEqual([
      500,
      expect.objectContaining({
        code: "body_already_parsed",
        detail: expect.stringContaining("before request.json()"),
      }),
    ]);
    expect(onEvent).not.toHaveBeenCalled();
  });

  it("passes errors of the handler to onError", async () => {
    const caught: unknown[] = [];
    const failure = new Error("boom");
    const app = new Hono();
    app.onError((error, c) => {
      caught.push(error);
      return c.text("sorry", 503);
    });
    app.post(
      "/webhooks",
      honoWebhook(OPTIONS, async () => Promise.reject(failure)),
    );
    expect((await app.request("/webhooks", signed())).status).toBe(503);
    expect(caught).toEqual([failure]);
  });

  it("responds 405 to any method but POST if the route allows it", async () => {
    const app = new Hono();
    app.all(
      "/webhooks",
      honoWebhook(OPTIONS, (_event, c) => c.body(null, 204)),
    );
    const response = await app.request("/webhooks", { method: "DELETE" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("accepts handlers with Hono's own types", async () => {
    const app = new Hono();
    app.post(
      "/webhooks/:tenant",
      honoWebhook(OPTIONS, (_event, c: Context) => c.text(c.req.param("tenant") ?? "", 202)),
    );
    const response = await app.request("/webhooks/t1", signed());
    expect([response.status, await response.text()]).toEqual([202, "t1"]);
  });
});

function signed(): RequestInit {
  return { method: "POST", body: PAYLOAD, headers: { "Service-Signature": headerOf(PAYLOAD) } };
}
