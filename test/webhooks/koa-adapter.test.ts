import type http from "node:http";
import { createRequire } from "node:module";
import { describe, expect, it, vi } from "vitest";
import { koaWebhook, type KoaContext } from "../../src/webhooks/index.ts";
import { deliver, describeAdapter } from "./adapter-conformance.ts";
import { EVENT, headerOf, NOW, PAYLOAD, SECRET } from "./deliveries.ts";
import { listen } from "./receiver-server.ts";

/** Koa has no types. These are the parts that the tests use. */
interface Context extends KoaContext {
  request: { body?: unknown; rawBody?: unknown };
  req: http.IncomingMessage & KoaContext["req"];
  res: http.ServerResponse;
  throw(status: number): never;
}
type Middleware = (context: Context, next: () => Promise<unknown>) => unknown;
interface App {
  silent: boolean;
  use(middleware: Middleware): App;
  on(event: "error", listener: (error: unknown) => void): App;
  callback(): http.RequestListener;
}
const Koa = createRequire(import.meta.url)("koa") as new () => App;

const OPTIONS = { secrets: SECRET, now: () => NOW };

function quietApp(): App {
  const app = new Koa();
  app.silent = true;
  return app;
}

describeAdapter({
  name: "Koa",
  start: async (options, onEvent) => {
    const app = quietApp().use(koaWebhook(options, async (event) => void (await onEvent(event))));
    return listen(app.callback());
  },
});

describe("Koa", () => {
  it("responds with the status and the body that the handler sets, else 204", async () => {
    const responses: Array<[(context: Context) => void, number, unknown]> = [
      [() => undefined, 204, {}],
      [(context) => (context.body = { taken: true }), 200, { taken: true }],
      [(context) => (context.status = 202), 202, {}],
      [(context) => context.throw(404), 404, {}],
    ];
    for (const [handle, status, problem] of responses) {
      const app = quietApp().use(koaWebhook(OPTIONS, (_event, context: Context) => handle(context)));
      expect(await deliver(await listen(app.callback()), PAYLOAD)).toMatchObject({ status, problem });
    }
  });

  it("leaves a response alone that the handler writes itself", async () => {
    const app = quietApp().use(
      koaWebhook(OPTIONS, (_event, context: Context) => {
        context.respond = false;
        context.res.writeHead(201).end();
      }),
    );
    expect(await deliver(await listen(app.callback()), PAYLOAD)).toMatchObject({ status: 201 });
  });

  it("responds 405 with Allow to any method but POST", async () => {
    const onEvent = vi.fn<() => void>();
    const { url } = await listen(quietApp().use(koaWebhook(OPTIONS, onEvent)).callback());
    const response = await fetch(url, { method: "PUT", body: PAYLOAD });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    expect(onEvent).not.toHaveBeenCalled();
  });

  it("verifies after a body parser that keeps rawBody", async () => {
    const received: unknown[] = [];
    const app = quietApp()
      .use(async ({ req, request }, next) => {
        const chunks: Buffer[] = [];
        for await (const chunk of req) chunks.push(chunk as Buffer);
        request.rawBody = Buffer.concat(chunks).toString();
        request.body = JSON.parse(request.rawBody as string);
        await next();
      })
      .use(koaWebhook(OPTIONS, (event) => received.push(event)));
    const receiver = await listen(app.callback());
    expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
    expect(await deliver(receiver, `${PAYLOAD} `, headerOf(PAYLOAD))).toMatchObject({ status: 400 });
    expect(received).toEqual([EVENT]);
  });

  it("suggests the fix if a parser did not keep the raw body", async () => {
    const app = quietApp()
      .use(async ({ req }, next) => {
        for await (const _chunk of req);
        await next();
      })
      .use(koaWebhook(OPTIONS, () => undefined));
    expect(await deliver(await listen(app.callback()), PAYLOAD)).toMatchObject({
      status: 500,
      problem: { code: "body_already_parsed", detail: expect.stringContaining("rawBody") },
    });
  });

  it("passes errors of the handler on to the application", async () => {
    const caught: unknown[] = [];
    const failure = new Error("boom");
    const app = quietApp()
      .on("error", (error) => caught.push(error))
      .use(koaWebhook(OPTIONS, async () => Promise.reject(failure)));
    expect(await deliver(await listen(app.callback()), PAYLOAD)).toMatchObject({ status: 500 });
    expect(caught).toEqual([failure]);
  });
});
