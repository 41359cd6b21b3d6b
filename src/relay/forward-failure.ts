import { isLocalhost, isLoopback, portOf } from "../network/connect-options.ts";
import { describeTlsError, type FailureCode, failureCodeOf } from "../network/failures.ts";
import type { Scheme } from "../webhooks/schemes.ts";
import { adviceOn, adviceOnRejection, rejectionOf } from "../contract/receiver-hints.ts";
import type { ResponseHeaders } from "../network/response-parser.ts";
import { headerIn } from "./forward-headers.ts";

export interface NetworkFailure {
  code: FailureCode;
  message: string;
}

export interface Peer {
  /** Its name in messages, such as "the receiver". */
  name: string;
  /** The addresses that were tried: "127.0.0.1:3000 or [::1]:3000". */
  hosts: string;
}

/** Describes an error of a socket or of an HTTP exchange. */
export function describeNetworkError(error: unknown, peer: Peer): NetworkFailure {
  const failed = error instanceof Error ? error : new Error(String(error));
  const code = failureCodeOf(error);
  return { code, message: MESSAGES[code](peer, failed) };
}

const MESSAGES: Readonly<Record<FailureCode, (peer: Peer, error: Error) => string>> = {
  connection_refused: ({ hosts }) => `connection refused: nothing listens on ${hosts}`,
  timeout: ({ hosts }) => `connecting to ${hosts} timed out`,
  connection_closed: ({ name, hosts }) => `${name} at ${hosts} closed the connection before the response was complete`,
  dns: ({ hosts }) => `the host name of ${hosts} cannot be resolved`,
  unreachable: ({ hosts }) => `no network route to ${hosts}`,
  tls: ({ hosts }, error) => `no TLS connection to ${hosts}: ${describeTlsError(error)}`,
  invalid_response: ({ name, hosts }, error) => `${name} at ${hosts} sent an invalid HTTP response (${error.message})`,
  network: ({ hosts }, error) => `the request to ${hosts} failed: ${error.message}`,
};

/** Where `localhost` may not be what the user means: inside a container, or on the Linux side of Windows. */
export type HostKind = "plain" | "container" | "wsl";

/** The name under which a container reaches its host. */
const DOCKER_HOST = "host.docker.internal";

/** Why a forward got no complete response: a stable code, what happened, and what to do. */
export interface ForwardFailure extends NetworkFailure {
  hint: string;
  /** What happened, for a column next to the code. */
  brief: string;
}

export function describeForwardError(error: unknown, url: URL, host: HostKind): ForwardFailure {
  const failure = describeNetworkError(error, { name: "the receiver", hosts: hostsOf(url) });
  const { code, message } = failure;
  return {
    ...failure,
    hint: hintFor(code, url, host),
    brief: code === "connection_refused" ? `nothing listens on ${placeOf(url)}` : (BRIEF[code] ?? message),
  };
}

/** Describes a forward that exceeded its time limit; `isResponding` if the response had begun. */
export function describeTimeout(milliseconds: number, isResponding: boolean, url: URL, host: HostKind): ForwardFailure {
  const seconds = milliseconds / 1000;
  const what = isResponding ? "complete response" : "response";
  return {
    code: "timeout",
    message: isResponding
      ? `the receiver at ${hostsOf(url)} did not complete its response within ${seconds} s`
      : `the receiver at ${hostsOf(url)} did not respond within ${seconds} s`,
    hint: hintFor("timeout", url, host),
    brief: `no ${what} within ${seconds} s`,
  };
}

interface Response {
  status: number;
  /** The beginning of its body. */
  excerpt: string;
  responseHeaders?: ResponseHeaders | undefined;
}

/** Returns what to do about an error response, if it suggests anything; `unverified` if that is a wrong signature. */
export function hintForResponse(
  { status, excerpt, responseHeaders }: Response,
  unverified?: () => string,
): string | undefined {
  const header = (name: string) => responseHeaders?.get(name);
  const rejection = rejectionOf({ status, body: excerpt, header });
  const advice = `${adviceOnRejection(rejection, "the receiver", "the URL")}.`;
  switch (rejection) {
    case "signature":
    case "unauthorized":
    case "invalid":
      return unverified?.() ?? advice;
    case "sign_in":
    case "redirect":
      return `The receiver redirects to ${header("location")}. ${advice}`;
    case "busy":
      return `The receiver asks for a pause (Retry-After: ${header("retry-after") ?? "not set"}). ${advice}`;
    case "error":
    case "rejected":
      // The status says as much.
      return undefined;
    default:
      return advice;
  }
}

