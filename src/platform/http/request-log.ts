import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { withoutCredentials } from "../../contract/credentials.ts";
import type { ErrorCode } from "../../contract/errors.ts";
import { HEADERS } from "../../contract/headers.ts";
import { kindOfId } from "../../contract/ids.ts";
import { LIMITS } from "../../contract/limits.ts";
import { parseJson } from "../../contract/json.ts";
import { kindsWith, pathOf, RESOURCES } from "../../contract/resources.ts";
import type { RequestExchange, RequestMethod } from "../../contract/schemas/request-log.ts";
import type { Caller } from "../domain/request-context.ts";
import type { ClientAddress } from "./client-address.ts";
import type { Keywords } from "./declared-fields.ts";
import { parseIdempotencyKey } from "./headers.ts";
import type { RequestRecorder } from "../observability/request-recorder.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Records the owner of the request's credential, even if it is rejected, and its operation's path. */
    identified: ({ caller: Caller; path: string } & SecretNames) | null;
    /** The error code of a response that is a problem. */
    errorCode: ErrorCode | null;
    /** The body as sent, and the response: for the request log. */
    sentBody: Buffer | null;
    responseText: string | null;
  }
}

/**
 * Records every request with a known account and environment, except reads of this log, and those of the clock by
 * commands that show ages: they would soon fill it.
 */
export function recordRequests(app: FastifyInstance, requests: RequestRecorder, clientAddress: ClientAddress): void {
  app.decorateRequest("identified", null);
  app.decorateRequest("errorCode", null);
  app.decorateRequest("sentBody", null);
  app.decorateRequest("responseText", null);
  app.addHook("onResponse", (request, reply, done) => {
    const { identified } = request;
    if (identified !== null && !isPoll(request, identified.path, reply.statusCode) && !isPreview(request)) {
      requests.record(identified.caller, {
        id: request.id,
        method: request.method as RequestMethod,
        path: pathWithId(request, identified.path, reply.statusCode),
        status: reply.statusCode,
        milliseconds: reply.elapsedTime,
        idempotencyKey: idempotencyKeyOf(request),
        errorCode: request.errorCode ?? undefined,
        fault: request.fault,
        client: clientOf(request),
        exchange: () => exchangeOf(request, reply, { clientAddress: clientAddress(request.raw), ...identified }),
      });
    }
    done();
  });
}

/** Returns `service-cli` for requests of the command, which users may want to tell from those of their application. */
export function clientOf({ headers }: FastifyRequest): "service-cli" | undefined {
  return headers["user-agent"]?.startsWith("service-cli/") ? "service-cli" : undefined;
}

function isPoll(request: FastifyRequest, path: string, status: number): boolean {
  const isOfClock = request.method === "GET" && path === pathOf("test_clock") && clientOf(request) !== undefined;
  return status === 200 && (isOfClock || path.startsWith(pathOf("request_log")));
}

/** A page asks what an operation would change before its user decides: like its other reads, this is not recorded. */
function isPreview({ identified, body }: FastifyRequest): boolean {
  const { dry_run: isDryRun } = (body ?? {}) as { dry_run?: unknown };
  return isDryRun === true && identified?.caller.credential.kind === "session";
}

/** What clients send in place of an ID by mistake: no value, a placeholder, a number, or a part of an ID. */
const MISTAKES = /^(?:undefined|null|NaN|none|nil|true|false|id|\[object Object\]|:\w{1,20}|\$?\{\w{1,20}\}|\d{1,20})$/;
const PART_OF_ID = /^(?<prefix>[a-z]{2,4}_)[0-9A-Za-z]{0,30}$/;

/**
 * Returns the operation's path with its ID, or the name of a snapshot. In place of an ID that does not exist, only what
 * cannot be a secret is shown.
 */
function pathWithId(request: FastifyRequest, path: string, status: number): string {
  if (!path.includes("{id}")) return path;
  const { id = "" } = request.params as { id?: string };
  return status < 300 || isHarmless(id) ? path.replace("{id}", () => id) : path;
}

