/** Where people land who did not ask for a page. */
export const HOME = "/dashboard";

/** The signed-in person's own page. */
export const ACCOUNT = "/account";

/** The page of ours to go on to; anything that leads elsewhere, or is none, leads home. */
export function localPath(path: string | undefined): string {
  const base = "http://local.invalid";
  // A header can hold no other characters; whoever asks for a page here sends its path encoded.
  if (path === undefined || !/^\/[\x21-\x7e]*$/.test(path)) return HOME;
  // Browsers read //host and /\host as another site.
  return URL.canParse(path, base) && new URL(path, base).origin === base ? path : HOME;
}
