import { LISTEN_PATH, type ListenQuery } from "../contract/listen.ts";

/** The address of the upgrade request below a platform's base URL. */
export function buildListenUrl(baseUrl: URL, query: ListenQuery): URL {
  const url = new URL(baseUrl);
  url.pathname = baseUrl.pathname.replace(/\/$/, "") + LISTEN_PATH;
  url.hash = "";
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}