function isHarmless(id: string): boolean {
  if (kindOfId(id) !== undefined || MISTAKES.test(id)) return true;
  const prefix = PART_OF_ID.exec(id)?.groups?.["prefix"];
  return kindsWith("prefix").some((kind) => RESOURCES[kind].prefix === prefix);
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

/** Headers of requests and responses whose values are shown. Others may hold secrets or personal data. */
const SHOWN_HEADERS = new Set([
  "accept",
  "content-encoding",
  "content-length",
  "content-type",
  "retry-after",
  "traceparent",
  "user-agent",
  ...Object.values(HEADERS).map((name) => name.toLowerCase()),
]);
// The log has its digest.
SHOWN_HEADERS.delete(HEADERS.idempotencyKey.toLowerCase());
const HIDDEN = "…";

/** The content of request and response for the request log, without secrets. */
function exchangeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { clientAddress, secretInputs, secretFields }: SecretNames & { clientAddress: string | undefined },
): RequestExchange {
  const query = request.url.split("?", 2)[1];
  return {
    client_address: clientAddress ?? null,
    query: query === undefined ? null : excerpt(query),
    request_headers: shownHeaders(request.headers),
    request_body:
      request.sentBody === null ? null : excerpt(withoutInputs(request.sentBody.toString("utf8"), secretInputs)),
    response_headers: shownHeaders(reply.getHeaders()),
    response_body: request.responseText === null ? null : excerpt(withoutFields(request.responseText, secretFields)),
  };
}

/** The names of the fields of an operation that hold secrets: in its request at any depth, and in its response. */
interface SecretNames {
  secretInputs: readonly string[];
  secretFields: readonly string[];
}

/** Returns the names of a request's fields that hold secrets, at any depth. */
export function secretInputsOf(schema: TSchema | undefined): string[] {
  if (schema === undefined) return [];
  const { properties = {}, items, anyOf = [] } = schema as Keywords;
  const parts = [...Object.values(properties), items, ...anyOf];
  return [...secretFieldsOf(schema), ...parts.flatMap(secretInputsOf)];
}

/** Returns the names of a response's fields that hold secrets. */
export function secretFieldsOf(schema: TSchema): string[] {
  const { properties = {} } = schema as Keywords;
  return Object.keys(properties).filter((name) => isSecret(properties[name]!));
}

function isSecret(schema: TSchema): boolean {
  const { "x-secret": secret, anyOf = [] } = schema as Keywords & { "x-secret"?: boolean };
  return secret === true || anyOf.some(isSecret);
}

function shownHeaders(headers: Record<string, string | number | string[] | undefined>): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(", ") : String(value);
    shown[name] = SHOWN_HEADERS.has(name) || name.startsWith("service-") ? excerpt(text) : HIDDEN;
  }
  return shown;
}

/** A client may write its JSON in many ways, so it is parsed. What cannot be parsed may be a secret. */
function withoutInputs(json: string, names: readonly string[]): string {
  if (names.length === 0) return json;
  const body = parseJson(json);
  if (body === undefined) return HIDDEN;
  return JSON.stringify(body, (name, value: unknown) => (names.includes(name) && value !== null ? HIDDEN : value));
}

function withoutFields(json: string, names: readonly string[]): string {
  if (names.length === 0) return json;
  return json.replaceAll(new RegExp(`("(?:${names.join("|")})":)"[^"]*"`, "g"), `$1"${HIDDEN}"`);
}

/** Truncates a text last, so that no part of a secret looks harmless. */
function excerpt(text: string): string {
  const max = LIMITS.requestLogBodyCharacters;
  // A credential may be cut by the end of the excerpt.
  return redacted(text.slice(0, max + 512)).slice(0, max);
}

/** Every credential has an underscore, which may be written with an escape. */
const SUSPICIOUS = /_|%|\\u00/;

/** A credential may be written with escapes of URLs or of JSON, even twice. Then all of the text is shown without them. */
function redacted(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const plain = withoutEscapes(withoutEscapes(text));
  const shown = withoutCredentials(plain);
  return shown === plain ? withoutCredentials(text) : shown;
}

function withoutEscapes(text: string): string {
  return text.replaceAll(/(?:%|\\u00)([2-7][0-9a-f])/gi, (_escape, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
}
