import { type CredentialKind, parseCredential } from "../../contract/credentials.ts";
import { findTokensByDigests, revokeGrant } from "../storage/oauth-grants.ts";
import { findKeysByDigests, revokeApiKey } from "../storage/api-keys.ts";
import { type PartOf, type Queries, type Transaction, writeRows } from "../storage/database.ts";
import { dropClientSecret, findClientSecrets } from "../storage/oauth-apps.ts";
import type { With } from "../tools.ts";

/** A credential that was found in public, and where. */
export interface Leak {
  token: string;
  /** Where it was found; may be empty. */
  url: string;
}

/** Revokes what one credential grants. */
type Ending = (tx: Transaction, now: number, reason: string) => Promise<unknown>;

const REASON_LENGTH = 500;
/** Maximum number of revocations in one transaction, since others wait for it. */
const UNIT = 250;

/**
 * Revokes every reported credential that this platform issued: a key is revoked, a token revokes its whole grant, a
 * client secret no longer authenticates its app. Returns which of the reports are real, in their order, once everything
 * is durable. If one cannot be revoked, `onBroken` is called, the others are revoked, and then it throws.
 */
export async function endLeaked(
  tools: With<"database" | "vault"> & { now: () => number; onBroken: (error: unknown) => void },
  leaks: readonly Leak[],
): Promise<boolean[]> {
  const { database, vault, now } = tools;
  const kindOf = (token: string): CredentialKind | undefined => parseCredential(token)?.kind;
  const reported = new Map<string, Leak & { kind: CredentialKind; digest: Buffer }>();
  for (const { token, url } of leaks) {
    const kind = kindOf(token);
    if (kind !== undefined && !reported.has(token)) {
      reported.set(token, { token, url, kind, digest: vault.digest(token) });
    }
  }
  const endings = await findEndings(database, [...reported.values()]);
  const issued = [...reported.values()].filter(({ digest }) => endings.has(nameOf(digest)));
  const broken: unknown[] = [];
  const onBroken = (_row: string, error: unknown) => {
    broken.push(error);
    tools.onBroken(error);
  };
  for (let start = 0; start < issued.length; start += UNIT) {
    const revoke = async (tx: Transaction, partOf: PartOf) => {
      for (const { digest, url } of issued.slice(start, start + UNIT)) {
        const reason = url === "" ? "leaked" : `leaked: ${url}`;
        const ending = endings.get(nameOf(digest))!;
        await partOf(nameOf(digest), () => ending(tx, now(), reason.slice(0, REASON_LENGTH)));
      }
    };
    await writeRows(database, revoke, { onBroken });
  }
  if (broken.length > 0) throw new Error(`${broken.length} credentials could not be revoked`, { cause: broken[0] });
  const real = new Set(issued.map(({ token }) => token));
  return leaks.map(({ token }) => real.has(token));
}

async function findEndings(queries: Queries, reported: readonly { kind: CredentialKind; digest: Buffer }[]) {
  const endings = new Map<string, Ending>();
  const digestsOf = (...kinds: CredentialKind[]) =>
    reported.filter(({ kind }) => kinds.includes(kind)).map(({ digest }) => digest);
  for (const { id, digest, clock_offset } of await findKeysByDigests(
    queries,
    digestsOf("secret_key", "restricted_key"),
  )) {
    endings.set(nameOf(digest), (tx, now, reason) => revokeApiKey(tx, id, now + clock_offset, reason));
  }
  const grants = [
    ...(await findTokensByDigests(queries, "access_tokens", digestsOf("access_token"))),
    ...(await findTokensByDigests(queries, "refresh_tokens", digestsOf("refresh_token"))),
  ];
  for (const { digest, grant_id } of grants) {
    endings.set(nameOf(digest), (tx, now, reason) => revokeGrant(tx, grant_id, now, reason));
  }
  for (const { digest } of await findClientSecrets(queries, digestsOf("client_secret"))) {
    endings.set(nameOf(digest), (tx) => dropClientSecret(tx, digest));
  }
  return endings;
}

function nameOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString("base64");
}
