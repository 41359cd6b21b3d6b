import { LIMITS } from "../contract/limits.ts";
import { adviceOn, adviceOnRejection, type Rejection, rejectionOf } from "../contract/receiver-hints.ts";
import type { Attempt } from "../contract/schemas/delivery.ts";
import { shellCommand } from "../contract/shell-command.ts";
import { formatTimestamp } from "../contract/timestamps.ts";
import { isNameServerError } from "./attempts.ts";
import { atStart, type FindingCode, span, type TimeFormat } from "./finding.ts";
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
  /** The command to run before the event is sent again. */
  before?: string;
  /** The command whose output the user acts on before the event is sent again. */
  check?: string;
  /** The URL that a listener should forward to instead. */
  instead?: string | undefined;
  /** The pause that the receiver asks for: an earlier attempt does not help. */
  pause?: Pause;
}

interface Pause {
  /** A sentence without its period. */
  what: string;
  /** Its length, if that is known. */
  milliseconds?: number;
}

/** Returns why an attempt failed. */
export function causeOf(outcome: Outcome, receiver: Receiver): Cause {
  const { status_code: status } = outcome;
  const cause =
    status !== null ? causeOfStatus({ ...outcome, status_code: status }, receiver) : causeOfError(outcome, receiver);
  return { ...cause, what: atStart(cause.what) };
}

/** The port of an application whose port is not known. */
export const EXAMPLE_PORT = "3000";
const CORRECT_URL = "correct the endpoint's URL";
const RESPOND_FIRST = "Respond with 2xx first, and do slow work afterwards. Then";
const END_RESPONSE = "End the response, for example with res.end(), then";

/** How the error of a server without TLS ends. */
const NO_TLS = "does not speak TLS";

/** What is known of a failed attempt without a response. */
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
    action: `${hasBegun ? END_RESPONSE : RESPOND_FIRST} retry`,
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
    action: "Give the endpoint a new secret, and set it in the receiver",
    check: shellCommand`service endpoints rotate-secret ${endpoint!}`,
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
  unreachable: ({ host, endpoint }) => ({
    what: `The ${endpoint === null ? "listener" : "platform"} has no network route to ${host}`,
    action: `Fix the network, or ${CORRECT_URL}, then retry`,
  }),
};

function causeOfError(
  { error, response_excerpt: body, response_headers: headers }: Outcome,
  receiver: Receiver,
): Cause {
  const [, code = "", description = error ?? ""] = /^([a-z_]+): (.*)$/s.exec(error ?? "") ?? [];
  const failure = { description, hasBegun: Boolean(body ?? headers) };
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code] : undefined;
  const what = `${receiver.name} did not respond${description === "" ? "" : `: ${description}`}`;
  const cause: Cause =
    known === undefined
      ? { code: "delivery_failed", what, action: "Check the receiver, then retry" }
      : { code: code as FindingCode, ...known(receiver, failure) };
  return receiver.endpoint === null
    ? { code: cause.code, what: cause.what, ...repairOf(code, failure, receiver) }
    : cause;
}

/** Returns what to do about an application on the developer's machine that sent no response to a listener. */
function repairOf(
  code: string,
  { description, hasBegun }: Failure,
  { again, target, flag = "--forward-to" }: Receiver,
): Pick<Cause, "action" | "instead"> {
  switch (code) {
    case "connection_refused":
      return { action: `Start your application there, then ${again}` };
    case "timeout":
      return { action: `${hasBegun ? END_RESPONSE : RESPOND_FIRST} ${again}` };
    case "dns":
      // The same target would fail again.
      return {
        action: `Correct the host name in ${flag}, or forward to this machine`,
        instead: target
          ?.replace(/^(https?:\/\/)[^/:]+(?::(\d+))?\/?/, (_all, scheme, port) =>
            port === undefined ? `${EXAMPLE_PORT}/` : `${scheme}localhost:${port}/`,
          )
          .replace(/\/$/, ""),
      };
    case "tls":
      if (!description.endsWith(NO_TLS)) break;
      return { action: `Use http:// in ${flag}, then ${again}`, instead: target?.replace(/^https:/, "http:") };
    case "connection_closed":
    case "unreachable":
    case "invalid_response":
      break;
    default:
      return { action: `Check your application, then ${again}` };
  }
  return { action: `${adviceOn(code, target === undefined ? "" : new URL(target).protocol)} Then ${again}` };
}

/** Name servers that fail, or do not respond, say nothing about the name. */
function causeOfDns(name: string, description: string): Pick<Cause, "what" | "action"> {
  return isNameServerError(description)
    ? {
        what: `The platform could not look up ${name}: ${description}`,
        action: "Check the network and the name servers of the platform's machine, then retry",
      }
    : {
        what: `The host name ${name.startsWith("the ") ? "of " : ""}${name} could not be resolved`,
        action: `Fix its DNS record, or ${CORRECT_URL}, then retry`,
      };
}

function causeOfTls(description: string, { endpoint, url, host, isLive }: Receiver): Omit<Cause, "code"> {
  if (!description.endsWith(NO_TLS)) {
    const action = "Install a certificate that is valid for the host, then retry";
    return { what: `The TLS handshake with ${host} failed: ${description}`, action };
  }
  const what = `${host} ${NO_TLS}`;
  if (isLive) return { what, action: "Use the port of a TLS server in the endpoint's URL", fix: getOf(endpoint) };
  const before = shellCommand`service endpoints update ${endpoint ?? ""} --url ${url.replace(/^https:/, "http:")}`;
  return { what, action: "Use http:// in the endpoint's URL, then retry", before };
}

