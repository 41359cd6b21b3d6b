import type { Queries, Transaction } from "./database.ts";

/** One device of one user (or key) that listens: what its signing secret hangs on. */
export interface ListenerRow {
  id: string;
  environment: number;
  /** The user's id, or the key's where no user stands behind the credential. */
  owner: string;
  device: string;
  /** The sealed signing secret. */
  secret: Uint8Array;
  created: number;
}

export function findListener(queries: Queries, environment: number, owner: string, device: string) {
  return queries.get<ListenerRow>(
    `SELECT id, environment, owner, device, secret, created FROM listeners
     WHERE environment = $1 AND owner = $2 AND device = $3`,
    [environment, owner, device],
  );
}

/** Adds a listener unless another process just did. */
export async function insertListener(tx: Transaction, row: ListenerRow): Promise<void> {
  await tx.run(
    `INSERT INTO listeners (id, environment, owner, device, secret, created) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT DO NOTHING`,
    [row.id, row.environment, row.owner, row.device, row.secret, row.created],
  );
}

/** Lets `latest` units that write about one listener follow each other, in whatever processes its sessions are. */
export async function holdListener(tx: Transaction, id: string): Promise<void> {
  await tx.get(`SELECT id FROM listeners WHERE id = $1 ${tx.dialect === "postgres" ? "FOR UPDATE" : ""}`, [id]);
}
