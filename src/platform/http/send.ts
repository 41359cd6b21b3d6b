import type { FastifyReply, FastifyRequest } from "fastify";
import { PROBLEM_MEDIA_TYPE } from "../../contract/errors.ts";
import { HEADERS } from "../../contract/headers.ts";
import { OAUTH_PATHS } from "../../contract/scopes.ts";
import { CHALLENGE } from "../domain/api-error.ts";
import type { Log } from "../ports.ts";
import { Problem } from "../../contract/schemas/problem.ts";
import { declaredFields } from "./declared-fields.ts";
import { loggedPath } from "./request-log.ts";
import { commonHeaders, type ResponseTools } from "./response-headers.ts";
import { INTERNAL_ERROR, toApiError, toProblem } from "./problem.ts";

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
