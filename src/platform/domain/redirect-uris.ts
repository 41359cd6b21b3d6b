import { LIMITS } from "../../contract/limits.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { shorten } from "./api-error.ts";

const LOOPBACK_HOSTS = new Set(["127.0.0.1", "[::1]", "localhost"]);
/**
 * Names, IPv4 and IPv6 addresses. URLs allow more characters in a host, such as `;` and `,`, which end a directive of
 * the CSP.
 */
const HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])$/;
/**
 * A redirect to an address of this machine, whose port may vary (RFC 8252 7.3). `localhost` is a name, not an address.
 */
const LOOPBACK_ADDRESS = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::\d{1,5})?(\/.*)$/;

/**
 * Returns what is wrong with a redirect URI, or undefined. It must be https, or http to this machine, have no user,
 * password, fragment or wildcard, and be written as a browser would write it, since it is compared character by
 * character.
 */
export function problemOfRedirectUri(text: string): string | undefined {
  // Checked first, because parsing a long non-ASCII host takes quadratic time.
  if (text.length > LIMITS.endpointUrlLength) return `must have at most ${LIMITS.endpointUrlLength} characters`;
  const url = parseUrl(text);
  if (url === undefined) return "is not a URL";
  const isLoopback = url.protocol === "http:" && LOOPBACK_HOSTS.has(url.hostname);
  if (url.protocol !== "https:" && !isLoopback) return "must be https, or http to 127.0.0.1, [::1] or localhost";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (text.includes("#")) return "must not have a fragment";
  if (text.includes("*")) return "must not contain a wildcard: list each URI";
  if (!HOST.test(url.hostname)) return "must have a host of letters, digits, hyphens and dots";
  if (url.href !== text) return `must be written as ${shorten(url.href)}`;
  return undefined;
}

/** Returns true if this address is the registered one. The port may differ on loopback addresses. */
export function matchesRedirectUri(registered: string, requested: string): boolean {
  if (registered === requested) return true;
  const known = LOOPBACK_ADDRESS.exec(registered);
  const given = LOOPBACK_ADDRESS.exec(requested);
  // Port 80 may be written or omitted.
  if (known === null || given === null || problemOfRedirectUri(requested.replace(":80/", "/")) !== undefined)
    return false;
  return known[1] === given[1] && known[2] === given[2];
}
