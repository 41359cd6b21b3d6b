import { LIMITS } from "../contract/limits.ts";
import { isLoopback } from "../network/connect-options.ts";
import { parseUrl } from "../network/parse-url.ts";
import { UnsafeRequestError } from "./errors.ts";

/** Removes trailing slashes in linear time, unlike a regular expression, which would try each slash as the first one. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end--;
  return text.slice(0, end);
}

/**
 * Parses the URL of a platform; a path is kept, a trailing slash is not. Throws UnsafeRequestError for plain http to
 * anything but this machine unless it is allowed, since a credential would travel in clear text.
 */
export function parseBaseUrl(text: string, { insecure }: { insecure: boolean }): URL {
  // Checked first: parsing a long non-ASCII host takes quadratic time.
  if (text.length > LIMITS.baseUrlLength) {
    throw new UnsafeRequestError(
      `The base URL has more than ${LIMITS.baseUrlLength} characters`,
      "Use a full URL, such as http://127.0.0.1:4010",
    );
  }
  const url = parseUrl(text);
  if (url === undefined) {
    throw new UnsafeRequestError(`"${text}" is not a URL`, "Use a full URL, such as http://127.0.0.1:4010");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new UnsafeRequestError(
      `"${text}" does not begin with http:// or https://`,
      "Use a full URL, such as http://127.0.0.1:4010",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new UnsafeRequestError(
      `The base URL contains a user name or password`,
      "Remove them: the API key authenticates.",
    );
  }
  if (url.search !== "" || url.hash !== "") {
    throw new UnsafeRequestError(`"${text}" contains a query or a fragment`, "Remove everything after the path.");
  }
  if (url.protocol === "http:" && !insecure && !isLoopback(url.hostname)) {
    throw new UnsafeRequestError(
      `Plain http to ${url.host} would send the credential in clear text`,
      `Use https://${url.host}, or --insecure if you trust every hop of the network.`,
    );
  }
  url.pathname = withoutTrailingSlashes(url.pathname);
  if (url.pathname.endsWith("/v1")) {
    const without = url.href.slice(0, -"/v1".length);
    throw new UnsafeRequestError(`"${text}" ends in /v1, which is part of the API's paths`, `Use ${without}`);
  }
  return url;
}

/** Returns the URL of an API path; the base URL may have a path of its own. */
export function urlOf(base: URL, path: string, query: Readonly<Record<string, QueryValue>> = {}): URL {
  const url = new URL(base.origin);
  const end = path.includes("?") ? path.indexOf("?") : path.length;
  url.pathname = withoutTrailingSlashes(base.pathname) + path.slice(0, end);
  url.search = path.slice(end);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.append(name, String(value));
  return url;
}

export type QueryValue = string | number | boolean | undefined;

/** Returns an API path with its parameters encoded: apiPath`/v1/customers/${id}`. */
export function apiPath(texts: TemplateStringsArray, ...parameters: readonly string[]): string {
  return parameters.reduce((path, parameter, i) => path + segment(parameter) + texts[i + 1]!, texts[0]!);
}

/** `.` and `..` survive percent-encoding, and URL parsing would then walk up the path. */
function segment(parameter: string): string {
  const encoded = encodeURIComponent(parameter);
  return encoded === "." || encoded === ".." || encoded === "" ? "%20" : encoded;
}
