import { isLoopback } from "./base-url.ts";
import { NetworkError } from "./errors.ts";

/** The proxy variables of the environment, by their lower-case names. */
export interface ProxySettings {
  http_proxy?: string | undefined;
  https_proxy?: string | undefined;
  no_proxy?: string | undefined;
}

/**
 * The proxy that a request goes through, if any. This machine is never reached through one. Throws NetworkError for a
 * variable that is not the address of an http proxy.
 */
export function proxyFor(url: URL, settings: ProxySettings): URL | undefined {
  const variable = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const text = settings[variable];
  if (text === undefined || text === "" || isLoopback(url.hostname) || isExempt(url, settings.no_proxy ?? ""))
    return undefined;
  const address = text.includes("://") ? text : `http://${text}`;
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return new URL(address);
  // The value may hold a password, so it is not repeated.
  throw new NetworkError(
    "proxy",
    `The variable ${variable.toUpperCase()} is not the address of an http proxy`,
    "Write it as http://host:port, with user:password@ before the host where the proxy wants them.",
    { passing: false },
  );
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
