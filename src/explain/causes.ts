import { capitalized } from "../contract/words.ts";
import { LIMITS } from "../contract/limits.ts";
import {
  adviceOn,
  type ConnectionProblem,
  isSignIn,
  mentionsCsrf,
  NO_CSRF,
  NO_LOGIN,
} from "../contract/receiver-hints.ts";
import type { Attempt } from "../contract/schemas/delivery.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { isNameServerError } from "./attempts.ts";
import { atStart, type FindingCode, isPage, span } from "./finding.ts";
import type { Receiver } from "./receivers.ts";

/** The result of an attempt, or of many that had the same one. */
export type Outcome = Pick<Attempt, "status_code" | "error"> &
  Partial<Pick<Attempt, "response_excerpt" | "response_headers">> & {
    /** The ID of a delivery with this result. */
    delivery: string | undefined;
  };

/** Why attempts fail, and what to do about it. */
export interface Cause {
  code: FindingCode;
  /** A sentence without its period: `Billing responded with 500`. */
  what: string;
  action: string;
  /** The command that helps, unless that is sending the event again; null if there is none. */
  fix?: string | null;
  /** The URL that a listener should forward to instead. */
  instead?: string | undefined;
  /** The pause that the receiver asks for, as a sentence without its period: an earlier attempt does not help. */
  pause?: string;
}

/** Returns why an attempt failed. */
export function causeOf(outcome: Outcome, receiver: Receiver): Cause {
  const { status_code: status, error } = outcome;
  const cause =
    status !== null
      ? causeOfStatus({ ...outcome, status_code: status }, receiver)
      : receiver.endpoint === null
        ? causeOfListener(error ?? "", receiver)
        : causeOfError(outcome, receiver);
  return { ...cause, what: atStart(cause.what) };
}

const CORRECT_URL = "correct the endpoint's URL";
const RESPOND_FIRST = "Return 2xx before any slow work";
const END_RESPONSE = "End the response, for example with res.end()";

/** Errors of a listener have no code. */
const LISTENER_ERRORS: readonly (readonly [RegExp, FindingCode, ConnectionProblem?])[] = [
  [/^connection refused: nothing listens on (?<hosts>.+)$/s, "connection_refused"],
  [/ did not (respond|complete its response) within | timed out$/, "timeout"],
  [/ closed the connection before /, "connection_closed", "reset"],
  [/ sent an invalid HTTP response /, "invalid_response", "invalid_response"],
  [/^no TLS connection to /, "tls", "tls"],
  [/^the host name of .+ cannot be resolved$/s, "dns"],
  [/^no network route to /, "unreachable", "unreachable"],
];

function causeOfListener(error: string, { name, again, target }: Receiver): Cause {
  const [pattern, code = "delivery_failed", problem] = LISTENER_ERRORS.find(([one]) => one.test(error)) ?? [];
  if (code === "connection_refused") {
    const { hosts = "" } = pattern!.exec(error)!.groups!;
    const action = `Start your application there, then ${again}`;
    return { code, what: `Connection refused: no server is listening at ${asTyped(hosts)}`, action };
  }
  const what = error === "" ? `${name} did not respond` : capitalized(asTyped(error));
  // The same target would fail again.
  if (code === "dns") {
    return { code, what, action: "Correct the host name in --forward-to, then replay the event", fix: null };
  }
  if (code === "tls" && error.endsWith("does not speak TLS")) {
    const instead = target?.replace(/^https:/, "http:");
    return { code, what, action: `Use http:// in --forward-to, then ${again}`, instead };
  }
  if (problem !== undefined) {
    const advice = adviceOn(problem, target === undefined ? "" : new URL(target).protocol);
    return { code, what, action: `${advice} Then ${again}` };
  }
  const timedOut = error.includes(" complete its response ") ? END_RESPONSE : RESPOND_FIRST;
  return { code, what, action: `${code === "timeout" ? timedOut : "Check your application"}, then ${again}` };
}

/** A listener tries both addresses of `localhost`. */
function asTyped(hosts: string): string {
  return hosts.replace(/127\.0\.0\.1(:\d+)? or \[::1\]\1/, "localhost$1");
}

/** What the platform knows of a failed attempt without a response. */
interface Failure {
  /** What follows the code of the error. */
  description: string;
  /** True if a response began, which was not complete. */
  hasBegun: boolean;
}

type CauseOf = (receiver: Receiver, failure: Failure) => Omit<Cause, "code"> & { code?: FindingCode };