const OTHER_SECRET = `${adviceOnRejection("invalid", "the receiver", "")}.`;

interface Original {
  /** A flat list of names and values. */
  headers: readonly string[];
  /** The schemes that it may be signed with. */
  schemes: readonly Scheme[];
  /** The scheme of the receiver, if it is known. */
  expected?: Scheme | undefined;
  /** True if it is sent with its original signature, although it could be signed again. */
  keepsSignature: boolean;
  /** Unix milliseconds. */
  now: number;
  /** The rule that its signature broke when it was captured. */
  invalid?: string | undefined;
}

/** Returns what to do if a receiver rejects a delivery of another sender, which has its original headers. */
export function hintForOriginal({ headers, schemes, expected, keepsSignature, invalid, now }: Original): string {
  const possible = expected === undefined ? schemes : [expected, ...schemes];
  const scheme = possible.find(({ signature }) => headerIn(headers, signature.header) !== undefined);
  if (scheme === undefined) {
    const missing = expected === undefined ? "signature of a known provider" : `${expected.signature.header} header`;
    return `The delivery has no ${missing}, so a receiver that verifies signatures rejects it.`;
  }
  if (expected !== undefined && scheme !== expected) {
    return `The delivery has a signature of ${scheme.name}, so a receiver of ${expected.name} rejects it.`;
  }
  if (invalid !== undefined) {
    return `The signature was not valid when the delivery was captured (${invalid}). To sign it again, pass --scheme and --secret-file.`;
  }
  const { tolerance = Infinity } = scheme.timestamp ?? {};
  const age = Math.floor(now / 1000) - (signedAt(headers, scheme) ?? Infinity);
  if (age <= tolerance) return OTHER_SECRET;
  return `The signature is ${age} s old, and receivers of ${scheme.name} reject it after ${tolerance} s.${keepsSignature ? " To sign it again, pass --scheme and --secret-file." : ""}`;
}

/** Returns when a delivery was signed, in Unix seconds, if its headers, a flat list of names and values, contain it. */
function signedAt(headers: readonly string[], { signature, timestamp }: Scheme): number | undefined {
  if (timestamp === undefined) return undefined;
  const value = headerIn(headers, timestamp.header ?? signature.header);
  const { prefix = "" } = timestamp;
  const items = prefix === "" ? [value] : value?.split(signature.separator!);
  const time = Number(
    items
      ?.find((item) => item?.trim().startsWith(prefix))
      ?.trim()
      .slice(prefix.length),
  );
  return Number.isNaN(time) ? undefined : time;
}

function hintFor(code: FailureCode, url: URL, host: HostKind): string {
  switch (code) {
    case "connection_refused":
      return `Check that the receiver is running and listens on port ${portOf(url)}.${localhostHint(url, host)}`;
    case "dns":
      return url.hostname === DOCKER_HOST
        ? `On Linux, start the container with --add-host=${DOCKER_HOST}:host-gateway.`
        : adviceOn(code, url.protocol);
    case "network":
      return "Send the same request manually for details.";
    default:
      return adviceOn(code, url.protocol);
  }
}

/** Returns what else `localhost` may refer to. */
export function localhostHint(url: URL, host: HostKind): string {
  if (!isLoopback(url.hostname) || host === "plain") return "";
  if (host === "container") {
    return ` In a container, localhost is the container itself. Use ${DOCKER_HOST}:${portOf(url)} for a receiver on the host, or the name of another container.`;
  }
  return " In WSL, localhost is the Linux side. For a receiver on Windows, use the address shown by `ip route show default`, or mirrored networking (networkingMode=mirrored in .wslconfig).";
}

const BRIEF: Partial<Record<FailureCode, string>> = {
  timeout: "connecting timed out",
  connection_closed: "closed before it responded",
  dns: "host name not found",
  unreachable: "no network route",
  invalid_response: "invalid HTTP response",
};

function placeOf(url: URL): string {
  return isLoopback(url.hostname) ? `port ${portOf(url)}` : `${url.hostname}:${portOf(url)}`;
}

function hostsOf(url: URL): string {
  const port = portOf(url);
  return isLocalhost(url.hostname) ? `127.0.0.1:${port} or [::1]:${port}` : `${url.hostname}:${port}`;
}
