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
  isLive: boolean;
}

const MAX_URL = 100;
const MAX_NAME = 60;

export function receiverOf(delivery: Delivery, endpoint: WebhookEndpoint | undefined): Receiver {
  if (delivery.endpoint === null) return named(null, "the application behind the listener");
  return endpoint === undefined ? named(delivery.endpoint, delivery.endpoint) : receiverOfEndpoint(endpoint);
}

function named(endpoint: string | null, text: string): Receiver {
  return { endpoint, name: text, url: text, shownUrl: text, host: text, isLive: false };
}

export function receiverOfEndpoint({ id, url, description, livemode: isLive }: WebhookEndpoint): Receiver {
  const [, host = url, path = ""] = /^\w+:\/\/([^/?#]+)([^?#]*)/.exec(url) ?? [];
  const isNamed = description !== null && description.trim() !== "";
  const name = shorten(isNamed ? description : host + path.replace(/\/$/, ""), MAX_NAME);
  return { endpoint: id, name, url, shownUrl: shorten(url, MAX_URL), host, isLive };
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
  /** The command that helps, unless it is to send the event again; null if there is none. */
  fix?: string | null;
  /** True if the platform's next attempt helps, and an earlier one does not. */
  isToWait?: boolean;
}

/** Returns why an attempt failed. */
export function causeOf(outcome: Outcome, receiver: Receiver): Cause {
  const cause =
    outcome.status_code === null
      ? causeOfError(outcome.error ?? "", receiver)
      : causeOfStatus({ ...outcome, status_code: outcome.status_code }, receiver);
  return { ...cause, what: cause.what.replace(/^the /, "The ") };
}

const CORRECT_URL = "correct the endpoint's URL";

/** Errors of a listener have no code. */
const LISTENER_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/^connection refused: nothing listens on (?<hosts>.+)$/s, "connection_refused"],
  [/ did not (respond|complete its response) within | timed out$/, "timeout"],
  [/ closed the connection before /, "connection_closed"],
  [/^no TLS connection to /, "tls"],
  [/^the host name of .+ cannot be resolved$/s, "dns"],
  [/^no network route to /, "unreachable"],
];

function causeOfListener(error: string, { name }: Receiver): Cause {
  const [pattern, code = "delivery_failed"] = LISTENER_ERRORS.find(([one]) => one.test(error)) ?? [];
  if (code === "connection_refused") {
    const hosts = pattern!.exec(error)!.groups!["hosts"]!;
    return {
      code,
      what: `No server listens at ${hosts}`,
      action: "Start your application there, then replay the event",
    };
  }
  return {
    code: code as FindingCode,
    what: error === "" ? `${name} did not respond` : error.charAt(0).toUpperCase() + error.slice(1),
    action:
      code === "timeout" ? `${RESPOND_FIRST}, then replay the event` : "Check the application, then replay the event",
  };
}

function causeOfError(error: string, receiver: Receiver): Cause {
  const { endpoint, name, shownUrl: url, host } = receiver;
  if (endpoint === null) return causeOfListener(error, receiver);
  const [, code = "", description = error] = /^([a-z_]+): (.*)$/s.exec(error) ?? [];
  switch (code) {
    case "connection_refused":
      return {
        code,
        what: `No server listens at ${url}`,
        action: `Start the receiver or ${CORRECT_URL}, then retry`,
      };
    case "timeout":
      return {
        code,
        what: `${name} did not respond within ${LIMITS.deliverySeconds} s`,
        action: `${RESPOND_FIRST}, then retry`,
      };
    case "dns":
      return {
        code,
        what: `The host name of ${url} could not be resolved`,
        action: `Fix the DNS record or ${CORRECT_URL}, then retry`,
      };
    case "tls":
      return causeOfTls(description, receiver);
    case "blocked_target":
      return {
        code: "target_blocked",
        what: `The platform does not deliver to ${url}: ${description}`,
        action: "Forward events to a private address with a listener",
        fix: "service listen --forward-to localhost:3000",
      };
    case "connection_closed":
      return {
        code,
        what: `${name} closed the connection before the response was complete`,
        action: "Look for a crash in the receiver's log, then retry",
      };
    case "interrupted":
      return { code, what: "The platform stopped during the attempt", action: "Retry" };
    case "invalid_reply":
      return {
        code: "invalid_response",
        what: `${name} did not respond with HTTP`,
        action: `Start an HTTP server there or ${CORRECT_URL}, then retry`,
      };
    case "event_damaged":
      return {
        code,
        what: "The stored event is damaged",
        action: "Check the database for more damage",
        fix: "service db check",
      };
    case "secret_damaged":
      return {
        code,
        what: `The stored signing secret of ${name} is damaged`,
        action: "Give the endpoint a new secret",
        fix: shellCommand`service endpoints rotate-secret ${endpoint}`,
      };
    case "url_damaged":
      return {
        code,
        what: `The stored URL of ${name} is damaged`,
        action: "Look at the endpoint, then set its URL again",
        fix: shellCommand`service endpoints get ${endpoint}`,
      };
    case "endpoint_disabled":
      return {
        code,
        what: `${name} stayed disabled until the ${span(LIMITS.retryTotalSeconds * 1000)} of retries had passed`,
        action: "Retry",
      };
    case "unreachable":
      return {
        code,
        what: `${host} cannot be reached from the platform`,
        action: `Fix the network or ${CORRECT_URL}, then retry`,
      };
    default:
      return {
        code: "delivery_failed",
        what: `The attempt got no response from ${name}${description === "" ? "" : `: ${description}`}`,
        action: "Check the receiver, then retry",
      };
  }
}

