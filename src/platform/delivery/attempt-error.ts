import { type FailureKind, failureKindOf } from "../../network/failures.ts";
import { DnsError } from "./dns.ts";
import { BlockedTargetError } from "./target-guard.ts";

const MAX_CHARACTERS = 300;

/** Codes of undici, besides those of Node.js. */
const UNDICI_CODES: Record<string, string> = {
  UND_ERR_SOCKET: "connection_closed",
  UND_ERR_HEADERS_OVERFLOW: "invalid_reply",
  // undici's word for a status below 100.
  ERR_ASSERTION: "invalid_reply",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "invalid_reply",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
};

/** How the API names the kinds of failures. */
const KINDS: Readonly<Record<FailureKind, string>> = {
  refused: "connection_refused",
  timeout: "timeout",
  reset: "connection_closed",
  dns: "dns",
  tls: "tls",
  unreachable: "unreachable",
};

const WORDS: Record<string, string> = {
  connection_refused: "nothing accepts connections there",
  dns: "the host name could not be resolved",
  connection_closed: "the connection was closed before the reply was complete",
  timeout: "no connection within the time limit",
  unreachable: "the address cannot be reached",
  invalid_reply: "the response is not valid HTTP",
};

/** Why an attempt got no complete reply: a stable code, a colon, and words. */
export function describeAttemptError(error: Error): string {
  if (error instanceof BlockedTargetError) return `blocked_target: ${error.message}`;
  if (error instanceof DnsError) return `dns: ${error.message}`;
  const code = codeOf(error);
  return `${code}: ${WORDS[code] ?? error.message.slice(0, MAX_CHARACTERS)}`;
}

function codeOf(error: Error): string {
  const { code = "", name, message } = error as NodeJS.ErrnoException;
  // "bad upgrade": a 101 that nobody asked for.
  if (name === "HTTPParserError" || (code === "UND_ERR_SOCKET" && message.startsWith("bad "))) return "invalid_reply";
  const kind = failureKindOf(code);
  return UNDICI_CODES[code] ?? (kind === undefined ? "network" : KINDS[kind]);
}

/** The failure of an attempt that was not over in time. */
export function describeTimeout(seconds: number): string {
  return `timeout: no complete reply within ${seconds} s`;
}
