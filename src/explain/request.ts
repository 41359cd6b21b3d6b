import { counted } from "../contract/words.ts";
import { kindOfId, lookUp, timeOfId } from "../contract/ids.ts";
import { parseJson } from "../contract/json.ts";
import { LISTEN_PATH } from "../contract/listen.ts";
import type { ApiKey } from "../contract/schemas/api-key.ts";
import type { Fault } from "../contract/schemas/fault.ts";
import type { RequestLogDetail } from "../contract/schemas/request-log.ts";
import type { Scope } from "../contract/scopes.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { type Finding, quoted, span, type TimeFormat } from "./finding.ts";

/** Errors whose explanation needs the API key. */
export const KEY_ERRORS: ReadonlySet<string | null> = new Set([
  "expired_credential",
  "insufficient_scope",
  "ip_not_allowed",
  "revoked_credential",
]);

/** Whether a fault still affects requests. One that the credential may not read is taken for active. */
export type FaultState = "active" | "used up" | "removed";

/** Returns what became of the fault that made a request fail; undefined if none did. */
export async function faultOf(
  request: RequestLogDetail | undefined,
  api: { problemOf(error: unknown): { status: number } | undefined },
  read: (id: string) => Promise<Fault>,
): Promise<FaultState | undefined> {
  if (request?.fault?.effect !== "status") return undefined;
  try {
    const { times, injected } = await read(request.fault.id);
    return times !== null && injected >= times ? "used up" : "active";
  } catch (error) {
    const status = api.problemOf(error)?.status;
    if (status === undefined) throw error;
    return status === 404 ? "removed" : "active";
  }
}

interface Problem {
  id?: unknown;
  detail?: unknown;
  required_scope?: unknown;
  existing?: unknown;
  current?: unknown;
  errors?: { pointer: string; code?: string; detail: string }[];
}

/** Returns what a request was about: findings about its response, the most important first. */
export function ofRequest({ request, ...rest }: RequestParts, time: TimeFormat): Finding[] {
  if (request === undefined) return [];
  const isFailed = request.status >= 400 && request.fault?.effect !== "disconnect";
  return [...lostResponse(request), ...(isFailed ? [failedRequest({ request, ...rest }, time)] : [])];
}

/** A request, and what else is known about its failure. */
export interface RequestParts {
  request: RequestLogDetail | undefined;
  /** Undefined if the error does not concern the API key, or it cannot be read. */
  key: ApiKey | undefined;
  /** What became of the fault that made it fail. */
  fault: FaultState | undefined;
  /** The request that used the same Idempotency-Key first. */
  earlier: RequestLogDetail | undefined;
}

/** Returns that a fault kept the response from the client, or half of it, if so. */
function lostResponse({ id, method, path, status, fault, idempotency_key: key, ...rest }: RequestLogDetail): Finding[] {
  if (fault === null || !["disconnect", "lose_response", "truncate"].includes(fault.effect)) return [];
  const isRead = method === "GET" || method === "HEAD";
  const hasEffect = fault.effect !== "disconnect" && status < 400 && !isRead;
  const isHalf = fault.effect === "truncate" && method !== "HEAD";
  const closed = `the fault ${fault.id} closed the connection`;
  const when =
    fault.effect === "disconnect"
      ? `${closed} before the request had an effect`
      : hasEffect
        ? `${closed} after the request took effect${status === 201 ? createdBy(rest) : ""}`
        : `${closed} ${isHalf ? "before the end" : `instead of sending ${status}`}`;
  const response = [status, quoted(rest.response_body)].filter(Boolean).join(", ");
  const action =
    method === "POST" && key === null
      ? `Send each POST with an Idempotency-Key, which makes it safe to repeat${hasEffect ? ": repeating this one has a second effect" : ""}`
      : method === "POST"
        ? `Repeat the request with the same Idempotency-Key${hasEffect ? ", which returns this response without a second effect" : ""}`
        : method === "DELETE" && hasEffect
          ? "Repeat the request; 404 then means that the object is deleted"
          : "Repeat the request";
  return [
    {
      code: "response_lost",
      subject: id,
      summary: `The client got ${isHalf ? "half of the response" : "no response"} to ${method} ${path}: ${when}`,
      evidence:
        fault.effect === "disconnect"
          ? null
          : `The response, ${isHalf ? "of which half was sent" : "which was not sent"}: ${response}`,
      action,
      fix: null,
    },
  ];
}

/** Returns what a request created, to append to a sentence. */
function createdBy(request: Pick<RequestLogDetail, "response_body">): string {
  const { id } = problemIn(request);
  const object = lookUp(id);
  return object === undefined ? "" : `: the ${object.noun} ${id as string} exists`;
}

