import { type FailureKind, failureKindOf } from "../network/failures.ts";
import { InvalidResponseError } from "./response-parser.ts";

/** Stable codes of network failures. */
export type NetworkFailureCode = FailureKind | "invalid_reply" | "network";

export interface NetworkFailure {
  code: NetworkFailureCode;
  message: string;
}

export interface Peer {
  /** As it is called in messages: "the receiver". */
  name: string;
  /** The addresses that were tried: "127.0.0.1:3000 or [::1]:3000". */
  hosts: string;
}

const CERTIFICATES: Record<string, string> = {
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by an authority that is not trusted",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is signed by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by an unknown authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host",
};

/** Describes an error of a socket or of an HTTP exchange. */
export function describeNetworkError(error: unknown, peer: Peer): NetworkFailure {
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  const kind = error instanceof InvalidResponseError ? "invalid_reply" : (failureKindOf(code) ?? "network");
  return { code: kind, message: messageFor(kind, code, text, peer) };
}

function messageFor(kind: NetworkFailureCode, code: string, text: string, { name, hosts }: Peer): string {
  switch (kind) {
    case "refused":
      return `connection refused: nothing listens on ${hosts}`;
    case "timeout":
      return `connecting to ${hosts} timed out`;
    case "reset":
      return `${name} at ${hosts} closed the connection before the response was complete`;
    case "dns":
      return `the host name of ${hosts} cannot be resolved`;
    case "unreachable":
      return `no network route to ${hosts}`;
    case "tls":
      return `no TLS connection to ${hosts}: ${CERTIFICATES[code] ?? "the other side does not speak TLS"}`;
    case "invalid_reply":
      return `${name} at ${hosts} sent an invalid HTTP response (${text})`;
    case "network":
      return `the request to ${hosts} failed: ${text}`;
  }
}

/** If several addresses were tried, the error of the first one counts. */
function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === "string") return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "";
}
