import { parseUrl } from "../../network/parse-url.ts";

/** Returns true if the text is the URL of a PostgreSQL database, not a file's path. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/** Returns the database for display: a URL without its password. */
export function describeDatabase(text: string): string {
  if (!isPostgresUrl(text)) return text;
  const url = parseUrl(text);
  if (url === undefined) return "the database's URL";
  if (url.password !== "") url.password = "***";
  url.searchParams.delete("password");
  return url.href;
}
