import { shellCommand } from "../contract/shell-command.ts";
import type { ApiKey } from "../contract/schemas/api-key.ts";
import type { Attempt, Delivery } from "../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import type { Chain } from "./chain.ts";

/** Stable codes of causes. Programs rely on them. */
export type FindingCode =
  | "bulk_running"
  | "clock_ahead"
  | "connection_closed"
  | "connection_refused"
  | "delivered"
  | "delivery_canceled"
  | "delivery_failed"
  | "delivery_pending"
  | "dns"
  | "endpoint_deleted"
  | "endpoint_disabled"
  | "event_damaged"
  | "invalid_response"
  | "missing_scope"
  | "no_event"
  | "no_receiver"
  | "rate_limited"
  | "receiver_error"
  | "receiver_not_found"
  | "receiver_rejected"
  | "receiver_unauthorized"
  | "redirect"
  | "request_failed"
  | "secret_damaged"
  | "signature_rejected"
  | "target_blocked"
  | "timeout"
  | "tls"
  | "unreachable"
  | "url_damaged";

/** A cause, and the command that fixes it. */
export interface Finding {
  code: FindingCode;
  /** The ID of the affected object. */
  subject: string;
  summary: string;
  fix: string | null;
}

/** Returns the causes, most likely first. `spanOf` formats a number of seconds. */
export function diagnose(chain: Chain, spanOf: (seconds: number) => string): Finding[] {
  const { request, event, deliveries, operation, clock, missingScopes, kind, id } = chain;
  const findings: Finding[] = [];
  if (request !== undefined && request.status >= 400) findings.push(requestFailed(request, chain.key));
  if (operation !== undefined) findings.push(...ofOperation(operation));
  for (const endpoint of kind === "webhook_endpoint" ? chain.endpoints.values() : []) {
    if (endpoint?.status === "disabled") findings.push(disabled(endpoint));
  }
  const isDelivered = kind === "delivery" && deliveries[0]?.status === "succeeded";
  if (isDelivered) findings.push({ code: "delivered", subject: id, summary: "The delivery succeeded", fix: null });
  const troubled = deliveries.filter(({ status }) => status !== "succeeded");
  for (const delivery of troubled) {
    const endpoint = delivery.endpoint === null ? undefined : chain.endpoints.get(delivery.endpoint);
    const finding = ofDelivery(delivery, endpoint, chain);
    const alike = findings.find(({ code, summary }) => code === finding.code && summary === finding.summary);
    if (alike === undefined) findings.push(finding);
    else if (kind === "webhook_endpoint" && alike.fix === retryOf(alike.subject)) {
      alike.fix = shellCommand`service deliveries retry --failed --endpoint ${id}`;
    }
  }
  if (missingScopes.length > 0) findings.push(missingScope(id, missingScopes));
  if (event !== undefined && deliveries.length === 0 && !missingScopes.includes("deliveries:read")) {
    findings.push({
      code: "no_receiver",
      subject: event.id,
      summary: `No enabled endpoint subscribed to ${event.type} when the event happened, and no listener forwarded it`,
      fix: shellCommand`service listen --forward-to localhost:3000 --since ${event.id}`,
    });
  }
  if (event === undefined && request !== undefined && request.status < 400) {
    const summary = request.method === "GET" ? "The request changed nothing" : "The request caused no event";
    findings.push({ code: "no_event", subject: request.id, summary, fix: null });
  }
  if (clock !== undefined) {
    findings.push({
      code: "clock_ahead",
      subject: id,
      summary: `The test clock is ${spanOf(clock.offset_seconds)} ahead of real time, and so are the times shown here`,
      fix: null,
    });
  }
  if (!isDelivered && troubled.length === 0 && deliveries.length > 0) {
    const { length } = deliveries;
    const which = chain.hasMoreDeliveries ? "The newest" : "All";
    const summary = `${length === 1 ? "The delivery" : `${which} ${length} deliveries`} succeeded`;
    findings.push({ code: "delivered", subject: event?.id ?? id, summary, fix: null });
  }
  return findings;
}