/** By the code of an attempt's error. */
const ERRORS: Readonly<Record<string, CauseOf>> = {
  connection_refused: ({ shownUrl }) => ({
    what: `Connection refused: no server is listening at ${shownUrl}`,
    action: `Start the receiver, or ${CORRECT_URL}, then retry`,
  }),
  timeout: ({ name }, { hasBegun, description }) => ({
    what: `${name} ${hasBegun ? "began a response, but did not end it" : "did not respond"} ${/within .*/.exec(description)?.[0] ?? "in time"}`,
    action: `${hasBegun ? END_RESPONSE : RESPOND_FIRST}, then retry`,
  }),
  dns: ({ host }, { description }) => causeOfDns(host.replace(/:\d+$/, ""), description),
  tls: (receiver, { description }) => causeOfTls(description, receiver),
  blocked_target: ({ shownUrl, url }, { description }) => ({
    code: "target_blocked",
    what: `The platform does not deliver to ${shownUrl}: ${description}`,
    action: "Forward events to a private address with a listener",
    fix: shellCommand`service listen --forward-to ${url}`,
  }),
  connection_closed: ({ name }) => ({
    what: `${name} closed the connection before the response was complete`,
    action: "Check the receiver's log for a crash, then retry",
  }),
  interrupted: () => ({ what: "The platform stopped during the attempt", action: "Retry now" }),
  invalid_response: ({ name }) => ({
    what: `${name} sent a response that is not HTTP`,
    action: `Start an HTTP server there, or ${CORRECT_URL}, then retry`,
  }),
  event_damaged: () => ({
    what: "The stored event is damaged",
    action: "Check the database for more damage",
    fix: "service db check",
  }),
  secret_damaged: ({ name, endpoint }) => ({
    what: `The stored signing secret of ${name} is damaged`,
    action: "Give the endpoint a new secret",
    fix: shellCommand`service endpoints rotate-secret ${endpoint!}`,
  }),
  url_damaged: ({ name, endpoint }) => ({
    what: `The stored URL of ${name} is damaged`,
    action: "Check the endpoint, then set its URL again",
    fix: shellCommand`service endpoints get ${endpoint!}`,
  }),
  endpoint_disabled: ({ name }) => ({
    what: `${name} stayed disabled until its ${LIMITS.retryTotalSeconds / 86_400} days of retries were over`,
    action: "Retry now",
  }),
  unreachable: ({ host }) => ({
    what: `The platform has no network route to ${host}`,
    action: `Fix the network, or ${CORRECT_URL}, then retry`,
  }),
};

function causeOfError(
  { error, response_excerpt: body, response_headers: headers }: Outcome,
  receiver: Receiver,
): Cause {
  const [, code = "", description = error ?? ""] = /^([a-z_]+): (.*)$/s.exec(error ?? "") ?? [];
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code] : undefined;
  if (known !== undefined)
    return { code: code as FindingCode, ...known(receiver, { description, hasBegun: Boolean(body ?? headers) }) };
  const what = `${receiver.name} did not respond${description === "" ? "" : `: ${description}`}`;
  return { code: "delivery_failed", what, action: "Check the receiver, then retry" };
}

/** Name servers that fail, or do not respond, say nothing about the name. */
function causeOfDns(name: string, description: string): Pick<Cause, "what" | "action"> {
  return isNameServerError(description)
    ? {
        what: `The platform could not look up ${name}: ${description}`,
        action: "Check the network and the name servers of the platform's machine, then retry",
      }
    : {
        what: `The host name ${name} could not be resolved`,
        action: `Fix its DNS record, or ${CORRECT_URL}, then retry`,
      };
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
  if (isLive)
    return { code: "tls", what, action: "Use the port of a TLS server in the endpoint's URL", fix: getOf(endpoint) };
  return {
    code: "tls",
    what,
    action: "Use http:// in the endpoint's URL",
    fix: shellCommand`service endpoints update ${endpoint!} --url ${url.replace(/^https:/, "http:")}`,
  };
}

const SIGNATURE = /signature|hmac|whsec|webhook.?secret/i;
const STALE = /timestamp.*(toleran|too old|expired|outside|future)|toleran/is;
/** What nginx, Cloudflare and others respond when the application behind them did not, besides 502 and 504. */
const PROXY_PAGE = /<title>[^<]*(bad gateway|service (temporarily )?unavailable|gateway time-?out)/i;
const PROXY_TEXT = /^(upstream connect error|no healthy upstream)/i;

