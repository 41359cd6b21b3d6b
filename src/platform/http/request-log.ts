import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ErrorCode } from "../../contract/errors.ts";
import { kindOfId } from "../../contract/ids.ts";
import type { RequestMethod } from "../../contract/schemas/request-log.ts";
import type { RequestRecorder } from "../observability/request-recorder.ts";
import { REQUEST_LOGS_PATH } from "./routes/request-logs.ts";
import type { Caller } from "../domain/request-context.ts";
import { parseIdempotencyKey } from "./idempotency.ts";
import { withoutCredentials } from "../../contract/credentials.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Whose credential the request carries, even if it is rejected, and its operation's path: for the request log alone. */
    identified: { caller: Caller; path: string } | null;
    /** Set where the reply is a problem. */
    errorCode: ErrorCode | null;
  }
}

/**
 * Notes every request whose account and environment are known, but for pages of this very log: whoever follows it would
 * soon find little else there.
 */
export function recordRequests(app: FastifyInstance, requests: RequestRecorder): void {
  app.decorateRequest("identified", null);
  app.decorateRequest("errorCode", null);
  app.addHook("onResponse", (request, reply, done) => {
    const { identified } = request;
    if (identified !== null && !isLook(identified.path, reply.statusCode)) {
      requests.record(identified.caller, {
        id: request.id,
        method: request.method as RequestMethod,
        path: pathOf(request, identified.path),
        status: reply.statusCode,
        milliseconds: reply.elapsedTime,
        idempotencyKey: idempotencyKeyOf(request),
        errorCode: request.errorCode ?? undefined,
      });
    }
    done();
  });
}

function isLook(path: string, status: number): boolean {
  return path === REQUEST_LOGS_PATH && status === 200;
}

/** The operation's path with its id. What stands in the id's place and is none may be anything, a key for example. */
function pathOf(request: FastifyRequest, path: string): string {
  if (!path.includes("{id}")) return path;
  const { id = "" } = request.params as { id?: string };
  return kindOfId(id) === undefined ? path : path.replace("{id}", id);
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.method === "POST" ? request.headers["idempotency-key"] : undefined;
  return typeof header === "string" ? parseIdempotencyKey(header) : undefined;
}

/** A request's path as logs may show it: without its query, and without what looks like a credential, however encoded. */
export function loggedPath(url: string): string {
  const path = url.split("?", 1)[0]!;
  const plain = decoded(path);
  const shown = withoutCredentials(plain);
  return shown === plain ? path : encodeURI(shown).replaceAll(encodeURI("…"), "…");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
