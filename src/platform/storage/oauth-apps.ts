import type { Environment } from "../../contract/environments.ts";
import { inBatches, insertRow } from "./batches.ts";
import type { Queries, Transaction } from "./database.ts";
import { columnsOf, type StoredFields } from "./field-values.ts";
import { rowsOf } from "./page.ts";

export interface OAuthAppRow extends StoredFields<"oauth_app"> {
  /** The client id. */
  id: string;
  /** Null for the CLI's own app, which belongs to the deployment. */
  environment: number | null;
  /** Digest of the client secret; null for a public app, and after a leak revoked it. */
  secret: Uint8Array | null;
  created: number;
}

/** An app as the OAuth endpoints need it. */
export interface ClientRow extends OAuthAppRow {
  /** Null for the CLI's own app. */
  environment_name: Environment | null;
  /** The user who registered it; null for the CLI's own app. */
  account_name: string | null;
}

const FIELDS = columnsOf("oauth_app");
const NAMES = ["id", "environment", ...FIELDS, "secret", "created"] satisfies (keyof OAuthAppRow)[];

/** Adds an app unless one has that ID. */
export async function insertOAuthApp(tx: Transaction, row: OAuthAppRow): Promise<void> {
  await insertRow(tx, "oauth_apps", row, "ON CONFLICT DO NOTHING");
}

/** An app, and how many users have authorized it. */
export type ListedApp = OAuthAppRow & { authorized_users: number };

const AUTHORIZED_USERS = `(SELECT COUNT(DISTINCT g.user_id) FROM oauth_grants g
  WHERE g.app_id = oauth_apps.id AND g.revoked_at IS NULL) AS authorized_users`;

export const oauthAppRows = rowsOf<ListedApp>("oauth_apps", [...NAMES, AUTHORIZED_USERS].join(", "), FIELDS);

export function findClient(queries: Queries, id: string): Promise<ClientRow | undefined> {
  return queries.get(
    `SELECT ${NAMES.map((name) => `o.${name}`).join(", ")}, e.name AS environment_name, a.name AS account_name
     FROM oauth_apps o LEFT JOIN environments e ON e.id = o.environment LEFT JOIN accounts a ON a.id = e.account_id
     WHERE o.id = $1`,
    [id],
  );
}

export async function setClientSecret(tx: Transaction, id: string, secret: Uint8Array): Promise<void> {
  await tx.run("UPDATE oauth_apps SET secret = $2 WHERE id = $1", [id, secret]);
}

/** Removes the secret, so that the app cannot authenticate until it gets another. */
export async function dropClientSecret(tx: Transaction, secret: Uint8Array): Promise<void> {
  await tx.run("UPDATE oauth_apps SET secret = NULL WHERE secret = $1", [secret]);
}

/** Returns those of the digests that are client secrets. */
export function findClientSecrets(queries: Queries, digests: readonly Uint8Array[]) {
  return inBatches(digests, (placeholders, batch) =>
    queries.all<{ digest: Uint8Array }>(
      `SELECT secret AS digest FROM oauth_apps WHERE secret IN (${placeholders})`,
      batch,
    ),
  );
}
