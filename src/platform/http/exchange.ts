import type { FastifyReply, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { withoutCredentials } from "../../contract/credentials.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { RequestExchange } from "../../contract/schemas/request-log.ts";

/** Headers whose values are secrets, or identify a person or a retry; the log has a digest of the last one. */
const HIDDEN_HEADERS = new Set(["cookie", "set-cookie", "idempotency-key", "proxy-authorization", "x-csrf-token"]);
const HIDDEN = "…";

/** The content of request and response for the request log, without secrets. */
export function exchangeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { clientAddress, secretFields }: { clientAddress: string | undefined; secretFields: readonly string[] },
): RequestExchange {
  const query = request.url.split("?", 2)[1];
  return {
    client_address: clientAddress ?? null,
    query: query === undefined ? null : excerpt(query),
    request_headers: shownHeaders(request.headers),
    request_body: request.sentBody === null ? null : excerpt(request.sentBody.toString("utf8")),
    response_headers: shownHeaders(reply.getHeaders()),
    response_body: request.responseText === null ? null : excerpt(withoutFields(request.responseText, secretFields)),
  };
}

/** Returns the names of a response's fields that hold secrets. */
export function secretFieldsOf(schema: TSchema): string[] {
  const { properties = {} } = schema as { properties?: Record<string, TSchema> };
  return Object.keys(properties).filter((name) => isSecret(properties[name]!));
}

function isSecret(schema: TSchema): boolean {
  const { "x-secret": secret, anyOf = [] } = schema as { "x-secret"?: boolean; anyOf?: TSchema[] };
  return secret === true || anyOf.some(isSecret);
}

function shownHeaders(headers: Record<string, string | number | string[] | undefined>): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(", ") : String(value);
    if (HIDDEN_HEADERS.has(name)) shown[name] = HIDDEN;
    else shown[name] = name === "authorization" ? authorizationOf(text) : excerpt(text);
  }
  return shown;
}

/** The scheme and the prefix of a known credential. Anything else may be a secret of another kind. */
function authorizationOf(text: string): string {
  const shown = withoutCredentials(text);
  if (shown !== text && shown.endsWith(HIDDEN)) return shown;
  const [scheme = ""] = /^[A-Za-z]+ /.exec(text) ?? [];
  return scheme + HIDDEN;
}

function withoutFields(json: string, names: readonly string[]): string {
  if (names.length === 0) return json;
  return json.replaceAll(new RegExp(`("(?:${names.join("|")})":)"[^"]*"`, "g"), `$1"${HIDDEN}"`);
}

/** Truncated last, so that no part of a secret looks harmless. */
function excerpt(text: string): string {
  const max = LIMITS.requestLogBodyCharacters;
  // A credential may begin before the end of what is shown, and end after it.
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
