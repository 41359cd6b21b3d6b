import { isLoopback } from "../network/connect-options.ts";
import { failureKindOf } from "../network/failures.ts";
import { NetworkError } from "./errors.ts";

/** The code of the transport's own timeout. */
export const TIME_LIMIT_CODE = "TIME_LIMIT";

/** Returns true if no TLS connection came about, or a certificate was not trusted. */
export function isTlsFailure({ code = "" }: NodeJS.ErrnoException): boolean {
  return failureKindOf(code) === "tls";
}

/** Describes a network failure: what happened, and what to do about it. `timeLimit` is in seconds. */
export function networkErrorOf(error: unknown, url: URL, timeLimit?: number): NetworkError {
  if (error instanceof NetworkError) return error;
  const cause = error as NodeJS.ErrnoException;
  const code = cause.code ?? "";
  const kind = failureKindOf(code);
  const at = url.host;
  if (kind === "dns") {
    return new NetworkError(
      "name_not_found",
      `The name ${url.hostname} was not found`,
      "Check the base URL and your network.",
      {
        passing: code === "EAI_AGAIN",
        cause,
      },
    );
  }
  if (kind === "refused") {
    const hint = isLoopback(url.hostname)
      ? "Start the platform with `service serve`, or name another with --base-url."
      : "Check the port of the base URL, and that the platform runs.";
    return new NetworkError("refused", `Nothing listens at ${at}`, hint, { passing: true, cause });
  }
  if (kind === "unreachable") {
    return new NetworkError("unreachable_network", `No network leads to ${at}`, "Check your connection or VPN.", {
      passing: false,
      cause,
    });
  }
  if (kind === "tls") return tlsError(cause, at);
  if (code === TIME_LIMIT_CODE || kind === "timeout") {
    const time = timeLimit === undefined ? "in time" : `within ${timeLimit < 1 ? timeLimit : Math.ceil(timeLimit)} s`;
    return new NetworkError(
      "timed_out",
      `${at} did not answer ${time}`,
      "Try again; `service status` shows how it does.",
      {
        passing: true,
        cause,
      },
    );
  }
  if (code.startsWith("HPE_")) {
    return new NetworkError(
      "not_the_platform",
      `${at} does not speak HTTP`,
      "Check the base URL: perhaps it needs https.",
      {
        passing: false,
        cause,
      },
    );
  }
  return new NetworkError("connection_lost", `The connection to ${at} broke (${code || cause.message})`, "Try again.", {
    passing: true,
    cause,
  });
}

function tlsError(cause: NodeJS.ErrnoException, at: string): NetworkError {
  const plain = /wrong version number|packet length too long/i.test(cause.message);
  const [message, hint] = plain
    ? [`${at} speaks plain http, not https`, "Write http:// in the base URL."]
    : [
        `The TLS certificate of ${at} is not trusted (${cause.code})`,
        "Where your network has its own certificate authority, name its file in NODE_EXTRA_CA_CERTS.",
      ];
  return new NetworkError("tls", message, hint, { passing: false, cause });
}
