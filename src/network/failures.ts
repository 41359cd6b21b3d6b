import { TimeLimitError } from "./poster.ts";
import { InvalidResponseError } from "./response-parser.ts";

/** The codes of the API for attempts that failed. */
export type FailureKind = "connection_refused" | "timeout" | "connection_closed" | "dns" | "tls" | "unreachable";

const KINDS: Readonly<Record<string, FailureKind>> = {
  ECONNREFUSED: "connection_refused",
  ETIMEDOUT: "timeout",
  ECONNRESET: "connection_closed",
  ECONNABORTED: "connection_closed",
  EPIPE: "connection_closed",
  ENOTFOUND: "dns",
  EAI_AGAIN: "dns",
  EAI_FAIL: "dns",
  EHOSTUNREACH: "unreachable",
  EHOSTDOWN: "unreachable",
  ENETUNREACH: "unreachable",
  EADDRNOTAVAIL: "unreachable",
};

const TLS_CODE = /^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_)/;

/** Returns the code of an error of Node.js, or "". If several addresses were tried, the error of the first one counts. */
export function errorCodeOf(error: unknown): string {
  const { code, errors: [first] = [] } = (error ?? {}) as { code?: unknown; errors?: unknown[] };
  if (typeof code === "string") return code;
  return first === undefined ? "" : errorCodeOf(first);
}

/** Returns the kind of failure that an error of Node.js stands for, or undefined for any other error. */
export function failureKindOf(error: unknown): FailureKind | undefined {
  const code = errorCodeOf(error);
  return KINDS[code] ?? (TLS_CODE.test(code) ? "tls" : undefined);
}

const CODES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOBUFS"]);

/**
 * Returns true if a connection failed because this process, or the machine, has no file descriptor left, or no memory
 * for a socket: the peer is not at fault.
 */
export function isOutOfDescriptors(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException).code ?? "");
}

const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by an authority that is not trusted",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is signed by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by an unknown authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
};

/** How OpenSSL describes bytes that are not TLS. */
const NO_TLS = /wrong version number|http request|packet length too long|unknown protocol/;

/** The code of an attempt without a complete response. */
export type FailureCode = FailureKind | "invalid_response" | "network";

export function failureCodeOf(error: unknown): FailureCode {
  if (error instanceof TimeLimitError) return "timeout";
  return error instanceof InvalidResponseError ? "invalid_response" : (failureKindOf(error) ?? "network");
}

const MAX_ERROR_CHARACTERS = 300;

const WORDS: Partial<Record<FailureCode, string>> = {
  connection_refused: "no server listens on this address and port",
  dns: "the host name could not be resolved",
  connection_closed: "the connection closed before the response was complete",
  timeout: "the connection timed out",
  unreachable: "the address cannot be reached",
  invalid_response: "the response is not valid HTTP",
};

/** Returns why an attempt got no complete response, as it is recorded: a stable code, a colon, and a description. */
export function describeFailure(error: Error, timeoutMs: number): string {
  if (error instanceof TimeLimitError) return `timeout: no complete response within ${timeoutMs / 1000} s`;
  const code = failureCodeOf(error);
  const description = code === "tls" ? describeTlsError(error) : (WORDS[code] ?? error.message);
  return `${code}: ${description.slice(0, MAX_ERROR_CHARACTERS)}`;
}

/** Returns why a TLS handshake failed, in one line. */
export function describeTlsError(error: Error): string {
  if (NO_TLS.test(error.message)) return "the server does not speak TLS";
  return TLS_PROBLEMS[errorCodeOf(error)] ?? error.message.replaceAll(/\s+/g, " ").trim();
}
