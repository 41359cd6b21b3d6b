import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { HEADERS } from "../../contract/headers.ts";
import { kindOfId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { pathOf, type ResourceKind } from "../../contract/resources.ts";
import { ApiError, invalidFields } from "../domain/api-error.ts";
import { canGetFaults } from "../domain/faults.ts";
import type { Caller } from "../domain/request-context.ts";
import { assertScope, assertSession, type Authenticate } from "../http/authenticate.ts";
import { injectFault } from "../http/faults.ts";
import { InFlight } from "./idempotency.ts";
import type { With } from "../tools.ts";
import { type Call, RawJson } from "../http/call.ts";
import { type Route, runLong, type RunTools, runWrite, toJson } from "./run.ts";
import { secretFieldsOf, secretInputsOf } from "../http/request-log.ts";
import { recordUnread } from "../http/unread.ts";
import { type Check, checkOf, compileQuery } from "../http/validate.ts";
import { versionOf, versionOfResponse } from "../http/headers.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Null until the caller is authenticated. */
    caller: Caller | null;
  }
}

/**
 * Registers a route for each operation. The contract sets the order of errors: 401, 403, 429, version, then invalid
 * requests.
 */
export function registerOperations(
  app: FastifyInstance,
  tools: RunTools & With<"rateLimit" | "clock" | "random" | "baseUrl" | "publicUrl">,
  authenticate: Authenticate,
  operations: readonly Route[],
): void {
  const inFlight = new InFlight();
  app.decorateRequest("caller", null);
  const { versions, baseUrl, publicUrl } = tools;
  /** Absolute, because many clients do not resolve a relative link. */
  const originOf = ({ headers }: FastifyRequest) => (publicUrl === undefined ? `http://${headers.host}` : baseUrl());
  /** Error responses contain the caller's version, too, once it is known. */
  const nameVersion = (reply: FastifyReply, { tenant: { account } }: Caller) =>
    void reply.header(HEADERS.version, versionOfResponse(versions, reply.request.headers, account.version));
  for (const operation of operations) {
    const secrets = {
      secretInputs: secretInputsOf(operation.body),
      secretFields: secretFieldsOf(operation.response),
    };
    const takesFaults = canGetFaults(operation);
    const readQuery = compileQuery(operation.query);
    const checkBody = operation.body === undefined ? undefined : checkOf(operation.body);
    app.route({
      method: operation.method,
      url: operation.path.replace("{id}", ":id"),
      config: operation.session === undefined ? { crossOrigin: "access token" } : {},
      onRequest: async (request, reply) => {
        request.deadline!.changesOnlyInTime();
        request.caller = await authenticate(request.raw, (caller) => {
          request.identified = { caller, path: operation.path, ...secrets };
          nameVersion(reply, caller);
        });
        nameVersion(reply, request.caller);
        if (operation.session !== undefined) assertSession(request.caller, operation.session);
        if (operation.scope !== null) assertScope(request.caller, operation.scope);
        if (operation.sandboxOnly === true && request.caller.tenant.livemode) throw sandboxOnly(operation);
        await tools.rateLimit?.take(request.caller.credential.id, (name, value) => reply.header(name, value));
      },
      handler: async (request, reply) => {
        const caller = request.caller!;
        const { id } = request.params as { id?: string };
        // The router also matches an empty ID.
        if (id === "") return reply.callNotFound();
        if (caller.hasFaults && takesFaults && (await injectFault(tools, request, reply))) return reply;
        const version = versionOf(versions, request.headers, caller.tenant.account.version);
        const call: Call = {
          operation,
          caller,
          id: id ?? "",
          query: readQuery(request.url),
          body: bodyOf(request, operation, checkBody, (body) => versions.upgrade(version, operation.name, body)),
          deadline: request.deadline!,
        };
        if (operation.read !== undefined) {
          const body = await operation.read(call, tools.database);
          if (body instanceof RawJson && body.nextCursor !== undefined) {
            void reply.header("Link", `<${originOf(request) + nextPage(request.url, body.nextCursor)}>; rel="next"`);
          }
          return send(reply, operation.status, toJson(versions, version, operation, body));
        }
        const run = operation.long === undefined ? runWrite : runLong;
        const outcome = await run({ tools, inFlight, operation, call, request, version });
        if (outcome.replayed) void reply.header(HEADERS.idempotentReplayed, "true");
        const created = outcome.status === CREATED ? locationOf(outcome.json) : undefined;
        if (created !== undefined) void reply.header("Location", created);
        return send(reply, outcome.status, outcome.json);
      },
    });
  }
}

function bodyOf(
  request: FastifyRequest,
  operation: Route,
  check: Check | undefined,
  upgrade: (body: unknown) => unknown,
): unknown {
  const body = request.body;
  if (check === undefined) {
    if (body === undefined || operation.method === "GET" || isEmptyObject(body)) return undefined;
    throw invalidFields([{ pointer: "", code: "unexpected_body", detail: "is not allowed for this request" }]);
  }
  const given = upgrade(body === undefined ? {} : body);
  const errors = check(given);
  if (errors.length > 0) throw invalidFields(errors);
  return given;
}

const CREATED = 201;

/** Returns the path of the resource in a response, which begins with its ID. */
function locationOf(json: string): string | undefined {
  const [, id] = /^\{"id":"(\w+)"/.exec(json) ?? [];
  // Every ID that a response begins with is that of a resource.
  if (id !== undefined) return `${pathOf(kindOfId(id) as ResourceKind)}/${id}`;
  const [, event] = /^\{"object":"replay","event":"(\w+)"/.exec(json) ?? [];
  return event === undefined ? undefined : `${pathOf("delivery")}?event=${event}`;
}

/** Returns the path of the next page: the same query with another cursor. */
function nextPage(url: string, cursor: string): string {
  const [path, query = ""] = url.split("?", 2);
  const others = query.split("&").filter((pair) => pair !== "" && !pair.startsWith("cursor="));
  return `${path}?${[...others, `cursor=${cursor}`].join("&")}`;
}

function isEmptyObject(body: unknown): boolean {
  return typeof body === "object" && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;
}

function send(reply: FastifyReply, status: number, json: string | Buffer): FastifyReply {
  // The request has timed out.
  if (reply.sent) return reply;
  if (typeof json === "string") reply.request.responseText = json;
  else {
    // Only the beginning is kept for the log, instead of all of it until a slow client has received it.
    reply.request.responseText = json.toString("utf8", 0, 4 * LIMITS.requestLogBodyCharacters);
    const { raw } = reply;
    const client = { cut: () => raw.destroy() };
    raw.once("close", () => recordUnread(client, 0));
    if (!raw.destroyed) recordUnread(client, json.length);
  }
  return reply.code(status).header("Content-Type", "application/json; charset=utf-8").send(json);
}

/** Returns the error for a live credential. */
export function sandboxOnly(operation: Pick<Route, "summary">): ApiError {
  return new ApiError("sandbox_only", `"${operation.summary}" works with a sandbox credential only.`);
}
