import { isLocalhost } from "../network/connect-options.ts";
import type { HostKind } from "./host-kind.ts";
import { describeNetworkError, type NetworkFailureCode } from "./network-failure.ts";
import { isLoopback } from "./target.ts";

/** The name by which a container reaches its host. */
const DOCKER_HOST = "host.docker.internal";

/** Why a forward got no usable answer: a stable code, what happened, and what to do about it. */
export interface ForwardFailure {
  code: NetworkFailureCode;
  message: string;
  hint: string;
}

/** Puts the error of a forward into words. */
export function describeForwardError(error: unknown, url: URL, host: HostKind): ForwardFailure {
  const failure = describeNetworkError(error, { name: "the receiver", places: placesOf(url) });
  return { ...failure, hint: hintFor(failure.code, url, host) };
}

/** The failure of a forward that was not over in time. */
export function describeTimeout(milliseconds: number, answering: boolean, url: URL, host: HostKind): ForwardFailure {
  const seconds = milliseconds / 1000;
  return {
    code: "timeout",
    message: answering
      ? `the receiver at ${placesOf(url)} began its reply but did not end it within ${seconds} s`
      : `the receiver at ${placesOf(url)} did not answer within ${seconds} s`,
    hint: hintFor("timeout", url, host),
  };
}

/** What to do about an answer that is no success, where the status tells. */
export function hintForStatus(status: number, location: string | undefined): string | undefined {
  if (status >= 300 && status < 400) {
    const where = location === undefined ? "elsewhere" : `to ${location}`;
    return `The receiver redirects ${where}. Redirects are not followed: forward to the final address.`;
  }
  if (status === 404 || status === 405) return "Is the path right? The receiver takes no POST there.";
  if (status === 400 || status === 401 || status === 403) {
    return "If the receiver verifies signatures: is it set up with this session's secret?";
  }
  return undefined;
}

function hintFor(code: NetworkFailureCode, url: URL, host: HostKind): string {
  switch (code) {
    case "refused":
      return `Is the receiver running, and on port ${portOf(url)}?${elsewhere(url, host)}`;
    case "timeout":
      return "Answer with 2xx first and do slow work after it.";
    case "reset":
      return url.protocol === "http:"
        ? "Did the receiver crash? If it serves https, forward to https://."
        : "Did the receiver crash?";
    case "dns":
      return url.hostname === DOCKER_HOST
        ? `On Linux a container knows ${DOCKER_HOST} only when it is started with --add-host=${DOCKER_HOST}:host-gateway.`
        : "Is the host name spelled right?";
    case "tls":
      return "If the receiver serves plain http, forward to http://; if its certificate is for development only, add --skip-verify.";
    case "unreachable":
      return "Is the address right, and on a network that this machine is part of?";
    case "invalid_reply":
      return url.protocol === "http:"
        ? "Does something else listen on that port? If it serves https, forward to https://."
        : "Does something else listen on that port?";
    case "network":
      return "Try the same request by hand to see more.";
  }
}

/** What else `localhost` may have been meant to be. */
function elsewhere(url: URL, host: HostKind): string {
  if (!isLoopback(url.hostname) || host === "plain") return "";
  if (host === "container") {
    return ` This is a container, whose localhost is the container itself: for a receiver on its host forward to ${DOCKER_HOST}:${portOf(url)}, for one in another container to that one's name.`;
  }
  return " This is WSL, whose localhost is the Linux side: a receiver on Windows is reached at the address that `ip route show default` tells, or with mirrored networking (networkingMode=mirrored in .wslconfig).";
}

function placesOf(url: URL): string {
  const port = portOf(url);
  return isLocalhost(url.hostname) ? `127.0.0.1:${port} or [::1]:${port}` : `${url.hostname}:${port}`;
}

function portOf(url: URL): string {
  if (url.port !== "") return url.port;
  return url.protocol === "https:" ? "443" : "80";
}
