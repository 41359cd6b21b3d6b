import { SignatureError } from "./signature-error.ts";

/** One signing secret or several (during a rotation), each the whole string with its `whsec_`. */
export type Secrets = string | readonly string[];

/** The secrets as a list. Throws SignatureError: `no_secrets`, `empty_secret`, `invalid_secret`. */
export function listSecrets(secrets: Secrets): readonly string[] {
  if (secrets === undefined || secrets === null) {
    throw new SignatureError("no_secrets", "no secret was given: pass the endpoint's signing secret in `secrets`");
  }
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list)) {
    throw new SignatureError("invalid_secret", "`secrets` is neither a string nor an array of strings");
  }
  if (list.length === 0) {
    throw new SignatureError("no_secrets", "`secrets` is an empty list: pass the endpoint's signing secret");
  }
  // By index: a hole in the list is as wrong as a number.
  for (let index = 0; index < list.length; index += 1) {
    const secret: unknown = list[index];
    if (typeof secret !== "string") {
      throw new SignatureError("invalid_secret", `secret ${index + 1} of ${list.length} is not a string`);
    }
    // Anyone can sign with an empty key: an unset variable must not open the door.
    if (secret.trim() === "") {
      throw new SignatureError("empty_secret", `secret ${index + 1} of ${list.length} is empty: is its variable set?`);
    }
  }
  return list;
}
