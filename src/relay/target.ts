import { isIP } from "node:net";
import { isLocalhost } from "../network/connect-options.ts";

export type TargetErrorCode =
  | "empty"
  | "file_path"
  | "unsupported_scheme"
  | "credentials"
  | "invalid_host"
  | "invalid_port"
  | "invalid_url";

/** A `--forward-to` that cannot be used; the message names the fix. */
export class TargetError extends Error {
  override name = "TargetError";
  readonly code: TargetErrorCode;

  constructor(code: TargetErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Target {
  url: URL;
  /** What was changed or is risky, in sentences for the user. */
  warnings: string[];
}

const EXAMPLE = "for example localhost:3000/webhooks";
const AUTHORITY = /^(?<host>\[[^\]]*\]|[^:[\]]*)(?<colon>:(?<port>[^:]*))?$/;

/**
 * Reads where to forward to: a port, a host with or without port and path, or an http(s) URL. Without a scheme http is
 * meant, without a host localhost, without a path `/`. Throws TargetError.
 */
export function parseTarget(text: string): Target {
  const given = text.trim();
  if (given === "") throw new TargetError("empty", `no target was given: say where to forward to, ${EXAMPLE}`);
  refuseFilePath(given);
  const { scheme, rest } = splitScheme(given);
  const isWholeUrl = rest !== given;
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const tail = end === -1 ? "" : rest.slice(end);
  const warnings: string[] = [];
  const url = buildUrl(`${scheme}://${checkAuthority(authority)}${tail}`, given);
  const isPortSaid = authority.includes(":", authority.lastIndexOf("]") + 1) || /^\d+$/.test(authority);
  // Whoever writes a whole URL of another machine means its usual port; here it was rather forgotten.
  if (!isPortSaid && (!isWholeUrl || isThisMachine(url.hostname))) {
    warnings.push(`No port was given: ${url.protocol === "https:" ? 443 : 80} is used.`);
  }
  if (url.hash !== "") {
    url.hash = "";
    warnings.push("The part behind # was dropped: it is never sent.");
  }
  rewriteUnspecified(url, warnings);
  if (!isThisMachine(url.hostname)) {
    const clear = url.protocol === "http:" ? ", unencrypted" : "";
    warnings.push(`${url.hostname} is not this machine: events and what they contain are sent there${clear}.`);
  }
  return { url, warnings };
}

/** True for names and addresses that always mean the machine itself. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isLocalhost(host) || (isIP(host) === 4 && host.startsWith("127.")) || host === "::1";
}

function isThisMachine(hostname: string): boolean {
  return isLoopback(hostname) || hostname === "host.docker.internal";
}

function refuseFilePath(text: string): void {
  if (!/^(?:[./~\\]|unix:|[a-z]:[\\/](?!\/))/i.test(text)) return;
  throw new TargetError(
    "file_path",
    `"${text}" is a file path: events are forwarded over TCP only, so give a host and a port, ${EXAMPLE}`,
  );
}

function splitScheme(text: string): { scheme: string; rest: string } {
  const match = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text);
  if (match === null) return { scheme: "http", rest: text };
  const scheme = match[1]!.toLowerCase();
  if (scheme !== "http" && scheme !== "https") {
    throw new TargetError("unsupported_scheme", `"${scheme}://" cannot be forwarded to: use http:// or https://`);
  }
  return { scheme, rest: match[2]! };
}

function checkAuthority(authority: string): string {
  if (authority.includes("@")) {
    throw new TargetError("credentials", `leave out the user name and password: give -H "Authorization: …" instead`);
  }
  if (authority.includes(",")) {
    throw new TargetError("invalid_host", `"${authority}" are several: give one here, and each other with --route`);
  }
  if (/^\d+$/.test(authority)) return `localhost:${checkPort(authority)}`;
  const parts = AUTHORITY.exec(authority)?.groups;
  if (parts === undefined) {
    throw new TargetError("invalid_host", `"${authority}" is no host: an IPv6 address needs brackets, like [::1]:3000`);
  }
  const host = parts["host"] === "" && parts["colon"] !== undefined ? "localhost" : parts["host"]!;
  if (host === "") throw new TargetError("invalid_host", `there is no host in the address: write it out, ${EXAMPLE}`);
  return parts["colon"] === undefined ? host : `${host}:${checkPort(parts["port"]!)}`;
}

function checkPort(port: string): string {
  if (/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535) return port;
  throw new TargetError("invalid_port", `"${port.slice(0, 40)}" is no port: a port is a number from 1 to 65535`);
}

function buildUrl(text: string, given: string): URL {
  // The URL parser would drop tabs and line ends, and turn backslashes round, without a word.
  if (!/[\s\\\u0000-\u001f\u007f]/.test(text) && URL.canParse(text)) return new URL(text);
  throw new TargetError("invalid_url", `"${given.slice(0, 80)}" is no address to forward to: write it ${EXAMPLE}`);
}

/** 0.0.0.0 and [::] are addresses to listen on; connecting to them works on some systems only. */
function rewriteUnspecified(url: URL, warnings: string[]): void {
  const loopback = url.hostname === "0.0.0.0" ? "127.0.0.1" : url.hostname === "[::]" ? "[::1]" : undefined;
  if (loopback === undefined) return;
  warnings.push(`${url.hostname} means every address of this machine: events are forwarded to ${loopback}.`);
  url.hostname = loopback;
}
