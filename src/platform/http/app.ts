import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { PROBLEM_MEDIA_TYPE } from "../../contract/errors.ts";
import { HEADERS } from "../../contract/headers.ts";
import { LIMITS } from "../../contract/limits.ts";
import { ApiError } from "../domain/api-error.ts";
import type { Services } from "../services.ts";
import type { Authenticate } from "./authenticate.ts";
import { registerOperations } from "./dispatch.ts";
import { registerFormats } from "./formats.ts";
import { loggedPath } from "./logged-path.ts";
import { IncomingRequest } from "./incoming-request.ts";
import { nothingHere, type Route } from "./nothing-here.ts";
import { operationsOf } from "./operations.ts";
import { serveDocument } from "./openapi/serve.ts";
import { answerBrokenRequest, CONNECT_REQUEST, INTERNAL_ERROR, toApiError, toProblem } from "./problem.ts";
import { recordRequests } from "./record-requests.ts";
import type { AdvanceClock } from "./routes/test-clock.ts";
import { parseStrictJson } from "./strict-json.ts";

const REQUEST_SECONDS = 30;

/** The platform's HTTP server, not yet listening; without an API it answers probes alone. */
export function createApp(
  services: Services,
  api: { authenticate: Authenticate; advanceClock: AdvanceClock } | undefined,
): FastifyInstance {
  registerFormats();
  const newRequestId = () => services.newId("request", services.clock.now());
  const app = Fastify({
    logger: false,
    genReqId: newRequestId,
    requestIdHeader: false,
    bodyLimit: LIMITS.bodyBytes,
    requestTimeout: REQUEST_SECONDS * 1000,
    // Requests that came over open connections are answered even while the platform stops.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    http: {
      IncomingMessage: IncomingRequest,
      maxHeaderSize: LIMITS.headerBytes,
      requireHostHeader: false,
      connectionsCheckingInterval: 1000,
      // Node takes the longer of the two limits for the whole request; this one is 60 s unless it is given.
      headersTimeout: REQUEST_SECONDS * 1000,
    },
    // Queries are read by each operation, which knows what it takes.
    routerOptions: { maxParamLength: LIMITS.urlLength, querystringParser: () => ({}) },
    frameworkErrors: (error, request, reply) => {
      addCommonHeaders(reply, request.id);
      void answerError(error, request.id, reply);
    },
    clientErrorHandler: (error, socket) => refuseOnSocket(error, socket),
  });
  const refuseOnSocket = (error: { code?: unknown }, socket: Socket) => {
    const { baseUrl, clock } = services;
    answerBrokenRequest(error, socket, { requestId: newRequestId(), baseUrl, clock });
  };
  // Node would close the connection without a word.
  app.server.on("connect", (_request, socket) => refuseOnSocket({ code: CONNECT_REQUEST }, socket as Socket));

  // Node would answer 417 without a word; a server may as well pass over what it does not know (RFC 9110 10.1.1).
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));

  /** What every reply carries; a page or a file may say otherwise later. */
  const addCommonHeaders = (reply: FastifyReply, requestId: string) => {
    void reply.header(HEADERS.requestId, requestId).header(HEADERS.version, services.versions.latest);
    if (services.rateLimit !== undefined) void reply.header(HEADERS.rateLimitPolicy, services.rateLimit.policy);
    void reply.header("Cache-Control", "no-store").header("X-Content-Type-Options", "nosniff");
  };
  const answerError = (error: unknown, requestId: string, reply: FastifyReply) => {
    const refusal = toApiError(error);
    if (refusal === undefined) services.log.error({ request_id: requestId, err: error }, "a request failed");
    const shown = refusal ?? INTERNAL_ERROR;
    reply.request.errorCode = shown.code;
    for (const [name, value] of Object.entries(shown.headers)) void reply.header(name, value);
    // Whoever is refused as unknown learns nothing of an account.
    if (shown.status === 401) void reply.header(HEADERS.version, services.versions.latest);
    return reply
      .code(shown.status)
      .header("Content-Type", PROBLEM_MEDIA_TYPE)
      .header(HEADERS.requestId, requestId)
      .send(JSON.stringify(toProblem(shown, requestId, services.baseUrl)));
  };

  const routes: Route[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    for (const name of [method].flat()) if (name !== "HEAD") routes.push({ method: name, path: url });
  });
  app.addHook("onRequest", (request, reply, done) => {
    addCommonHeaders(reply, request.id);
    done(refuseRequest(request.raw));
  });
  app.addHook("onResponse", (request, reply, done) => {
    if (request.routeOptions.config.quiet === true) return done();
    services.report({
      event: "request",
      method: request.method,
      path: loggedPath(request.url),
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime * 10) / 10,
      request_id: request.id,
    });
    done();
  });

  recordRequests(app, services.requests);

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    try {
      assertUtf8(request.headers["content-type"]);
      done(null, (body as Buffer).length === 0 ? undefined : parseStrictJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });

  if (api !== undefined) {
    const operations = operationsOf(services, api.advanceClock);
    registerOperations(app, services, api.authenticate, operations);
    serveDocument(app, services, operations);
  }

  app.setErrorHandler((error, request, reply) => answerError(error, request.id, reply));
  app.setNotFoundHandler((request, reply) =>
    answerError(nothingHere(routes, request.method, request.url), request.id, reply),
  );
  return app;
}

/** Headers of which Node takes the first, or joins all, where they are repeated. */
const GIVEN_ONCE = ["Host", "Content-Type", HEADERS.idempotencyKey, HEADERS.version];

/** What Fastify lets pass and the contract does not (every request must carry a Host; bodies are plain JSON). */
function refuseRequest(request: IncomingMessage) {
  if (!request.headers.host) return new ApiError("invalid_header", "Send a Host header.");
  for (const name of GIVEN_ONCE) {
    if ((request.headersDistinct[name.toLowerCase()]?.length ?? 0) > 1) {
      return new ApiError("invalid_header", `Send one ${name} header.`);
    }
  }
  if ((request.url?.length ?? 0) > LIMITS.urlLength) {
    return new ApiError("uri_too_long", `A URL may have at most ${LIMITS.urlLength} characters.`);
  }
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    return new ApiError("unsupported_media_type", "Send the body uncompressed.", {
      headers: { "Accept-Encoding": "identity" },
    });
  }
  return undefined;
}

function assertUtf8(contentType: string | undefined): void {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase();
  if (charset === undefined || charset === "utf-8" || charset === "utf8") return;
  throw new ApiError("unsupported_media_type", `Send JSON as UTF-8, not as ${charset.slice(0, 40)}.`);
}
