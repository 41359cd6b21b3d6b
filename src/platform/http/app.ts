import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { brotliCompress, type CompressCallback, constants, gzip } from "node:zlib";
import { HEADERS } from "../../contract/headers.ts";
import { LIMITS } from "../../contract/limits.ts";
import { nearestPaths } from "../../contract/nearest.ts";
import { ApiError } from "../domain/api-error.ts";
import { parseTraceparent, tracedLine } from "../observability/trace-context.ts";
import type { With } from "../tools.ts";
import { problemOfHost } from "./client-address.ts";
import { addCrossOriginHeaders, addPreflightHeaders, type CrossOrigin, type ResponseTools } from "./headers.ts";
import { setDeadlines } from "./deadline.ts";
import { cutOffResponses } from "./faults.ts";
import { registerFormats } from "./formats.ts";
import { takeJson } from "./json.ts";
import { errorPage, PageError, sendPage } from "./pages/page.ts";
import { CONNECT_REQUEST, rejectBrokenRequest } from "./problem.ts";
import { clientOf, loggedPath, recordRequests } from "./request-log.ts";
import { addCommonHeaders, sendError } from "./send.ts";

const ARRIVAL_SECONDS = 30;
const HEADER_SECONDS = 10;

interface AppTools
  extends ResponseTools, With<"clock" | "newId" | "requests" | "publicUrl" | "report" | "clientAddress"> {
  requestSeconds: number;
  /** Returns the page that a browser is sent to from a URL that cannot be decoded; undefined for one of the API. */
  pageOfBadUrl: (url: string) => string | undefined;
}

/** The platform's HTTP server, without routes and not yet listening. */
export function createApp(tools: AppTools): FastifyInstance {
  registerFormats();
  const app = createServer(tools);

  const routes: Route[] = [];
  const paths = new Set<string>();
  app.addHook("onRoute", ({ method, url, config }) => {
    for (const name of [method].flat()) routes.push({ method: name, path: url, crossOrigin: config?.crossOrigin });
    paths.add(url);
  });
  /** The router takes the last part of another route's path for an ID, as in GET /v1/deliveries/retry. */
  const isRouted = (request: FastifyRequest) => {
    const path = pathOf(request);
    return !request.is404 && (request.routeOptions.url === path || !paths.has(path));
  };
  const notFound = ({ method, url }: FastifyRequest) => nothingHere(routes, method, url, tools.baseUrl());
  app.addHook("onRequest", (request, reply, done) => {
    addCommonHeaders(tools, reply, request.id);
    // Before the body is read; otherwise anyone could send a body to a path that does not exist.
    const problem = rejectRequest(request.raw, tools.publicUrl?.hostname);
    if (problem !== undefined || isRouted(request)) {
      // Clients that send no body may still name a type for it (axios, curl -d '').
      if (isEmpty(request.raw)) delete request.raw.headers["content-type"];
      return done(problem);
    }
    if (request.method === "OPTIONS" && sendOptions(routes, request, reply)) return;
    // Pages of other origins may read the Allow header where they may read the responses of the allowed methods.
    addCrossOriginHeaders(request, reply, crossOriginOf(routesAt(routes, pathOf(request))));
    done(notFound(request));
  });
  setDeadlines(app, tools.clock, tools.requestSeconds);
  app.addHook("onRequest", (request, reply, done) => {
    addCrossOriginHeaders(request, reply, request.routeOptions.config.crossOrigin);
    done();
  });
  compressResponses(app);
  cutOffResponses(app);
  app.addHook("onResponse", (request, reply, done) => {
    if (request.routeOptions.config.quiet === true) return done();
    tools.report({
      event: "request",
      method: request.method,
      path: loggedPath(request.url),
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime * 10) / 10,
      request_id: request.id,
      client: clientOf(request),
      ...tracedLine(parseTraceparent(request.headers["traceparent"])),
    });
    done();
  });

  recordRequests(app, tools.requests, tools.clientAddress);
  takeJson(app);

  app.setErrorHandler((error, request, reply) =>
    isPageMissing(request) ? sendPage(reply, 404, MISSING_PAGE) : sendError(tools, error, request.id, reply),
  );
  app.setNotFoundHandler((request, reply) => sendError(tools, notFound(request), request.id, reply));
  return app;
}

const MISSING_PAGE = errorPage(new PageError(404, "This page does not exist", "Check the address."));

