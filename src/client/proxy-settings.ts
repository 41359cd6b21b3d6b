import { isLoopback } from "./base-url.ts";
import { NetworkError } from "./errors.ts";

/** The proxy variables of the environment, by their lower-case names. */
export interface ProxySettings {
  http_proxy?: string | undefined;
  https_proxy?: string | undefined;
  no_proxy?: string | undefined;
}

/** The variables that name a proxy. */
export type ProxyVariable = "http_proxy" | "https_proxy";

/**
 * The proxy that a request goes through, if any. This machine is never reached through one. Throws NetworkError for a
 * variable that is not the address of a proxy.
 */
export function proxyFor(url: URL, settings: ProxySettings): URL | undefined {
  const variable = /^(https|wss):$/.test(url.protocol) ? "https_proxy" : "http_proxy";
  const text = settings[variable];
  if (text === undefined || text === "" || isLoopback(url.hostname) || isExempt(url, settings.no_proxy ?? ""))
    return undefined;
  return parseProxy(variable, text);
}

/** The address that a variable holds; without a scheme it is one of http. Throws NetworkError for anything else. */
export function parseProxy(variable: ProxyVariable, text: string): URL {
  const address = text.includes("://") ? text : `http://${text}`;
  const proxy = URL.canParse(address) ? new URL(address) : undefined;
  if (proxy !== undefined && /^https?:$/.test(proxy.protocol) && isDecodable(proxy.username + proxy.password)) {
    return proxy;
  }
  // The value may hold a password, so it is not repeated.
  throw new NetworkError(
    "proxy",
    `The variable ${variable.toUpperCase()} is not the address of an http or https proxy`,
    "Write it as http://host:port, with user:password@ before the host where the proxy wants them; a % in them is %25.",
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

/** NO_PROXY: names and their subdomains, with a port or without, `*` for all. */
function isExempt(url: URL, noProxy: string): boolean {
  return noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      const domain = name.replace(/^\*?\./, "");
      const matches = url.hostname === domain || url.hostname.endsWith(`.${domain}`);
      return matches && (port === undefined || port === (url.port || (url.protocol === "https:" ? "443" : "80")));
    });
}
