/** Where people land who did not ask for a page. */
export const HOME = "/account";

/** The page of ours to go on to; anything that leads elsewhere, or is none, leads home. */
export function localPath(path: string | undefined): string {
  if (path === undefined || !/^\/(?![/\\])/.test(path)) return HOME;
  const base = "http://local.invalid";
  return URL.canParse(path, base) && new URL(path, base).origin === base ? path : HOME;
}