/** Returns why an API request failed. */
function failedRequest(
  { request, key, fault, earlier }: RequestParts & { request: RequestLogDetail },
  time: TimeFormat,
): Finding {
  const { id, method, path, status, error_code: code, query, request_body: body } = request;
  // The log has no body of a response to a WebSocket's request.
  const { detail, errors = [], required_scope: scope = scopeOf(path) } = problemIn(request);
  const isOfKey = key !== undefined && status === 401;
  const lacked = code === "insufficient_scope" && key !== undefined && typeof scope === "string";
  const reason = lacked
    ? `the key ${key.name ?? key.id} lacks the scope ${scope}`
    : fault !== undefined
      ? `the fault ${request.fault!.id} ${fault === "active" ? "makes" : "made"} this request fail on purpose`
      : code === "invalid_request" && errors.length > 0
        ? fieldErrors(errors)
        : isOfKey || typeof detail !== "string"
          ? ""
          : ((earlier && reuse(request, earlier)) ?? detail.replace(/^Th(?=e|is )/, "th").replace(/\.$/, ""));
  const failure = `${method} ${path} failed with ${status} ${code ?? ""}`.trim();
  const sent = quoted(body) === "" ? query && `Query: ${query}` : `Request body: ${quoted(body)}`;
  const delay =
    request.fault?.effect === "delay" && `The fault ${request.fault.id} delayed the response, and left it as it was`;
  return {
    code: code === "insufficient_scope" ? "missing_scope" : "request_failed",
    subject: id,
    summary: reason === "" ? failure : `${failure}: ${reason}`,
    evidence: [key === undefined ? sent : keyEvidence(key, time), delay].filter(Boolean).join(". ") || null,
    ...(fault === undefined ? remedyOf(request, key, scope) : remedyOfFault(request, fault)),
  };
}

function scopeOf(path: string): Scope | undefined {
  return path === LISTEN_PATH ? "listen:read" : undefined;
}

const MAX_ERRORS = 3;

/** Returns `amount must be at least 0; unknown field curency (did you mean currency?)`. */
function fieldErrors(errors: NonNullable<Problem["errors"]>): string {
  const shown = errors.slice(0, MAX_ERRORS).map(({ pointer, code, detail }) => {
    const field = pointer.replace(/^[/?]/, "").replaceAll("/", ".");
    if (code === "unknown_field") return `unknown field ${field} (${detail.replace(/^[^;]*; /, "")})`;
    return `${field === "" ? "the body" : field} ${detail}`;
  });
  const rest = errors.length - shown.length;
  return [...shown, ...(rest === 0 ? [] : [counted(rest, "more error")])].join("; ");
}

/** Returns that a request used the Idempotency-Key of an earlier one for another body; undefined if they are equal. */
function reuse(request: RequestLogDetail, earlier: RequestLogDetail): string | undefined {
  const [before, after] = [earlier, request].map(
    ({ request_body: body }) => (parseJson(body ?? "") ?? {}) as Record<string, unknown>,
  ) as [Record<string, unknown>, Record<string, unknown>];
  const shown = (value: unknown) => (value === undefined ? "missing" : JSON.stringify(value));
  const changes = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((name) => [name, shown(before[name]), shown(after[name])] as const)
    .filter(([, was, is]) => was !== is)
    .map(([name, was, is]) => `${name} was ${was} and is ${is} now`);
  if (changes.length === 0) return undefined;
  const ago = span(timeOfId(request.id) - timeOfId(earlier.id));
  const others = changes.length > MAX_ERRORS ? "; …" : "";
  return `${earlier.id} used this Idempotency-Key ${ago} earlier with another body: ${changes.slice(0, MAX_ERRORS).join("; ")}${others}`;
}

function keyEvidence(
  { name, prefix, last4, revoked_at: revoked, expires_at: expires, scopes }: ApiKey,
  time: TimeFormat,
) {
  const state =
    revoked !== null ? `was revoked at ${time(revoked)}` : expires !== null ? `expires at ${time(expires)}` : undefined;
  return `The API key ${name ?? ""} (${prefix}…${last4}) ${state ?? `has the scopes ${scopes.join(", ")}`}`.replace(
    "  ",
    " ",
  );
}

function remedyOfFault({ fault }: RequestLogDetail, state: FaultState): Pick<Finding, "action" | "fix"> {
  return state === "active"
    ? { action: "Remove the fault", fix: shellCommand`service faults remove ${fault!.id}` }
    : { action: `The fault ${state === "removed" ? "was removed" : "is used up"}: send the request again`, fix: null };
}