const CODES: Readonly<Record<Rejection, FindingCode>> = {
  stale: "signature_rejected",
  signature: "signature_rejected",
  csrf: "receiver_unauthorized",
  login: "receiver_unauthorized",
  firewall: "receiver_unauthorized",
  unauthorized: "receiver_unauthorized",
  not_found: "receiver_not_found",
  gone: "endpoint_disabled",
  busy: "rate_limited",
  sign_in: "redirect",
  redirect: "redirect",
  redirect_nowhere: "redirect",
  proxy: "receiver_error",
  error: "receiver_error",
  too_large: "receiver_rejected",
  media_type: "receiver_rejected",
  invalid: "receiver_rejected",
  rejected: "receiver_rejected",
};

/** What follows the name of the receiver, if it is more than its status. */
const WHATS: Readonly<Partial<Record<Rejection, (name: string) => string>>> = {
  stale: (name) => `${name} rejected the timestamp of the signature with`,
  signature: (name) => `${name} rejected the signature with`,
  csrf: (name) => `The CSRF protection of ${name} rejected the request with`,
  login: (name) => `${name} required a login and responded with`,
  firewall: (name) => `A firewall or proxy in front of ${name} rejected the request with`,
  sign_in: (name) => `${name} redirected to a sign-in page with`,
  redirect: (name) => `${name} redirected the request with`,
  proxy: (name) => `The proxy in front of ${name} could not reach it and responded with`,
};

function causeOfStatus(outcome: Outcome & { status_code: number }, to: Receiver): Cause {
  const { status_code: status, response_excerpt: body, response_headers: headers } = outcome;
  const { endpoint, name, again, flag = "--forward-to" } = to;
  const rejection = rejectionOf({ status, body: body ?? "", header: (one) => headers?.[one] });
  const [receiver, url] = endpoint === null ? ["your application", flag] : ["the receiver", "the endpoint's URL"];
  const code = status === 503 && rejection === "busy" ? "receiver_error" : CODES[rejection];
  const what = `${WHATS[rejection]?.(name) ?? `${name} responded with`} ${status}`;
  const action = `${adviceOnRejection(rejection, receiver, url)}, then ${again}`;
  switch (rejection) {
    case "signature":
      return { code, what, ...secretCheck(outcome, to) };
    case "gone":
      return { code, what: `${what} Gone`, action: endpoint === null ? action : "Retry now" };
    case "busy": {
      const wait = headers?.["retry-after"];
      const after = wait === undefined ? "" : ` and Retry-After: ${wait}`;
      return { code, what: what + after, action, pause: pauseOf(wait, name) };
    }
    case "redirect":
      return { code, what, ...redirect(headers!["location"]!, to, action) };
    default:
      return { code, what, action };
  }
}

/** Returns what to do about a cause, with the command that sends the event again if nothing else does. */
export function remedyOf({ action, before, check, fix }: Cause, again: string): { action: string; fix: string | null } {
  if (check !== undefined) return { action: `${action} (after the repair: \`${again}\`)`, fix: check };
  return { action, fix: fix === undefined ? [before, again].filter(Boolean).join(" && ") : fix };
}

/** Retry-After is a number of seconds, or a date. */
function pauseOf(wait: string | undefined, name: string): Pause {
  const receiver = atStart(name);
  if (wait === undefined) return { what: `${receiver} asks for fewer requests` };
  if (!/^\d+$/.test(wait)) return { what: `${receiver} asks for a pause until ${wait}` };
  const milliseconds = Number(wait) * 1000;
  return { what: `${receiver} asks for a pause of ${span(milliseconds)}`, milliseconds };
}

/** Returns what a receiver asked for after an attempt, as a clause, and whether that is over. */
export function pauseAfter(
  { what, milliseconds = Infinity }: Pause,
  attempt: string,
  { now }: { now: number },
  time: TimeFormat,
): { isOver: boolean; text: string } {
  const end = Date.parse(attempt) + milliseconds;
  if (end > now) return { isOver: false, text: what };
  const text = `its pause of ${span(milliseconds)} has been over since ${time(formatTimestamp(end))}`;
  return { isOver: true, text };
}

/** Returns what shows whether the secret is wrong, or the receiver's code. */
function secretCheck({ delivery }: Outcome, { endpoint }: Receiver): Pick<Cause, "action" | "fix" | "check"> {
  if (endpoint === null) {
    return {
      action:
        "Your application may use another secret, or parse the body before it verifies the signature. Compare its secret with the listener's",
      check: "service listen --print-secret",
    };
  }
  const either = "The receiver may use another secret, or parse the body before it verifies the signature";
  if (delivery === undefined) return { action: either, fix: getOf(endpoint) };
  return {
    action: `${either}. To find out which, verify the delivery with the receiver's secret`,
    check: shellCommand`service webhooks verify --delivery ${delivery}`,
  };
}

function redirect(location: string, { endpoint, url, target: forwardTo }: Receiver, action: string) {
  const target = resolved(location, forwardTo ?? url);
  if (target === undefined) return { action, fix: getOf(endpoint) };
  if (endpoint === null) return { action: action.replace(/, then .*/, ""), instead: target };
  return {
    action: "Deliveries do not follow redirects. Set the endpoint's URL to the redirect's target, then retry",
    before: shellCommand`service endpoints update ${endpoint} --url ${target}`,
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