function requestFailed(
  { id, status, error_code: code, key, response_body: body }: NonNullable<Chain["request"]>,
  apiKey: ApiKey | undefined,
): Finding {
  const { detail, required_scope: scope } = problemIn(body);
  const reason = typeof detail === "string" ? `: ${detail.replace(/\.$/, "")}` : "";
  const summary = `The API request failed with ${status} ${code ?? ""}${reason}`;
  const finding = (fix: string | null, of: FindingCode = "request_failed"): Finding => ({
    code: of,
    subject: id,
    summary,
    fix,
  });
  if (code === "insufficient_scope") {
    return finding(key === null ? "service login" : fixOfScope(key, apiKey, scope), "missing_scope");
  }
  if (status === 401) return finding("service login");
  return finding(shellCommand`service logs get ${id}`);
}

/** An update replaces all scopes of a key, so the command names those that it has too. */
function fixOfScope(id: string, key: ApiKey | undefined, scope: unknown): string {
  if (key === undefined || key.revoked_at !== null || typeof scope !== "string")
    return shellCommand`service keys get ${id}`;
  return shellCommand`service keys update ${id} --scope ${[...key.scopes, scope].join(",")}`;
}

/** Returns the members of the problem document in a response. */
function problemIn(body: string | null): { detail?: unknown; required_scope?: unknown } {
  try {
    return JSON.parse(body ?? "{}") as object;
  } catch {
    return {};
  }
}

function ofOperation({
  id,
  status,
  done,
  failed,
  total,
  last_error: reason,
}: NonNullable<Chain["operation"]>): Finding[] {
  const subject = id ?? "";
  if (status === "running") {
    const summary = `${done + failed} of ${total} done; the platform is working on the rest`;
    return [{ code: "bulk_running", subject, summary, fix: shellCommand`service why ${subject}` }];
  }
  if (failed > 0) {
    const fix = "service deliveries list --status failed";
    return [
      { code: "delivery_failed", subject, summary: `${failed} of ${total} could not be resent: ${reason ?? ""}`, fix },
    ];
  }
  if (status === "canceled") {
    return [{ code: "delivery_canceled", subject, summary: `Canceled after ${done} of ${total}`, fix: null }];
  }
  return [{ code: "delivered", subject, summary: `All ${done} were resent`, fix: "service deliveries list" }];
}

function disabled({ id, disabled_reason: reason, disabled_at: at }: WebhookEndpoint): Finding {
  const why = reason === "gone" ? "because it responded with 410 Gone" : "by a user";
  const summary = `The endpoint was disabled ${why}${at === null ? "" : ` at ${at}`}`;
  return { code: "endpoint_disabled", subject: id, summary, fix: shellCommand`service endpoints enable ${id}` };
}

function missingScope(subject: string, scopes: readonly string[]): Finding {
  const flags = scopes.flatMap((scope) => ["--scope", scope]);
  return {
    code: "missing_scope",
    subject,
    summary: `Part of the chain is not shown: the credential lacks ${scopes.join(", ")}`,
    fix: shellCommand`service login ${flags}`,
  };
}

function ofDelivery(delivery: Delivery, endpoint: WebhookEndpoint | undefined, { missingScopes }: Chain): Finding {
  const { id, attempts = [], status } = delivery;
  const found = (code: FindingCode, summary: string, fix: string | null): Finding => ({
    code,
    subject: id,
    summary,
    fix,
  });
  const last = attempts.at(-1);
  const isUnknown = missingScopes.includes("webhook_endpoints:read");
  if (delivery.endpoint !== null && endpoint === undefined && !isUnknown) {
    return found(
      "endpoint_deleted",
      `The endpoint ${delivery.endpoint} was deleted`,
      "service endpoints create --url <url> --events '*'",
    );
  }
  if (endpoint?.status === "disabled") return { ...disabled(endpoint), subject: id };
  if (status === "canceled") return found("delivery_canceled", "The delivery was canceled", retryOf(id));
  if (last === undefined)
    return found(
      "delivery_pending",
      "The delivery has not been attempted yet",
      shellCommand`service deliveries get ${id}`,
    );
  return found(...causeOf(last, delivery, endpoint));
}

