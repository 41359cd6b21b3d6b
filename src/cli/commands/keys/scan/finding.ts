import { CREDENTIAL_PREFIXES, type CredentialKind, parseCredential } from "../../../../contract/credentials.ts";
import type { Environment } from "../../../../contract/environments.ts";

/** A real credential in some text. It is never printed whole. */
export interface Match {
  secret: string;
  kind: CredentialKind;
  environment: Environment | null;
}

export interface Finding extends Match {
  path: string;
  /** Null if the name itself contains it. */
  line: number | null;
  /** The commit that added it; null in the working tree. */
  commit: string | null;
}

const BODY = 49;
const CANDIDATE = new RegExp(`(?:${Object.keys(CREDENTIAL_PREFIXES).join("|")})[0-9A-Za-z]{${BODY}}`, "g");
/** A candidate that spans a cut begins at most this many characters before it. */
export const MAX_CREDENTIAL_LENGTH =
  Math.max(...Object.keys(CREDENTIAL_PREFIXES).map((prefix) => prefix.length)) + BODY;

/** Removes NUL characters, so that UTF-16 is searched like Latin-1: every other byte of a Latin letter is NUL. */
export function withoutNuls(text: string): string {
  return text.replace(/\0+/g, "");
}

/** Yields every credential in a text, with its position. */
export function* matchesWithIndex(text: string): Generator<Match & { index: number }> {
  CANDIDATE.lastIndex = 0;
  for (let found = CANDIDATE.exec(text); found !== null; found = CANDIDATE.exec(text)) {
    const { index, 0: secret } = found;
    const parsed = parseCredential(secret);
    if (parsed !== undefined) yield { secret, index, kind: parsed.kind, environment: parsed.environment ?? null };
    // A false match may contain a real one.
    CANDIDATE.lastIndex = parsed === undefined ? index + 1 : index + secret.length;
  }
}

/** Yields every credential in a text that is at this place. */
export function* findingsIn(text: string, place: Omit<Finding, keyof Match>): Generator<Finding> {
  for (const { index: _, ...match } of matchesWithIndex(text)) yield { ...match, ...place };
}

/** Returns the text, such as a file's name, with each credential in it masked. */
export function withMaskedCredentials(text: string): string {
  let shown = text;
  for (const { secret } of matchesWithIndex(text)) shown = shown.replace(secret, masked(secret));
  return shown;
}

const SHOWN_PREFIX = 12;
const SHOWN_END = 4;

/** The same form as the platform's. */
export function masked(secret: string): string {
  return `${secret.slice(0, SHOWN_PREFIX)}…${secret.slice(-SHOWN_END)}`;
}
