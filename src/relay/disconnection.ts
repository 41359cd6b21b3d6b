import { describeNetworkError, type NetworkFailureCode } from "./network-failure.ts";

/** Why there is no connection to the platform: a stable code and the words for it. */
export interface Disconnection {
  code: NetworkFailureCode | "authorization" | "bye" | "closed" | "http_status" | "protocol" | "proxy" | "silent";
  message: string;
}

const CLOSE_CODES: Record<number, string> = {
  1000: "it is done",
  1001: "it goes away",
  1008: "against its policy",
  1009: "a message was too large for it",
  1011: "it failed inside",
  1012: "it restarts",
  1013: "it is overloaded, try later",
};

/** An error of the socket, before or after the upgrade. */
export function describeSocketError(error: Error, url: URL): Disconnection {
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && code.startsWith("WS_ERR_")) {
    return { code: "protocol", message: `the platform broke the protocol: ${error.message}` };
  }
  if (code === "ERR_PROXY") return { code: "proxy", message: error.message };
  // The WebSocket library's own complaints about the upgrade carry no code.
  if (code === undefined && !(error instanceof AggregateError)) {
    return { code: "protocol", message: `what answers at ${url.host} is not the platform: ${error.message}` };
  }
  return describeNetworkError(error, { name: "the platform", places: url.host });
}

/** The end of a socket by a close frame, or by none (1006). */
export function describeSocketClose(code: number, text: string): Disconnection {
  if (code === 1006) return { code: "reset", message: "the connection to the platform broke" };
  const meaning = text === "" ? CLOSE_CODES[code] : text;
  return {
    code: "closed",
    message: `the platform closed the connection (${code}${meaning === undefined ? "" : `, ${meaning}`})`,
  };
}
