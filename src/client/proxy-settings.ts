import { BlockList, isIP } from "node:net";
import { isLoopback, withoutBrackets } from "../network/connect-options.ts";
import { parseUrl } from "../network/parse-url.ts";
import { NetworkError } from "./errors.ts";

/** The proxy variables of the environment, by their lower-case names. */
export interface ProxySettings {
  http_proxy?: string | undefined;
  https_proxy?: string | undefined;
  no_proxy?: string | undefined;
}

type ProxyVariable = "http_proxy" | "https_proxy";

/**
 * Returns the proxy that a request goes through, if any. This machine is never reached through one. Throws NetworkError for a
 * variable that is not the address of a proxy.
 */
export function proxyFor(url: URL, settings: ProxySettings): URL | undefined {
  const variable = /^(https|wss):$/.test(url.protocol) ? "https_proxy" : "http_proxy";
  const text = settings[variable];
  if (text === undefined || text === "" || isLoopback(url.hostname) || isExempt(url, settings.no_proxy ?? ""))
    return undefined;
  return parseProxy(variable, text);
}

/** Returns the URL in a variable (default scheme: http). Throws NetworkError if it is invalid. */
export function parseProxy(variable: ProxyVariable, text: string): URL {
  const address = text.includes("://") ? text : `http://${text}`;
  const proxy = parseUrl(address);
  if (proxy !== undefined && /^https?:$/.test(proxy.protocol) && isDecodable(proxy.username + proxy.password)) {
    return proxy;
  }
  // Not shown: the value may contain a password.
  throw new NetworkError(
    "proxy",
    `The variable ${variable.toUpperCase()} is not the address of an http or https proxy`,
    "Use http://host:port, or http://user:password@host:port; write a % in them as %25.",
    { passing: false },
  );
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns true if NO_PROXY lists the host: a name with its subdomains, an IP address in any spelling, a CIDR range, or `*` for
 * all; names and addresses with a port or without, IPv6 addresses with a port in brackets.
 */
function isExempt(url: URL, noProxy: string): boolean {
  const port = url.port || (/^(https|wss):$/.test(url.protocol) ? "443" : "80");
  const host = withoutBrackets(url.hostname);
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      if (isIP(entry) !== 0 || entry.includes("/")) return isInRange(host, entry);
      const [, bracketed, name = "", wantedPort] = /^(?:\[(.*)\]|(.*?))(?::(\d+))?$/.exec(entry) ?? [];
      if (wantedPort !== undefined && wantedPort !== port) return false;
      if (bracketed !== undefined || isIP(name) !== 0) return isInRange(host, bracketed ?? name);
      const domain = name.replace(/^\*?\./, "");
      return host === domain || host.endsWith(`.${domain}`);
    });
}

/** Returns true if the host is an address in the range, which is an address or has the form `10.0.0.0/8`. */
function isInRange(host: string, range: string): boolean {
  const [network = "", length] = range.split("/");
  const family = isIP(network);
  const maxBits = family === 4 ? 32 : 128;
  const bits = length === undefined ? maxBits : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  if (family === 0 || isIP(host) !== family || bits > maxBits) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(network, bits, type);
  return list.check(host, type);
}
