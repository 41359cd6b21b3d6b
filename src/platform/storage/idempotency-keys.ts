import { deleteFirst, insertRows } from "./batches.ts";
import type { Queries, Transaction } from "./database.ts";

/** What identifies a keyed request, and its response. */
export interface IdempotencyRow {
  environment: number;
  method: string;
  path: string;
  /** A digest of the key that was sent. */
  key: string;
  /** SHA-256 of what makes two requests the same. */
  fingerprint: Uint8Array;
  status: number;
  /** The sealed response: it may contain a secret that is shown only once. */
  response: Uint8Array;
  created: number;
}

const NAMES = ["environment", "method", "path", "key", "fingerprint", "status", "response", "created"] as const;
const upsert = insertRows<IdempotencyRow>(
  "idempotency_keys",
  NAMES,
  `ON CONFLICT (environment, path, key, method)
   DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status, response = excluded.response,
                 created = excluded.created`,
);

export type IdempotencyTarget = Pick<IdempotencyRow, "environment" | "method" | "path" | "key">;

export function findIdempotencyKey(queries: Queries, { environment, method, path, key }: IdempotencyTarget) {
  return queries.get<IdempotencyRow>(
    `SELECT ${NAMES.join(", ")} FROM idempotency_keys
     WHERE environment = $1 AND path = $2 AND key = $3 AND method = $4`,
    [environment, path, key, method],
  );
}

/** Stores the response of a request, in place of an expired one of the same key. */
export async function keepIdempotencyKey(tx: Transaction, row: IdempotencyRow): Promise<void> {
  await upsert(tx, [row]);
}

/** Removes keys stored before a time. Returns how many. */
export function deleteIdempotencyKeys(tx: Transaction, environment: number, before: number, limit: number) {
  const key = "environment, path, key, method";
  const old = { table: "idempotency_keys", key, where: "environment = $1 AND created < $2", order: "created" };
  return deleteFirst(tx, old, [environment, before], limit);
}
