import { readAdminFile } from "./admin-file.ts";
import { SIGN_IN_LINKS_PATH, type SignInLink } from "./routes.ts";

/** No process serves the database at the moment. */
export class NotServingError extends Error {
  override name = "NotServingError";
}

/**
 * Requests a one-time sign-in link from the process that serves a database. Throws NotServingError if there is none.
 */
export async function requestSignInLink(database: string, fetchFrom: typeof fetch): Promise<SignInLink> {
  const access = readAdminFile(database);
  if (access === undefined) throw new NotServingError(`No platform serves ${database}.`);
  let response: Response;
  try {
    response = await fetchFrom(access.url + SIGN_IN_LINKS_PATH, {
      method: "POST",
      headers: { Authorization: `Bearer ${access.token}` },
    });
  } catch (error) {
    throw new NotServingError(`The platform that served ${database} is no longer reachable.`, { cause: error });
  }
  // Another program may have taken the port since. Only the platform that wrote the file knows the token.
  if (response.status !== 201) throw new NotServingError(`The server at ${access.url} does not serve ${database}.`);
  return (await response.json()) as SignInLink;
}
