import { DnsError } from "./dns.ts";
import { BlockedTargetError } from "./target-guard.ts";

const MOST_CHARACTERS = 300;

const CODES: Record<string, string> = {
  ECONNREFUSED: "connection_refused",
  ENOTFOUND: "dns",
  EAI_AGAIN: "dns",
  EAI_FAIL: "dns",
  ECONNRESET: "connection_closed",
  ECONNABORTED: "connection_closed",
  EPIPE: "connection_closed",
  UND_ERR_SOCKET: "connection_closed",
  UND_ERR_HEADERS_OVERFLOW: "invalid_reply",
  // undici's word for a status below 100.
  ERR_ASSERTION: "invalid_reply",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "invalid_reply",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  EADDRNOTAVAIL: "unreachable",
};

const TLS_CODE = /^(CERT_|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_)/;

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
  return `${code}: ${WORDS[code] ?? error.message.slice(0, MOST_CHARACTERS)}`;
}

function codeOf(error: Error): string {
  const { code = "", name, message } = error as NodeJS.ErrnoException;
  // "bad upgrade": a 101 that nobody asked for.
  if (name === "HTTPParserError" || (code === "UND_ERR_SOCKET" && message.startsWith("bad "))) return "invalid_reply";
  return CODES[code] ?? (TLS_CODE.test(code) ? "tls" : "network");
}

/** The failure of an attempt that was not over in time. */
export function describeTimeout(seconds: number): string {
  return `timeout: no complete reply within ${seconds} s`;
}
