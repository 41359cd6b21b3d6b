import type { FastifyReply, FastifyRequest } from "fastify";
import { PROBLEM_MEDIA_TYPE } from "../../contract/errors.ts";
import { HEADERS } from "../../contract/headers.ts";
import { OAUTH_PATHS } from "../../contract/scopes.ts";
import { CHALLENGE } from "../domain/api-error.ts";
import type { Log } from "../ports.ts";
import { Problem } from "../../contract/schemas/problem.ts";
import { declaredFields } from "./declared-fields.ts";
import { loggedPath } from "./request-log.ts";
import { commonHeaders, type ResponseTools } from "./headers.ts";
import { INTERNAL_ERROR, toApiError, toProblem } from "./problem.ts";
import { createHash } from "node:crypto";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Path of the metadata of the protected resource (RFC 9728); absent for the API. */
    resourceMetadata?: string;
  }
}

/** Adds the headers of every response. A page or a file may replace them later. */
export function addCommonHeaders(tools: ResponseTools, reply: FastifyReply, requestId: string): void {
  void reply.headers(commonHeaders(tools, requestId));
  void reply.header("Cache-Control", "no-store").header("X-Content-Type-Options", "nosniff");
}

/** Logs a failed request; only at level debug if the client closed the connection before it had sent the whole body. */
export function logFailure(log: Log, error: unknown, { id, raw, method, url }: FastifyRequest): void {
  const isAborted = (error as NodeJS.ErrnoException).code === "ECONNRESET" && !raw.complete;
  if (isAborted) log.debug({ request_id: id }, "a client closed its connection before the end of the request");
  else log.error({ request_id: id, method, path: loggedPath(url), err: error }, "a request failed");
}

/** Responds to anything thrown with problem details, and logs faults of the platform. */
export function sendError(tools: ResponseTools, error: unknown, requestId: string, reply: FastifyReply): FastifyReply {
  const shown = toApiError(error) ?? INTERNAL_ERROR;
  if (shown.status === 500 && reply.request.fault === null) logFailure(tools.log, error, reply.request);
  reply.request.errorCode = shown.code;
  for (const [name, value] of Object.entries(shown.headers)) void reply.header(name, value);
  // Do not reveal account details in a 401.
  if (shown.status === 401) {
    void reply.header(HEADERS.version, tools.versions.latest);
    const challenge = shown.headers["WWW-Authenticate"];
    // Where a client finds out how to get a token (RFC 9728 5.1).
    const { resourceMetadata = OAUTH_PATHS.resourceMetadata } = reply.request.routeOptions.config;
    const metadata = tools.baseUrl() + resourceMetadata;
    if (challenge?.startsWith(CHALLENGE) === true)
      void reply.header("WWW-Authenticate", `${challenge}, resource_metadata="${metadata}"`);
  }
  const text = JSON.stringify(declaredFields(Problem)(toProblem(shown, requestId, tools.baseUrl())));
  reply.request.responseText = text;
  return reply
    .code(shown.status)
    .header("Content-Type", PROBLEM_MEDIA_TYPE)
    .header(HEADERS.requestId, requestId)
    .send(text);
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
  svg: "image/svg+xml",
  md: "text/markdown; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  woff2: "font/woff2",
};

/** Returns the media type of a built file; undefined for one that is not served. */
export function mediaTypeOf(file: string): string | undefined {
  return MEDIA_TYPES[file.slice(file.lastIndexOf(".") + 1)];
}

/** A file or text that clients may keep as long as its tag stays the same. */
export interface TaggedFile {
  mediaType: string;
  content: string | Buffer;
  tag: string;
}

export function tagged(mediaType: string, content: string | Buffer): TaggedFile {
  // Weak: the compressed text has other bytes.
  return { mediaType, content, tag: `W/"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"` };
}

/** Sends the file, or 304 to a client that has it. */
export function sendTagged(reply: FastifyReply, { mediaType, content, tag }: TaggedFile): FastifyReply {
  void reply.headers({ "Cache-Control": "no-cache", ETag: tag });
  const isKept = reply.statusCode === 200 && matchesTag(reply.request.headers["if-none-match"], tag);
  if (isKept) return reply.code(304).send();
  return reply.header("Content-Type", mediaType).send(content);
}

/** Returns true if a weak comparison finds the tag in a list of tags, or the list is `*` (RFC 9110 13.1.2). */
function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = tag.replace("W/", "");
  return header.trim() === "*" || [...header.matchAll(/"[^"]*"/g)].some(([listed]) => listed === opaque);
}
