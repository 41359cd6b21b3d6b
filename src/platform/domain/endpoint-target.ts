import { LIMITS } from "../../contract/limits.ts";
import type { FieldError } from "../../contract/schemas/problem.ts";
import { isLoopback, portOf, withoutBrackets } from "../../network/connect-options.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { shorten } from "./api-error.ts";

export interface EndpointUrlRules {
  /** True if the endpoint may use plain http: in a sandbox of a platform for local development. */
  allowHttp: boolean;
  /** Returns why deliveries can never reach the URL's host, or undefined. */
  blockReason: (url: URL) => string | undefined;
  baseUrl: () => string;
}

/** Checks an endpoint's URL. Returns what is wrong with it, or undefined. */
export function checkEndpointUrl(text: string, rules: EndpointUrlRules): FieldError | undefined {
  const wrong = (code: string, detail: string): FieldError => ({ pointer: "/url", code, detail });
  if (text.length > LIMITS.endpointUrlLength) {
    return wrong("too_long", `must have at most ${LIMITS.endpointUrlLength} characters`);
  }
  // The parser drops some characters silently, but the stored URL must be exactly what the caller sent.
  if (/[\s\u0000-\u001f\u007f\\]/.test(text)) {
    return wrong("invalid_format", "must not contain spaces, control characters or backslashes");
  }
  const url = parseUrl(text);
  if (url === undefined || !/^[a-z]+:\/\//i.test(text)) {
    return wrong("invalid_format", "must be an absolute URL such as https://example.com/webhooks");
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && rules.allowHttp)) {
    const schemes = rules.allowHttp ? "https:// or http://" : "https://";
    const help =
      url.protocol === "http:" ? "; a platform started with --allow-private-targets accepts http in sandboxes" : "";
    return wrong("not_https", `must begin with ${schemes}${help}`);
  }
  if (url.username !== "" || url.password !== "" || /^[a-z]+:\/\/[^/?#]*@/i.test(text)) {
    return wrong("has_credentials", "must not contain a user name or password: verify signatures instead");
  }
  if (text.includes("#")) return wrong("has_fragment", "must not contain a fragment (#…), which is never sent");
  if (url.port === "0") return wrong("out_of_range", "must have a port from 1 to 65535");
  if (isOwn(url, new URL(rules.baseUrl()))) {
    return wrong("own_platform", "is the platform itself: its events would be delivered in a loop");
  }
  const blockReason = rules.blockReason(url);
  if (blockReason !== undefined) {
    return wrong(
      "blocked_target",
      `must not be ${shorten(url.hostname)} (${blockReason}); a platform started with --allow-private-targets can deliver there`,
    );
  }
  return undefined;
}

/** Returns true for the platform's own address, in any spelling that needs no lookup. */
function isOwn(url: URL, own: URL): boolean {
  if (portOf(url) !== portOf(own)) return false;
  return url.hostname === own.hostname || (isThisMachine(own.hostname) && isThisMachine(url.hostname));
}

function isThisMachine(hostname: string): boolean {
  const host = withoutBrackets(hostname).replace(/\.$/, "");
  // "Any" addresses too, and IPv4 addresses inside IPv6 ones.
  return isLoopback(host) || host === "0.0.0.0" || /^::(ffff:0:0|(ffff:)?7f[0-9a-f]{2}:[0-9a-f]{1,4})?$/.test(host);
}
