import { LIMITS } from "../contract/limits.ts";
import type { Attempt, Delivery } from "../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../contract/schemas/webhook-endpoint.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { type FindingCode, quoted, span, type TimeFormat } from "./finding.ts";

/** A receiver as sentences name it. */
export interface Receiver {
  /** The ID of an endpoint; null for a listener. */
  endpoint: string | null;
  name: string;
  url: string;
  /** The beginning of a long URL. */
  shownUrl: string;
  host: string;
}

const MAX_URL = 100;

export function receiverOf(delivery: Delivery, endpoint: WebhookEndpoint | undefined): Receiver {
  if (delivery.endpoint === null) {
    return named(null, "the listener's target", "The application behind the listener");
  }
  return endpoint === undefined ? named(delivery.endpoint, delivery.endpoint) : receiverOfEndpoint(endpoint);
}

function named(endpoint: string | null, text: string, name = text): Receiver {
  return { endpoint, name, url: text, shownUrl: text, host: text };
}

export function receiverOfEndpoint({ id, url, description }: WebhookEndpoint): Receiver {
  const host = /^\w+:\/\/([^/?#]+)/.exec(url)?.[1] ?? url;
  const name = description === null || description.trim() === "" ? host : shorten(description, MAX_NAME);
  return { endpoint: id, name, url, shownUrl: shorten(url, MAX_URL), host };
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** The result of an attempt, or of many that had the same one. */
export type Outcome = Pick<Attempt, "status_code" | "error"> &
  Partial<Pick<Attempt, "response_excerpt" | "response_headers">>;

/** Why attempts fail, and what helps. */
export interface Cause {
  code: FindingCode;
  /** A sentence without its period: `Billing responded with 500`. */
  what: string;
  action: string;
  /** The command that helps, unless it is to send the event again. */
  fix?: string;
}

/** Returns the likely cause of a failed attempt. */
export function causeOf(outcome: Outcome, receiver: Receiver): Cause {
  return outcome.status_code === null
    ? causeOfError(outcome.error ?? "", receiver)
    : causeOfStatus({ ...outcome, status_code: outcome.status_code }, receiver);
}

const CORRECT_URL = "correct the endpoint's URL";
const MAX_NAME = 60;

function causeOfError(error: string, { endpoint, name, shownUrl: url, host }: Receiver): Cause {
  const [, code = "", description = error] = /^([a-z_]+): (.*)$/s.exec(error) ?? [];
  const orUrl = endpoint === null ? "pass its address to the listener" : CORRECT_URL;
  switch (code) {
    case "connection_refused":
    case "refused":
      return {
        code: "connection_refused",
        what: `No server listens at ${url}`,
        action: `Start the receiver or ${orUrl}, then retry`,
      };
    case "timeout":
      return {
        code: "timeout",
        what: `${name} did not respond within ${LIMITS.deliverySeconds} s`,
        action: RESPOND_FIRST,
      };
    case "dns":
      return {
        code: "dns",
        what: `The host name of ${url} could not be resolved`,
        action: `Repair the DNS record or ${orUrl}, then retry`,
      };
    case "tls":
      return {
        code: "tls",
        what: `The TLS handshake with ${host} failed: ${description}`,
        action: "Give the receiver a certificate that is valid for its host, then retry",
      };
    case "blocked_target":
      return {
        code: "target_blocked",
        what: `The platform does not deliver to ${url}: ${description}`,
        action: "Forward events to a private address with a listener",
        fix: "service listen --forward-to localhost:3000",
      };
    case "connection_closed":
    case "reset":
      return {
        code: "connection_closed",
        what: `${name} closed the connection before the response was complete`,
        action: "Look for a crash in the receiver's log, then retry",
      };
    case "interrupted":
      return { code: "interrupted", what: "The platform stopped during the attempt", action: "Retry" };
    case "invalid_reply":
      return {
        code: "invalid_response",
        what: `${name} did not respond with HTTP`,
        action: `Let an HTTP server listen there or ${orUrl}, then retry`,
      };
    case "event_damaged":
      return {
        code: "event_damaged",
        what: "The stored event is damaged",
        action: "Check the database for more damage",
        fix: "service db check",
      };
    case "secret_damaged":
      return {
        code: "secret_damaged",
        what: `The stored signing secret of ${name} is damaged`,
        action: "Give the endpoint a new secret",
        fix: shellCommand`service endpoints rotate-secret ${endpoint ?? ""}`,
      };
    case "url_damaged":
      return {
        code: "url_damaged",
        what: `The stored URL of ${name} is damaged`,
        action: "Set the URL again",
        fix: shellCommand`service endpoints get ${endpoint ?? ""}`,
      };
    case "endpoint_disabled":
      return {
        code: "endpoint_disabled",
        what: `${name} stayed disabled until the ${span(LIMITS.retryTotalSeconds * 1000)} of retries had passed`,
        action: "Retry",
      };
    case "unreachable":
      return {
        code: "unreachable",
        what: `${host} cannot be reached from the platform`,
        action: `Repair the network or ${orUrl}, then retry`,
      };
    default:
      return {
        code: "delivery_failed",
        what: `The attempt got no response from ${name}${description === "" ? "" : `: ${description}`}`,
        action: "Check the receiver, then retry",
      };
  }
}

/** What helps a receiver that is too slow. */
export const RESPOND_FIRST = "Let the receiver respond with 2xx before it does slow work, then retry";

const SIGNATURE = /signature|hmac|whsec|webhook.?secret/i;

function causeOfStatus(outcome: Outcome & { status_code: number }, receiver: Receiver): Cause {
  const { status_code: status, response_excerpt: body = null, response_headers: headers = null } = outcome;
  const { endpoint, name } = receiver;
  const what = `${name} responded with ${status}`;
  if ([400, 401, 403, 422].includes(status) && SIGNATURE.test(body ?? "")) {
    return {
      code: "signature_rejected",
      what: `${name} rejected the signature with ${status}`,
      ...(endpoint === null
        ? { action: "Set the listener's secret in the receiver", fix: "service listen --print-secret" }
        : {
            action: "Rotate the signing secret, and set the new one in the receiver",
            fix: shellCommand`service endpoints rotate-secret ${endpoint}`,
          }),
    };
  }
  if (status === 401 || status === 403) {
    return {
      code: "receiver_unauthorized",
      what,
      action: "Let the receiver accept requests with a valid signature and no other credential, then retry",
    };
  }
  if (status === 404 || status === 405) {
    return {
      code: "receiver_not_found",
      what,
      action: `Let the receiver accept POST at this path or ${endpoint === null ? "correct --forward-to" : CORRECT_URL}, then retry`,
    };
  }
  if (status === 410) {
    return {
      code: "endpoint_disabled",
      what: `${what} Gone`,
      action: "Enable the endpoint, if the receiver is back",
      ...(endpoint === null ? {} : { fix: shellCommand`service endpoints enable ${endpoint}` }),
    };
  }
  if (status === 429) {
    return {
      code: "rate_limited",
      what,
      action: "Let the receiver accept more requests, wait for the next attempt, or retry",
    };
  }
  if (status >= 300 && status < 400) return redirect(what, headers?.["location"], receiver);
  if (status >= 500)
    return { code: "receiver_error", what, action: "Find the error in the receiver's log, repair it, then retry" };
  return {
    code: "receiver_rejected",
    what,
    action: "Let the receiver accept the event, then retry",
  };
}

function redirect(what: string, location: string | undefined, { endpoint, url }: Receiver): Cause {
  const target = location === undefined ? undefined : resolved(location, url);
  return {
    code: "redirect",
    what,
    action: "Use the URL of the redirect: deliveries do not follow it",
    ...(target === undefined || endpoint === null
      ? {}
      : { fix: shellCommand`service endpoints update ${endpoint} --url ${target}` }),
  };
}

function resolved(location: string, base: string): string | undefined {
  try {
    return new URL(location, base).href;
  } catch {
    return undefined;
  }
}

/** Returns an attempt as evidence: `Attempt 7 at 12:50:03: 500 in 48 ms, "TypeError …"`. */
export function attemptEvidence(attempts: readonly Attempt[], time: TimeFormat): string | null {
  const last = attempts.at(-1);
  if (last === undefined) return null;
  const { at, status_code: status, error, duration_ms: duration, response_excerpt: body } = last;
  const result = status === null ? (error ?? "no response") : `${status} in ${span(duration)}`;
  const line = [`Attempt ${attempts.length} at ${time(at)}: ${result}`, quoted(body)].filter(Boolean).join(", ");
  const results = new Map<string, number>();
  for (const attempt of attempts) results.set(resultOf(attempt), (results.get(resultOf(attempt)) ?? 0) + 1);
  if (results.size < 2) return line;
  return `${line}. All attempts: ${[...results].map(([result, count]) => `${count} × ${result}`).join(", ")}`;
}

function resultOf({ status_code: status, error }: Pick<Attempt, "status_code" | "error">): string {
  return String(status ?? error?.split(":", 1)[0] ?? "no response");
}