function causeOfStatus(outcome: Outcome & { status_code: number }, to: Receiver): Cause {
  const { status_code: status, response_excerpt: body, response_headers: headers } = outcome;
  const text = body ?? "";
  const { endpoint, name, again } = to;
  const againNow = endpoint === null ? capitalized(again) : "Retry now";
  const receiver = endpoint === null ? "your application" : "the receiver";
  const what = `${name} responded with ${status}`;
  const mayReject = [400, 401, 403, 422].includes(status);
  if (mayReject && STALE.test(text)) {
    return {
      code: "signature_rejected",
      what: `${name} rejected the timestamp of the signature with ${status}`,
      action: `Correct the clock of ${receiver}, then ${again}`,
    };
  }
  if (mayReject && SIGNATURE.test(text)) {
    return {
      code: "signature_rejected",
      what: `${name} rejected the signature with ${status}`,
      ...secretCheck(outcome, to),
    };
  }
  if (status === 401 || status === 403) return { code: "receiver_unauthorized", ...unauthorized(outcome, to, again) };
  if (status === 404 || status === 405) {
    return {
      code: "receiver_not_found",
      what,
      action: `Handle POST at this path, or ${endpoint === null ? "correct --forward-to" : CORRECT_URL}, then ${again}`,
    };
  }
  if (status === 410) return { code: "endpoint_disabled", what: `${what} Gone`, action: againNow };
  const wait = headers?.["retry-after"];
  if (status === 429 || (status === 503 && wait !== undefined)) {
    const code = status === 429 ? "rate_limited" : "receiver_error";
    const after = wait === undefined ? "" : ` and Retry-After: ${wait}`;
    return { code, what: what + after, action: againNow, pause: pauseOf(wait, name) };
  }
  if (status >= 300 && status < 400) return redirect(status, headers?.["location"], to, again);
  const isProxyText = PROXY_TEXT.test(text) || (isPage(text) && PROXY_PAGE.test(text));
  if (status === 502 || status === 504 || (status === 503 && isProxyText)) {
    return {
      code: "receiver_error",
      what: `The proxy in front of ${name} could not reach it and responded with ${status}`,
      action: `Start the application, or correct its address in the proxy, then ${again}`,
    };
  }
  if (status >= 500) return { code: "receiver_error", what, action: `Fix the error in ${receiver}, then ${again}` };
  if (status === 413) {
    const action = `Raise the limit for bodies in ${receiver}, then ${again}`;
    return { code: "receiver_rejected", what, action };
  }
  return {
    code: "receiver_rejected",
    what,
    action: `Change ${receiver} so that it accepts the event, then ${again}`,
  };
}

/** Retry-After is a number of seconds, or a date. */
function pauseOf(wait: string | undefined, name: string): string {
  if (wait === undefined) return `${atStart(name)} asks for fewer requests`;
  return /^\d+$/.test(wait)
    ? `${atStart(name)} asks for a pause of ${span(Number(wait) * 1000)}`
    : `${atStart(name)} asks for a pause until ${wait}`;
}

/** Returns what shows whether the secret is wrong, or the receiver's code. */
function secretCheck({ delivery }: Outcome, { endpoint }: Receiver): Pick<Cause, "action" | "fix"> {
  if (endpoint === null) {
    return {
      action:
        "Your application may use another secret, or parse the body before it verifies the signature. Compare its secret with the listener's",
      fix: "service listen --print-secret",
    };
  }
  return {
    action:
      "The receiver may use another secret, or parse the body before it verifies the signature. To find out which, run this command and paste the receiver's secret",
    fix: delivery === undefined ? getOf(endpoint) : shellCommand`service webhooks verify --delivery ${delivery}`,
  };
}

function unauthorized(
  { status_code: status, response_excerpt: body, response_headers: headers }: Outcome,
  { name }: Receiver,
  again: string,
) {
  if (mentionsCsrf(body ?? "")) {
    const what = `The CSRF protection of ${name} rejected the request with ${status}`;
    return { what, action: `${NO_CSRF}, then ${again}` };
  }
  if (isPage(body ?? null) || headers?.["cf-ray"] !== undefined) {
    return {
      what: `A firewall or proxy in front of ${name} rejected the request with ${status}`,
      action: `Allow the platform's requests there, then ${again}`,
    };
  }
  return { what: `${name} required a login and responded with ${status}`, action: `${NO_LOGIN}, then ${again}` };
}

function redirect(status: number, location: string | undefined, receiver: Receiver, again: string): Cause {
  const { endpoint, name, url } = receiver;
  const target = location === undefined ? undefined : resolved(location, receiver.target ?? url);
  if (isSignIn(location)) {
    const what = `${name} redirected to a sign-in page with ${status}`;
    return { code: "redirect", what, action: `${NO_LOGIN}, then ${again}` };
  }
  const what =
    target === undefined ? `${name} responded with ${status}` : `${name} redirected the request with ${status}`;
  if (target !== undefined && endpoint === null) {
    const action = "Forward to the redirect's target; redirects are not followed";
    return { code: "redirect", what, action, instead: target };
  }
  if (target === undefined || endpoint === null) {
    const action = `Correct ${endpoint === null ? "--forward-to" : "the endpoint's URL"}; deliveries do not follow redirects`;
    return { code: "redirect", what, action, fix: getOf(endpoint) };
  }
  return {
    code: "redirect",
    what,
    action: "Set the endpoint's URL to the redirect's target; deliveries do not follow redirects",
    fix: shellCommand`service endpoints update ${endpoint} --url ${target}`,
  };
}

/** Returns the command that shows what has to be corrected; null for a listener, whose flags are in another terminal. */
function getOf(endpoint: string | null): string | null {
  return endpoint === null ? null : shellCommand`service endpoints get ${endpoint}`;
}

function resolved(location: string, base: string): string | undefined {
  try {
    return new URL(location, base).href;
  } catch {
    return undefined;
  }
}