/** Returns true for a browser that asks for a page at an unknown address outside the API. */
function isPageMissing({ is404, method, url, headers }: FastifyRequest): boolean {
  return is404 && method === "GET" && !url.startsWith("/v1/") && /\btext\/html\b/.test(headers.accept ?? "");
}

/** Creates Fastify with the limits of the contract. Requests that cannot be parsed get problem details, too. */
function createServer(tools: AppTools): FastifyInstance {
  const newRequestId = () => tools.newId("request", tools.clock.now());
  const app = Fastify({
    logger: false,
    genReqId: newRequestId,
    requestIdHeader: false,
    bodyLimit: LIMITS.bodyBytes,
    requestTimeout: ARRIVAL_SECONDS * 1000,
    // Requests on open connections get a response even while the platform stops.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    http: {
      IncomingMessage: IncomingRequest,
      maxHeaderSize: LIMITS.headerBytes,
      requireHostHeader: false,
      connectionsCheckingInterval: 1000,
      // Node takes the longer of the two limits for the whole request, which is 60 s by default.
      headersTimeout: HEADER_SECONDS * 1000,
    },
    // No route has a schema for Fastify, whose compilers take 20 ms to load.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    // Each operation reads its own query.
    routerOptions: { maxParamLength: LIMITS.urlLength, querystringParser: () => ({}) },
    frameworkErrors: (error, request, reply) => {
      addCommonHeaders(tools, reply, request.id);
      const page = error.code === "FST_ERR_BAD_URL" ? tools.pageOfBadUrl(request.url) : undefined;
      if (page === undefined) void sendError(tools, error, request.id, reply);
      else void reply.redirect(page, 303);
    },
    clientErrorHandler: (error, socket) => rejectOnSocket(error, socket),
  });
  const rejectOnSocket = (error: { code?: unknown }, socket: Socket) =>
    rejectBrokenRequest(error, socket, tools, newRequestId());
  // Node would close the connection without a response.
  app.server.on("connect", (_request, socket) => rejectOnSocket({ code: CONNECT_REQUEST }, socket as Socket));

  // Node would respond 417 without a body. A server may ignore an unknown expectation (RFC 9110 10.1.1).
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  return app;
}

function noCompiler(): never {
  throw new Error("Operations check their bodies themselves: see validate.ts");
}

/** Headers of which Node takes the first, or joins all, if they are repeated. */
const SINGLE_HEADERS = ["Host", "Content-Type", HEADERS.idempotencyKey, HEADERS.version];

/**
 * Rejects what Fastify accepts and the contract does not: requests without a Host, and bodies that are not plain JSON.
 */
