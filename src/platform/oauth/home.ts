import { parseUrl } from "../../network/parse-url.ts";

/** The default page after sign-in. */
export const HOME = "/dashboard";

/** The signed-in person's own page. */
export const ACCOUNT = "/account";

/** Returns the page of this platform to continue to, or the home page if the path leads elsewhere or is invalid. */
export function localPath(path: string | undefined): string {
  const base = "http://local.invalid";
  // A header can hold no other characters. Links to a page here encode its path.
  if (path === undefined || !/^\/[\x21-\x7e]*$/.test(path)) return HOME;
  // Browsers read //host and /\host as another site.
  return parseUrl(path, base)?.origin === base ? path : HOME;
}
