import type { FastifyReply, FastifyRequest } from "fastify";
import { PROBLEM_MEDIA_TYPE } from "../../contract/errors.ts";
import { HEADERS } from "../../contract/headers.ts";
import type { Services } from "../services.ts";
import { INTERNAL_ERROR, toApiError, toProblem } from "./problem.ts";

/** Adds the headers of every response. A page or a file may replace them later. */
export function addCommonHeaders(services: Services, reply: FastifyReply, requestId: string): void {
  void reply.header(HEADERS.requestId, requestId).header(HEADERS.version, services.versions.latest);
  if (services.rateLimit !== undefined) void reply.header(HEADERS.rateLimitPolicy, services.rateLimit.policy);
  void reply.header("Cache-Control", "no-store").header("X-Content-Type-Options", "nosniff");
}

/** Logs a failed request; only at level debug if the client closed the connection before it had sent the whole body. */
export function logFailure({ log }: Services, error: unknown, { id, raw }: FastifyRequest): void {
  const isAborted = (error as NodeJS.ErrnoException).code === "ECONNRESET" && !raw.complete;
  if (isAborted) log.debug({ request_id: id }, "a client closed its connection before the end of the request");
  else log.error({ request_id: id, err: error }, "a request failed");
}

/** Responds to anything thrown with a problem document, and logs what is the platform's fault. */
export function sendError(services: Services, error: unknown, requestId: string, reply: FastifyReply): FastifyReply {
  const shown = toApiError(error) ?? INTERNAL_ERROR;
  if (shown.status === 500) logFailure(services, error, reply.request);
  reply.request.errorCode = shown.code;
  for (const [name, value] of Object.entries(shown.headers)) void reply.header(name, value);
  // Do not reveal account details in a 401.
  if (shown.status === 401) void reply.header(HEADERS.version, services.versions.latest);
  return reply
    .code(shown.status)
    .header("Content-Type", PROBLEM_MEDIA_TYPE)
    .header(HEADERS.requestId, requestId)
    .send(JSON.stringify(toProblem(shown, requestId, services.baseUrl)));
}
