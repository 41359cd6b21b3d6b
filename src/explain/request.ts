import { kindOfId } from "../contract/ids.ts";
import { parseJson } from "../contract/json.ts";
import type { ApiKey } from "../contract/schemas/api-key.ts";
import type { RequestLogDetail } from "../contract/schemas/request-log.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { counted, type Finding, quoted, type TimeFormat } from "./finding.ts";

/** Errors whose explanation needs the API key. */
export const KEY_ERRORS: ReadonlySet<string | null> = new Set([
  "expired_credential",
  "insufficient_scope",
  "ip_not_allowed",
  "revoked_credential",
]);

interface Problem {
  id?: unknown;
  detail?: unknown;
  required_scope?: unknown;
  errors?: { pointer: string; detail: string }[];
}

/** Returns why an API request failed. `key` is undefined if the error does not concern it, or it cannot be read. */
export function failedRequest(request: RequestLogDetail, key: ApiKey | undefined, time: TimeFormat): Finding {
  const { id, method, path, status, error_code: code, query, request_body: body, fault } = request;
  const { detail, errors = [], required_scope: scope } = problemIn(request);
  const isOfKey = key !== undefined && status === 401;
  const reason =
    errors.length > 0 ? fieldErrors(errors) : isOfKey || typeof detail !== "string" ? "" : detail.replace(/\.$/, "");
  const failure =
    fault?.effect === "disconnect"
      ? `${method} ${path} got no response: the fault ${fault.id} of the sandbox closed the connection`
      : `${method} ${path} failed with ${status} ${code ?? ""}`.trim();
  const sent = quoted(body) === "" ? query && `Query: ${query}` : `Request body: ${quoted(body)}`;
  return {
    code: code === "insufficient_scope" ? "missing_scope" : "request_failed",
    subject: id,
    summary: reason === "" ? failure : `${failure}: ${reason}`,
    evidence: key === undefined ? sent || null : keyEvidence(key, time),
    ...remedyOf(request, key, scope),
  };
}

const MAX_ERRORS = 3;

/** Returns `amount must be at least 0; currency is required`. */
function fieldErrors(errors: NonNullable<Problem["errors"]>): string {
  const shown = errors.slice(0, MAX_ERRORS).map(({ pointer, detail }) => {
    const field = pointer.replace(/^[/?]/, "").replaceAll("/", ".");
    return `${field === "" ? "the body" : field} ${detail}`;
  });
  const rest = errors.length - shown.length;
  return [...shown, ...(rest === 0 ? [] : [counted(rest, "more error")])].join("; ");
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

function remedyOf(
  { id, status, error_code: code, key: keyId, client_address: address, fault }: RequestLogDetail,
  key: ApiKey | undefined,
  scope: unknown,
): Pick<Finding, "action" | "fix"> {
  if (fault !== null && status >= 429) {
    return { action: "Remove the fault", fix: shellCommand`service faults remove ${fault.id}` };
  }
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
  const action =
    status >= 500
      ? "See the whole request, then look for its ID in the platform's log"
      : "See the whole request, then correct it";
  return { action, fix: shellCommand`service logs get ${id}` };
}

/** Returns the members of the JSON in a response. */
function problemIn({ response_body: body }: RequestLogDetail): Problem {
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
  return {
    ...finding,
    summary,
    action: "See the whole request",
    fix: shellCommand`service logs get ${id}`,
  };
}