function rejectRequest(request: IncomingMessage, publicHost: string | undefined) {
  if (!request.headers.host) return new ApiError("invalid_header", "Send a Host header.");
  const misdirected = problemOfHost(request, publicHost);
  if (misdirected !== undefined) return misdirected;
  for (const name of SINGLE_HEADERS) {
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

function isEmpty({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

const OFFERED = Symbol("offered");

/**
 * Treats only requests for a WebSocket as an upgrade. Node passes every upgrade to its one listener; an offer of HTTP/2
 * (`curl --http2`, Java's client) is ignored instead, as RFC 9110 7.8 allows.
 */
class IncomingRequest extends IncomingMessage {
  declare [OFFERED]: boolean | null;

  // Node's parser sets it after the headers, and reads it back to decide.
  set upgrade(offered: boolean | null) {
    this[OFFERED] = offered;
  }

  get upgrade(): boolean | null {
    if (this[OFFERED] !== true || this.method === "CONNECT") return this[OFFERED];
    return this.headers.upgrade?.toLowerCase() === "websocket";
  }
}

interface Route {
  method: string;
  /** The path in Fastify's notation: `/v1/customers/:id`. */
  path: string;
  crossOrigin?: CrossOrigin | undefined;
}

/** Returns the routes with a path, whatever their methods. A route with exactly this path precedes those with parameters. */
function routesAt(routes: readonly Route[], path: string): Route[] {
  const exact = routes.filter((route) => route.path === path);
  return exact.length > 0 ? exact : routes.filter((route) => pathPattern(route.path).test(path));
}

function methodsOf(routes: readonly Route[]): string[] {
  return [...new Set([...routes.map(({ method }) => method), "OPTIONS"])].sort();
}

function crossOriginOf(routes: readonly Route[]): CrossOrigin | undefined {
  return routes.find((route) => route.crossOrigin !== undefined)?.crossOrigin;
}

const pathOf = ({ url }: FastifyRequest) => url.split("?", 1)[0]!;

/** Returns the methods of a path; false if the path does not exist. */
function sendOptions(routes: readonly Route[], request: FastifyRequest, reply: FastifyReply): boolean {
  const matching = routesAt(routes, pathOf(request));
  if (matching.length === 0) return false;
  const methods = methodsOf(matching);
  addPreflightHeaders(request, reply, { crossOrigin: crossOriginOf(matching), methods });
  void reply.code(204).header("Allow", methods.join(", ")).send();
  return true;
}

/** Responds 405 if the path exists with other methods, else 404 with the nearest path. */
export function nothingHere(routes: readonly Route[], method: string, url: string, baseUrl: string): ApiError {
  const path = url.split("?", 1)[0]!;
  const matching = routesAt(routes, path);
  if (matching.length > 0) {
    const allow = methodsOf(matching).join(", ");
    return new ApiError("method_not_allowed", `${method} is not allowed for this path. Allowed: ${allow}.`, {
      headers: { Allow: allow },
    });
  }
  // The action that everything else calls rotate.
  const roll = path.replace(/\/rotate$/, "/roll");
  const paths = routes.map((route) => route.path.replace(PATH_PARAMETER, "{$1}"));
  const [guess] = routesAt(routes, roll).length > 0 ? [roll] : nearestPaths(path, paths);
  const help = guess === undefined ? ` All paths: ${baseUrl}/docs/reference.` : ` Did you mean ${guess}?`;
  return new ApiError("not_found", `The path ${path.slice(0, 200)} does not exist.${help}`);
}

const PATH_PARAMETER = /:(\w+)/;

function pathPattern(path: string): RegExp {
  const source = path.replaceAll(".", "\\.").replace("*", ".*").replace(PATH_PARAMETER, "[^/]+");
  return new RegExp(`^${source}$`);
}

const MIN_COMPRESSED_LENGTH = 1024;
/** Compresses JSON about as well as gzip does, in less time. */
const BROTLI_QUALITY = 4;

const COMPRESSORS = {
  br: (json: string | Buffer, done: CompressCallback) =>
    brotliCompress(json, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }, done),
  gzip: (json: string | Buffer, done: CompressCallback) => gzip(json, done),
};

type Coding = keyof typeof COMPRESSORS;
const CODINGS = Object.keys(COMPRESSORS) as Coding[];

declare module "fastify" {
  interface FastifyContextConfig {
    /** Compresses what is not JSON, too: for text without secrets. */
    compress?: true;
  }
}

/**
 * Compresses JSON and the documentation for clients that accept it, in Node's thread pool. Other pages are not
 * compressed: their forms contain tokens, which the length of compressed text could reveal.
 */
function compressResponses(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return done(null, payload);
    const compressible = request.routeOptions.config.compress === true ? JSON_OR_TEXT : JSON_ONLY;
    const isCompressible = compressible.test(String(reply.getHeader("Content-Type") ?? ""));
    if (payload.length < MIN_COMPRESSED_LENGTH || !isCompressible) return done(null, payload);
    void reply.header("Vary", "Accept-Encoding");
    const coding = preferredCoding(request.headers["accept-encoding"]);
    if (coding === undefined) return done(null, payload);
    COMPRESSORS[coding](payload, (error, bytes) => {
      if (error !== null) return done(null, payload);
      void reply.header("Content-Encoding", coding).removeHeader("Content-Length");
      done(null, bytes);
    });
  });
}

const JSON_ONLY = /^application\/(problem\+)?json\b/;
const JSON_OR_TEXT = /^(application\/(problem\+)?json\b|text\/|image\/svg)/;

/** Returns the coding with the greatest weight, preferring brotli (RFC 9110 12.5.3). */
function preferredCoding(header: string | string[] | undefined): Coding | undefined {
  if (header === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const part of String(header).split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get("*") ?? 0;
  const [best] = CODINGS.filter((coding) => weightOf(coding) > 0).sort((a, b) => weightOf(b) - weightOf(a));
  // `identity` is preferred only if the client says so.
  return best !== undefined && weightOf(best) < (weights.get("identity") ?? 0) ? undefined : best;
}
