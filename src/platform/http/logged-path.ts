import { withoutCredentials } from "../../contract/credentials.ts";

/** A request's path as logs may show it: without its query, and without what looks like a credential, however encoded. */
export function loggedPath(url: string): string {
  const path = url.split("?", 1)[0]!;
  const plain = decoded(path);
  const shown = withoutCredentials(plain);
  return shown === plain ? path : encodeURI(shown).replaceAll(encodeURI("…"), "…");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