function remedyOf(request: RequestLogDetail, key: ApiKey | undefined, scope: unknown): Pick<Finding, "action" | "fix"> {
  const { status, path, error_code: code, key: keyId, client_address: address } = request;
  const isUsable = key !== undefined && key.revoked_at === null;
  if (code === "insufficient_scope" && keyId === null)
    return { action: "Sign in with more scopes", fix: "service login" };
  // An update replaces the whole list, so the command names what the key has too.
  if (code === "insufficient_scope" && isUsable && typeof scope === "string") {
    const scopes = [...key.scopes, scope].join(",");
    return { action: "Add the scope to the key", fix: shellCommand`service keys update ${key.id} --scope ${scopes}` };
  }
  if (code === "insufficient_scope" && typeof scope === "string") {
    const fix = shellCommand`service keys create --scope ${scope}`;
    return { action: "Create a key with the scope, and send the request with it", fix };
  }
  if (code === "ip_not_allowed" && isUsable && address !== null) {
    const addresses = [...key.ip_allowlist, `${address}/${address.includes(":") ? 128 : 32}`].join(",");
    const fix = shellCommand`service keys update ${key.id} --ip-allow ${addresses}`;
    return { action: `Allow ${address} for the key`, fix };
  }
  if (key !== undefined && status === 401) {
    const flags = key.name === null ? [] : ["--name", key.name];
    const scopes = key.scopes.join(",");
    const fix = shellCommand`service keys create ${[...flags, "--scope", scopes]}`;
    return { action: "Create a key with the same scopes, and send the request with it", fix };
  }
  if (keyId !== null && (status === 401 || code === "insufficient_scope" || code === "ip_not_allowed")) {
    return { action: "Check the key", fix: shellCommand`service keys get ${keyId}` };
  }
  if (status === 401) return { action: "Sign in again", fix: "service login" };
  const { existing: other, current, detail } = problemIn(request);
  const existing = lookUp(other);
  if (existing !== undefined) return { action: `Use the existing ${existing.noun}`, fix: existing.command };
  const object = code === "invalid_transition" ? lookUp(path.split("/")[3]) : undefined;
  if (object !== undefined) {
    const isDone = String(detail).endsWith(` is already ${String(current)}.`);
    const state = `The ${object.noun} ${isDone ? "is already" : "stays"} ${String(current)}`;
    return { action: `${state}, so ${isDone ? "treat this response as a success" : "create another one"}`, fix: null };
  }
  if (status >= 500) return { action: "Look for the ID of the request in the platform's log", fix: null };
  const action = status === 429 ? WAIT : (REMEDIES[code ?? ""] ?? "Correct the request, then send it again");
  return { action, fix: null };
}

const WAIT = "Wait as long as Retry-After says, then send the request again";

/** By the code of an error. */
const REMEDIES: Readonly<Partial<Record<string, string>>> = {
  body_too_large: "Store the data elsewhere, and send a reference to it",
  idempotency_in_flight: WAIT,
  idempotency_key_reused: "Send the request with a new Idempotency-Key",
  invalid_cursor: "Send the next_cursor of the previous page unchanged, with the same filters",
  method_not_allowed: "Use one of the methods in the Allow header",
  not_found: "Check the ID, and that the credential is of the environment in which the object was created",
  unsupported_media_type: "Send the body as JSON, with Content-Type: application/json",
};

/** Returns the members of the JSON in a response. */
function problemIn({ response_body: body }: Pick<RequestLogDetail, "response_body">): Problem {
  return parseJson(body ?? "") ?? {};
}

/** Returns why a successful request caused no event. */
export function uneventful(request: RequestLogDetail): Finding {
  const { id, method, path, status, events, response_headers: headers } = request;
  const { id: object } = problemIn(request);
  const isRepeated = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "idempotent-replayed");
  const finding = { code: "no_event", subject: id, evidence: `${method} ${path}: ${status}` } as const;
  if (isRepeated && typeof object === "string" && kindOfId(object) !== undefined) {
    return {
      ...finding,
      summary: "The request repeated an earlier one with the same idempotency key, so it caused no other event",
      action: "Explain what the earlier request created",
      fix: shellCommand`service why ${object}`,
    };
  }
  const summary =
    method === "GET" || method === "HEAD"
      ? "The request only read data, so it caused no event"
      : events.length > 0
        ? "The event of the request was deleted after 30 days"
        : "The request succeeded and caused no event";
  return { ...finding, summary, action: null, fix: null };
}
