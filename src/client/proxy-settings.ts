import { isLoopback } from "./base-url.ts";

/** The proxy variables of the environment, by their lower-case names. */
export interface ProxySettings {
  http_proxy?: string | undefined;
  https_proxy?: string | undefined;
  no_proxy?: string | undefined;
}

/** The proxy that a request goes through, if any. This machine is never reached through one. */
export function proxyFor(url: URL, settings: ProxySettings): URL | undefined {
  const text = url.protocol === "https:" ? settings.https_proxy : settings.http_proxy;
  if (text === undefined || text === "" || isLoopback(url.hostname) || isExempt(url, settings.no_proxy ?? ""))
    return undefined;
  return new URL(text.includes("://") ? text : `http://${text}`);
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
