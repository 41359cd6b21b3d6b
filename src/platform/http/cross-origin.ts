import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { HEADERS } from "../../contract/headers.ts";
import { LAST_EVENT_ID } from "../../contract/schemas/event.ts";
import { RESPONSE_HEADERS } from "./response-headers.ts";

/**
 * Which pages of other origins may read a route's responses: all of them, or those that send an access token. An API key
 * is a server's secret, and a session belongs to the dashboard, so neither is usable from elsewhere.
 */
export type CrossOrigin = "anyone" | "access token";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Absent if no page of another origin may read anything. */
    crossOrigin?: CrossOrigin;
  }
}

const REQUEST_HEADERS = [
  "Authorization",
  "Content-Type",
  HEADERS.version,
  HEADERS.idempotencyKey,
  LAST_EVENT_ID,
  "traceparent",
  "tracestate",
  "MCP-Protocol-Version",
  "Mcp-Session-Id",
];
const KNOWN_HEADERS: ReadonlySet<string> = new Set(["accept", ...REQUEST_HEADERS.map((name) => name.toLowerCase())]);
const EXPOSED_HEADERS = ["ETag", "Mcp-Session-Id", ...Object.values(RESPONSE_HEADERS).map(({ name }) => name)].join(
  ", ",
);
const MAX_AGE_SECONDS = 7200;

/** Lets pages of other origins read responses, never with cookies (Fetch standard, CORS protocol). */
export function allowCrossOrigin(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    addCrossOriginHeaders(request, reply, request.routeOptions.config.crossOrigin);
    done();
  });
}

/** Lets a page of another origin read the response, if the route is for such pages. */
export function addCrossOriginHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  crossOrigin: CrossOrigin | undefined,
): void {
  const isReadable = crossOrigin === "anyone" || (crossOrigin === "access token" && bearsAccessToken(request));
  if (!isReadable) return;
  void reply.header("Access-Control-Allow-Origin", "*").header("Access-Control-Expose-Headers", EXPOSED_HEADERS);
}

function bearsAccessToken({ headers: { origin, authorization } }: FastifyRequest): boolean {
  return origin !== undefined && /^bearer +at_/i.test(authorization ?? "");
}

/** Adds the response headers of a preflight request; none if the request would be rejected. */
export function addPreflightHeaders(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { crossOrigin, methods }: { crossOrigin: CrossOrigin | undefined; methods: readonly string[] },
): void {
  const requestedHeaders = headers["access-control-request-headers"] ?? "";
  const names = requestedHeaders.split(",").flatMap((name) => name.trim().toLowerCase() || []);
  if (crossOrigin === undefined || names.some((name) => !KNOWN_HEADERS.has(name))) return;
  if (crossOrigin === "access token" && !names.includes("authorization")) return;
  void reply
    .header("Access-Control-Allow-Origin", "*")
    .header("Access-Control-Allow-Methods", methods.join(", "))
    .header("Access-Control-Allow-Headers", REQUEST_HEADERS.join(", "))
    .header("Access-Control-Max-Age", String(MAX_AGE_SECONDS));
}
