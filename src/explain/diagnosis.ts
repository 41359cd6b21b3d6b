import type { ApiKey } from "../contract/schemas/api-key.ts";
import { pathOf, type ResourceKind } from "../contract/resources.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { parseJson } from "../contract/parse-json.ts";
import type { Chain } from "./chain.ts";
import { ofDeliveries, ofDelivery } from "./deliveries.ts";
import { ofEndpoint } from "./endpoint.ts";
import { counted, type Finding, type FindingCode, span, type TimeFormat } from "./finding.ts";
import { noReceiver } from "./no-receiver.ts";

/** Returns what happened, the most important first; the first one is the answer. */
export function diagnose(chain: Chain, time: TimeFormat): Finding[] {
  const findings = [...answersOf(chain, time), ...notesOf(chain)];
  if (!chain.isLive) return findings;
  return findings.map((finding) => ({ ...finding, fix: finding.fix && `${finding.fix} --live` }));
}

function answersOf(chain: Chain, time: TimeFormat): Finding[] {
  const { id, kind, request, event, operation, deliveries, missingScopes } = chain;
  if (operation !== undefined) return [ofOperation(operation)];
  if (kind === "webhook_endpoint") return ofEndpoint(chain, time);
  if (kind === "delivery") return [ofDelivery(deliveries[0]!, chain, time)];
  const findings: Finding[] = [];
  if (request !== undefined && request.status >= 400) findings.push(requestFailed(request, chain.key));
  if (deliveries.length > 0) findings.push(...ofDeliveries(chain, time));
  else if (event !== undefined && !missingScopes.includes("deliveries:read")) {
    findings.push(noReceiver(event, chain, time));
  } else if (kind === "request" && findings.length === 0 && request !== undefined) findings.push(noEvent(request));
  else if (event === undefined && findings.length === 0 && !missingScopes.includes("events:read")) {
    findings.push({
      code: "no_event",
      subject: id,
      summary: "There is no event about this object",
      evidence: "Events are retained for 30 days",
      action: "Look at the object",
      fix: shellCommand`service api GET ${`${pathOf(kind as ResourceKind)}/${id}`}`,
    });
  }
  return findings;
}

/** What does not answer the question, but explains how the answer looks. */
function notesOf({ id, clock, missingScopes, kind, event }: Chain): Finding[] {
  const notes: Finding[] = [];
  if (missingScopes.length > 0) {
    const flags = missingScopes.flatMap((scope) => ["--scope", scope]);
    notes.push({
      code: "missing_scope",
      subject: id,
      summary: `Part of the chain is not shown: the credential lacks ${missingScopes.join(", ")}`,
      evidence: null,
      action: "Sign in with these scopes",
      fix: shellCommand`service login ${flags}`,
    });
  }
  // The log of requests has real times.
  if (clock === undefined || (kind === "request" && event === undefined)) return notes;
  const ahead = span(clock.offset_seconds * 1000);
  const summary = `The test clock is ${ahead} ahead of real time, and so are the times of what happened since it was advanced`;
  return [...notes, { code: "clock_ahead", subject: id, summary, evidence: null, action: null, fix: null }];
}

function requestFailed(
  { id, method, path, status, error_code: code, key, response_body: body }: NonNullable<Chain["request"]>,
  apiKey: ApiKey | undefined,
): Finding {
  const { detail, errors = [], required_scope: scope } = problemIn(body);
  const reason = typeof detail === "string" ? `: ${detail.replace(/\.$/, "")}` : "";
  const summary = `The API request failed with ${status} ${code ?? ""}${reason}`;
  const finding = (action: string, fix: string, of: FindingCode = "request_failed"): Finding => ({
    code: of,
    subject: id,
    summary,
    evidence: [`${method} ${path}`, ...errors.map((error) => `${error.pointer} ${error.detail}`)].join(", "),
    action,
    fix,
  });
  if (code === "insufficient_scope") {
    if (key === null) return finding("Sign in with more scopes", "service login", "missing_scope");
    return finding("Give the key the scope", fixOfScope(key, apiKey, scope), "missing_scope");
  }
  if (status === 401 && key !== null)
    return finding("Look at the key, and use another one", shellCommand`service keys get ${key}`);
  if (status === 401) return finding("Sign in again", "service login");
  const action =
    status >= 500
      ? "Look at the request and its response, then search the platform's log for its ID"
      : "Look at the request and its response, then correct the code that sends it";
  return finding(action, shellCommand`service logs get ${id}`);
}

/** An update replaces all scopes of a key, so the command names those that it has too. */
function fixOfScope(id: string, key: ApiKey | undefined, scope: unknown): string {
  if (key === undefined || key.revoked_at !== null || typeof scope !== "string")
    return shellCommand`service keys get ${id}`;
  return shellCommand`service keys update ${id} --scope ${[...key.scopes, scope].join(",")}`;
}

interface Problem {
  detail?: unknown;
  required_scope?: unknown;
  errors?: { pointer: string; detail: string }[];
}

/** Returns the members of the problem document in a response. */
function problemIn(body: string | null): Problem {
  return parseJson(body ?? "") ?? {};
}

function noEvent({
  id,
  method,
  path,
  status,
  events,
  response_headers: headers,
}: NonNullable<Chain["request"]>): Finding {
  const isRepeated = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "idempotent-replayed");
  const summary =
    method === "GET" || method === "HEAD"
      ? "The request only read, so it caused no event"
      : events.length > 0
        ? "The event that the request caused is no longer retained"
        : isRepeated
          ? "The request repeated an earlier one with the same idempotency key, so it caused no other event"
          : "The request succeeded and caused no event";
  const evidence = `${method} ${path}: ${status}`;
  return {
    code: "no_event",
    subject: id,
    summary,
    evidence,
    action: "Look at the request",
    fix: shellCommand`service logs get ${id}`,
  };
}

function ofOperation({
  id,
  status,
  done,
  failed,
  total,
  last_error: reason,
}: NonNullable<Chain["operation"]>): Finding {
  const subject = id ?? "";
  const evidence = `${done} done, ${failed} failed, ${total} in total`;
  if (status === "running") {
    const summary = `${done + failed} of ${total} done; the platform is working on the rest`;
    const fix = shellCommand`service why ${subject}`;
    return { code: "bulk_running", subject, summary, evidence, action: "Look again later", fix };
  }
  if (failed > 0) {
    const summary = `${failed} of ${total} could not be resent: ${reason ?? ""}`;
    const fix = "service deliveries list --status failed";
    return { code: "delivery_failed", subject, summary, evidence, action: "Look at the failed deliveries", fix };
  }
  if (status === "canceled") {
    const summary = `Canceled after ${done} of ${total}`;
    return { code: "delivery_canceled", subject, summary, evidence, action: null, fix: null };
  }
  const summary = `All ${counted(done, "object")} were resent`;
  return { code: "delivered", subject, summary, evidence, action: null, fix: null };
}
