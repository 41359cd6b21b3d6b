import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ErrorCode } from "../../contract/errors.ts";
import { kindOfId } from "../../contract/ids.ts";
import type { RequestMethod } from "../../contract/schemas/request-log.ts";
import type { ClientAddress } from "./client-address.ts";
import type { RequestRecorder } from "../observability/request-recorder.ts";
import { exchangeOf } from "./exchange.ts";
import { REQUEST_LOG_PATH, REQUEST_LOGS_PATH } from "./routes/request-logs.ts";
import type { Caller } from "../domain/request-context.ts";
import { parseIdempotencyKey } from "./idempotency.ts";
import { withoutCredentials } from "../../contract/credentials.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Records the owner of the request's credential, even if it is rejected, and its operation's path. */
    identified: { caller: Caller; path: string; secretFields: readonly string[] } | null;
    /** Set if the response is a problem. */
    errorCode: ErrorCode | null;
    /** The body as sent, and the response: for the request log. */
    sentBody: Buffer | null;
    responseText: string | null;
  }
}

/** Records every request with a known account and environment, except reads of this log, which would soon fill it. */
export function recordRequests(app: FastifyInstance, requests: RequestRecorder, clientAddress: ClientAddress): void {
  app.decorateRequest("identified", null);
  app.decorateRequest("errorCode", null);
  app.decorateRequest("sentBody", null);
  app.decorateRequest("responseText", null);
  app.addHook("onResponse", (request, reply, done) => {
    const { identified } = request;
    if (identified !== null && !isPoll(identified.path, reply.statusCode)) {
      requests.record(identified.caller, {
        id: request.id,
        method: request.method as RequestMethod,
        path: pathOf(request, identified.path),
        status: reply.statusCode,
        milliseconds: reply.elapsedTime,
        idempotencyKey: idempotencyKeyOf(request),
        errorCode: request.errorCode ?? undefined,
        exchange: () => {
          const { secretFields } = identified;
          return exchangeOf(request, reply, { clientAddress: clientAddress(request.raw), secretFields });
        },
      });
    }
    done();
  });
}

function isPoll(path: string, status: number): boolean {
  return (path === REQUEST_LOGS_PATH || path === REQUEST_LOG_PATH) && status === 200;
}

/** Returns the operation's path with its ID. Anything else in place of the ID is omitted, since it may be a key. */
function pathOf(request: FastifyRequest, path: string): string {
  if (!path.includes("{id}")) return path;
  const { id = "" } = request.params as { id?: string };
  return kindOfId(id) === undefined ? path : path.replace("{id}", id);
}

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const header = request.method === "POST" ? request.headers["idempotency-key"] : undefined;
  return typeof header === "string" ? parseIdempotencyKey(header) : undefined;
}

/** Returns a request's path for logs: without its query and anything that looks like a credential, however encoded. */
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