function retryOf(delivery: string): string {
  return shellCommand`service deliveries retry ${delivery}`;
}

type Cause = [code: FindingCode, summary: string, fix: string];

/** Returns the likely cause of a failed attempt. */
function causeOf(
  { status_code: status, error, response_excerpt: body }: Attempt,
  delivery: Delivery,
  endpoint: WebhookEndpoint | undefined,
): Cause {
  const isListener = delivery.endpoint === null;
  const url = endpoint?.url ?? "the receiver";
  const again = isListener ? shellCommand`service events replay ${delivery.event}` : retryOf(delivery.id);
  const elsewhere = isListener
    ? "service listen --forward-to localhost:<port>"
    : shellCommand`service endpoints update ${delivery.endpoint ?? ""} --url <url>`;
  const where = isListener ? "the forwarding target" : url;
  if (status === null) {
    const [, code = "", description = error ?? ""] = /^([a-z_]+): (.*)$/s.exec(error ?? "") ?? [];
    switch (code) {
      case "connection_refused":
      case "refused":
        return [
          "connection_refused",
          `No server listens at ${where}: the receiver is not running, or the port is wrong`,
          elsewhere,
        ];
      case "timeout":
        return [
          "timeout",
          `${where} did not respond in time: respond with 2xx first and do slow work afterwards`,
          again,
        ];
      case "dns":
        return ["dns", `The host name of ${where} could not be resolved`, elsewhere];
      case "tls":
        return ["tls", `The TLS handshake with ${where} failed: ${description}`, elsewhere];
      case "blocked_target":
        return [
          "target_blocked",
          `The platform does not deliver to ${where}: ${description}`,
          "service listen --forward-to localhost:3000",
        ];
      case "connection_closed":
      case "reset":
      case "interrupted":
        return ["connection_closed", `The connection to ${where} was closed before the response was complete`, again];
      case "invalid_reply":
        return ["invalid_response", `${where} did not respond with HTTP`, elsewhere];
      case "event_damaged":
        return ["event_damaged", "The stored event is damaged", "service db check"];
      case "secret_damaged":
        return [
          "secret_damaged",
          `The stored signing secret of ${where} is damaged: give it a new one`,
          `service endpoints rotate-secret ${delivery.endpoint}`,
        ];
      case "url_damaged":
        return ["url_damaged", "The stored URL of the endpoint is damaged", elsewhere];
      case "endpoint_disabled":
        return ["endpoint_disabled", "The endpoint stayed disabled until its retries expired", again];
      case "unreachable":
        return ["unreachable", `${where} cannot be reached from the platform`, elsewhere];
      default:
        return ["delivery_failed", description === "" ? "The attempt got no response" : description, again];
    }
  }
  const description = `${where} responded with ${status}`;
  if ([400, 401, 403, 422].includes(status) && /signature|hmac|whsec|webhook.?secret/i.test(body ?? "")) {
    const secret = isListener ? "service listen --print-secret" : shellCommand`service webhooks check ${url}`;
    return [
      "signature_rejected",
      `${description}: it rejected the signature. Its secret differs from the endpoint's signing secret`,
      secret,
    ];
  }
  if (status === 401 || status === 403) {
    return [
      "receiver_unauthorized",
      `${description}: it requires a credential, which deliveries do not have`,
      isListener ? "service listen --print-secret" : shellCommand`service webhooks check ${url}`,
    ];
  }
  if (status === 404 || status === 405)
    return ["receiver_not_found", `${description}: the path is wrong, or does not accept POST`, elsewhere];
  if (status === 410)
    return [
      "endpoint_disabled",
      `${description}, which disables the endpoint`,
      shellCommand`service endpoints enable ${delivery.endpoint ?? ""}`,
    ];
  if (status === 429) return ["rate_limited", `${description}: it accepts no more requests at the moment`, again];
  if (status >= 300 && status < 400) return ["redirect", `${description}: redirects are not followed`, elsewhere];
  if (status >= 500) return ["receiver_error", `${description}: it failed. Check its log`, again];
  return ["receiver_rejected", `${description}: its validation rejected the event`, again];
}
