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
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "invalid_reply",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  EPROTO: "tls",
  CERT_HAS_EXPIRED: "tls",
  CERT_NOT_YET_VALID: "tls",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls",
  SELF_SIGNED_CERT_IN_CHAIN: "tls",
  UNABLE_TO_GET_ISSUER_CERT: "tls",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls",
};

const WORDS: Record<string, string> = {
  connection_refused: "nothing accepts connections there",
  dns: "the host name could not be resolved",
  connection_closed: "the connection was closed before the reply was complete",
  timeout: "no connection within the time limit",
  unreachable: "the address cannot be reached",
  invalid_reply: "the reply is not HTTP",
};
if (error instanceof DnsError) return `dns: ${error.message}`;

/** Why an attempt got no complete reply: a stable code, a colon, and words. */
export function describeAttemptError(error: Error): string {
  if (error instanceof BlockedTargetError) return `blocked_target: ${error.message}`;
  const code = codeOf(error);
  return `${code}: ${WORDS[code] ?? error.message.slice(0, MOST_CHARACTERS)}`;
}

function codeOf(error: Error): string {
  const { code, name } = error as NodeJS.ErrnoException;
  if (name === "HTTPParserError") return "invalid_reply";
  if (code === undefined) return "network";
  return CODES[code] ?? (code.startsWith("ERR_TLS") || code.startsWith("ERR_SSL") ? "tls" : "network");
}

/** The failure of an attempt that was not over in time. */
export function describeTimeout(seconds: number): string {
  return `timeout: no complete reply within ${seconds} s`;
}