function causeOfTls(description: string, { endpoint, url, host, isLive }: Receiver): Cause {
  if (!description.endsWith("does not speak TLS")) {
    return {
      code: "tls",
      what: `The TLS handshake with ${host} failed: ${description}`,
      action: "Install a certificate that is valid for the host, then retry",
    };
  }
  const what = `${host} does not speak TLS`;
  if (isLive) return { code: "tls", what, action: "Use the port of a TLS server in the endpoint's URL", fix: null };
  return {
    code: "tls",
    what,
    action: "Use http:// in the endpoint's URL, or the port of a TLS server",
    fix: shellCommand`service endpoints update ${endpoint ?? ""} --url ${url.replace(/^https:/, "http:")}`,
  };
}

/** What helps a receiver that is too slow. */
const RESPOND_FIRST = "Respond with 2xx before slow work";

const SIGNATURE = /signature|hmac|whsec|webhook.?secret/i;
const STALE = /timestamp.*(toleran|too old|expired|outside|future)|toleran/is;
const CSRF = /csrf/i;
const PAGE = /^\s*<(!doctype html|html)/i;

function causeOfStatus(outcome: Outcome & { status_code: number }, receiver: Receiver): Cause {
  const { status_code: status, response_excerpt: body, response_headers: headers } = outcome;
  const text = body ?? "";
  const { endpoint, name } = receiver;
  const again = endpoint === null ? "replay the event" : "retry";
  const what = `${name} responded with ${status}`;
  const mayReject = [400, 401, 403, 422].includes(status);
  if (mayReject && STALE.test(text)) {
    return {
      code: "signature_rejected",
      what: `${name} rejected the timestamp of the signature with ${status}`,
      action: `Correct the receiver's clock, and verify each request when it arrives, then ${again}`,
    };
  }
  if (mayReject && SIGNATURE.test(text)) {
    return {
      code: "signature_rejected",
      what: `${name} rejected the signature with ${status}`,
      ...(endpoint === null
        ? { action: "Set the listener's secret in the receiver", fix: "service listen --print-secret" }
        : {
            action:
              "Compare the receiver's signing secret with the endpoint's, and check that it verifies the raw body",
            // The check sends deliveries of events that did not happen.
            fix: receiver.isLive ? null : shellCommand`service webhooks check ${receiver.url}`,
          }),
    };
  }
  if (status === 401 || status === 403)
    return { code: "receiver_unauthorized", ...unauthorized(outcome, what, receiver, again) };
  if (status === 404 || status === 405) {
    return {
      code: "receiver_not_found",
      what,
      action: `Handle POST at this path or ${endpoint === null ? "correct --forward-to" : CORRECT_URL}, then ${again}`,
    };
  }
  if (status === 410) return { code: "endpoint_disabled", what: `${what} Gone`, action: sentenceOf(again) };
  const wait = headers?.["retry-after"];
  if (wait !== undefined && (status === 429 || status === 503)) {
    const code = status === 429 ? "rate_limited" : "receiver_error";
    return { code, what: `${what} and Retry-After: ${wait}`, action: sentenceOf(again), isToWait: true };
  }
  if (status === 429) return { code: "rate_limited", what, action: sentenceOf(again), isToWait: true };
  if (status >= 300 && status < 400) return redirect(what, headers?.["location"], receiver);
  if (status >= 500) {
    return { code: "receiver_error", what, action: `Find the error in the receiver's log, fix it, then ${again}` };
  }
  return {
    code: "receiver_rejected",
    what,
    action: `Find out in the receiver's log why it rejects the event, fix it, then ${again}`,
  };
}

function sentenceOf(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function unauthorized(
  { status_code: status, response_excerpt: body, response_headers: headers }: Outcome,
  what: string,
  { name }: Receiver,
  again: string,
) {
  if (CSRF.test(body ?? "")) return { what, action: `Exempt the path from CSRF protection, then ${again}` };
  if (PAGE.test(body ?? "") || headers?.["cf-ray"] !== undefined) {
    return {
      what: `Something in front of ${name} rejected the request with ${status}, such as a firewall or proxy`,
      action: `Allow the platform's requests there, then ${again}`,
    };
  }
  return { what, action: `Verify the signature at this path instead of requiring a login, then ${again}` };
}

function redirect(what: string, location: string | undefined, { endpoint, url }: Receiver): Cause {
  const target = location === undefined ? undefined : resolved(location, url);
  return {
    code: "redirect",
    what,
    action: "Use the URL of the redirect: deliveries do not follow it",
    ...(target === undefined || endpoint === null
      ? { fix: null }
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

/** Returns the attempts that were made: a delivery without an endpoint ends with one that was not. */
export function attemptsOf({ attempts = [] }: Delivery): Attempt[] {
  return attempts.filter(({ error }) => error?.startsWith("endpoint_deleted:") !== true);
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

/** Returns an outcome in one word: `500`, `timeout`. */
export function resultOf({ status_code: status, error }: Pick<Attempt, "status_code" | "error">): string {
  return String(status ?? error?.split(":", 1)[0] ?? "no response");
}
