import { describe, expect, it, vi } from "vitest";
import { expressWebhook } from "../../src/webhooks/index.ts";
import { deliver, describeAdapter } from "./adapter-conformance.ts";
import { EVENT, headerOf, NOW, PAYLOAD, SECRET } from "./deliveries.ts";
import { type App, express } from "./express-app.ts";
import { listen } from "./receiver-server.ts";

const OPTIONS = { secrets: SECRET, now: () => NOW };

describeAdapter({
  name: "Express",
  start: async (options, onEvent) => {
    const app = quiet(
      express().post(
        "/webhooks",
        expressWebhook(options, async (event, _request, response) => {
          await onEvent(event);
          response.sendStatus(204);
        }),
      ),
    );
    return listen(app);
  },
});

describe("Express", () => {
  it("verifies on a route before express.json(), which serves the routes after it", async () => {
    const app = express();
    app.post("/webhooks", responding());
    app.use(express.json());
    app.post("/orders", (request, response) => response.json(request.body));
    const receiver = await listen(app);
    expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
    const orders = { ...receiver, url: receiver.url.replace("webhooks", "orders") };
    expect(await deliver(orders, '{"amount":1}')).toMatchObject({ status: 200, problem: { amount: 1 } });
  });

  it("suggests the fix if express.json() has parsed the body", async () => {
    const onEvent = vi.fn<() => void>();
    const app = express();
    app.use(express.json());
    app.post("/webhooks", expressWebhook(OPTIONS, onEvent));
    expect(await deliver(await listen(app), PAYLOAD)).toMatchObject({
      status: 500,
      problem: { code: "body_already_parsed", detail: expect.stringContaining("express.json({ verify:") },
    });
    expect(onEvent).not.toHaveBeenCalled();
  });

  it("verifies after express.json() with the suggested fix", async () => {
    const app = express();
    app.use(
      express.json({
        verify: (request, _response, bytes) => {
          request.rawBody = bytes;
        },
      }),
    );
    app.post("/webhooks", responding());
    const receiver = await listen(app);
    expect(await deliver(receiver, '{ "id": "evt_1" }')).toMatchObject({ status: 204 });
    expect(await deliver(receiver, '{"id":"evt_1"}', headerOf('{ "id": "evt_1" }'))).toMatchObject({ status: 400 });
  });

  it("verifies after express.raw() and express.text()", async () => {
    for (const parser of [express.raw({ type: "*/*" }), express.text({ type: "*/*" })]) {
      const receiver = await listen(express().post("/webhooks", parser, responding()));
      expect(await deliver(receiver, PAYLOAD)).toMatchObject({ status: 204 });
      expect(await deliver(receiver, `${PAYLOAD} `, headerOf(PAYLOAD))).toMatchObject({ status: 400 });
    }
  });

  it("verifies after a parser that ignores the content type", async () => {
    const app = express();
    app.use(express.json());
    app.post("/webhooks", responding());
    const headers = { "content-type": "application/octet-stream" };
    expect(await deliver(await listen(app), PAYLOAD, headerOf(PAYLOAD), headers)).toMatchObject({ status: 204 });
  });

  it("passes errors of the handler to next", async () => {
    const caught: unknown[] = [];
    const failure = new Error("boom");
    const app = express().post(
      "/webhooks",
      expressWebhook(OPTIONS, async () => Promise.reject(failure)),
    );
    app.use((error: unknown, _request: unknown, response: { sendStatus(code: number): unknown }, _next: unknown) => {
      caught.push(error);
      response.sendStatus(503);
    });
    expect(await deliver(await listen(app), PAYLOAD)).toMatchObject({ status: 503 });
    expect(caught).toEqual([failure]);
  });

  it("passes next to the handler, for later handlers", async () => {
    const app = express().post(
      "/webhooks",
      expressWebhook(OPTIONS, (event, request, _response, next) => {
        Object.assign(request, { event });
        next();
      }),
      (request, response) => response.json("event" in request ? request.event : null),
    );
    expect(await deliver(await listen(app), PAYLOAD)).toMatchObject({ status: 200, problem: EVENT });
  });
});

function responding() {
  return expressWebhook(OPTIONS, (_event, _request, response) => response.sendStatus(204));
}

/** Express's own error handler prints to the terminal. */
function quiet(app: App): App {
  return app.use(
    (_error: unknown, _request: unknown, response: { sendStatus(code: number): unknown }, _next: unknown) =>
      response.sendStatus(500),
  );
}
