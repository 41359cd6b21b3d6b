import { CREDENTIAL_PREFIXES, type CredentialKind, parseCredential } from "../../../../contract/credentials.ts";
import type { Environment } from "../../../../contract/environments.ts";

/** A real credential in some text. It is never printed whole. */
export interface Match {
  secret: string;
  kind: CredentialKind;
  environment: Environment | null;
}

/** A match and where it stands. */
export interface Finding extends Match {
  path: string;
  line: number;
  /** The commit that added it; null in files as they are now. */
  commit: string | null;
}

const BODY = 49;
const CANDIDATE = new RegExp(`(?:${Object.keys(CREDENTIAL_PREFIXES).join("|")})[0-9A-Za-z]{${BODY}}`, "g");
/** A candidate that a cut goes through begins no further than this before it. */
export const LONGEST = Math.max(...Object.keys(CREDENTIAL_PREFIXES).map((prefix) => prefix.length)) + BODY;

/** Bytes as they are searched: Latin letters in UTF-16 are every other byte of them. */
export function withoutNuls(text: string): string {
  return text.replace(/\0+/g, "");
}

/** Every credential in a text, with its position. */
export function* matchesIn(text: string): Generator<Match & { index: number }> {
  CANDIDATE.lastIndex = 0;
  for (let found = CANDIDATE.exec(text); found !== null; found = CANDIDATE.exec(text)) {
    const { index, 0: secret } = found;
    const parsed = parseCredential(secret);
    // What only looks like one may have a real one inside.
    CANDIDATE.lastIndex = parsed === undefined ? index + 1 : index + secret.length;
    if (parsed !== undefined) yield { secret, index, kind: parsed.kind, environment: parsed.environment ?? null };
  }
}

const SHOWN_PREFIX = 12;
const SHOWN_END = 4;

/** As the platform shows it too. */
export function masked(secret: string): string {
  return `${secret.slice(0, SHOWN_PREFIX)}…${secret.slice(-SHOWN_END)}`;
}
