import type { Environment } from "../../contract/environments.ts";
import { insertRow } from "./batches.ts";
import { changesRow, type Queries, type Transaction } from "./database.ts";

/** A device that waits for its user's approval. */
export interface DeviceCodeRow {
  digest: Uint8Array;
  /** Digest of the code that the user types. */
  user_code: Uint8Array;
  app_id: string;
  environment: Environment;
  /** JSON array of scopes. */
  scopes: string;
  status: "pending" | "approved" | "denied" | "used";
  user_id: string | null;
  /** The minimum time between polls. */
  interval_ms: number;
  polled_at: number | null;
  created: number;
  expires_at: number;
}

const COLUMNS =
  "digest, user_code, app_id, environment, scopes, status, user_id, interval_ms, polled_at, created, expires_at";
/** How long an expired code is retained, in milliseconds, to tell the device why it got no token. */
const RETENTION_MS = 3_600_000;

/** Adds a code, and removes old ones. Returns false if the user code is taken. */
export async function insertDeviceCode(tx: Transaction, row: Omit<DeviceCodeRow, "status" | "user_id" | "polled_at">) {
  await tx.run("DELETE FROM device_codes WHERE expires_at <= $1", [row.created - RETENTION_MS]);
  return (await insertRow(tx, "device_codes", { ...row, status: "pending" }, "ON CONFLICT DO NOTHING")) === 1;
}

export function findDeviceCode(queries: Queries, digest: Uint8Array): Promise<DeviceCodeRow | undefined> {
  return queries.get(`SELECT ${COLUMNS} FROM device_codes WHERE digest = $1`, [digest]);
}

/** Returns the request with a user code, while it can be approved or denied. */
export function findPendingByUserCode(queries: Queries, userCode: Uint8Array, now: number) {
  return queries.get<DeviceCodeRow>(
    `SELECT ${COLUMNS} FROM device_codes WHERE user_code = $1 AND status = 'pending' AND expires_at > $2`,
    [userCode, now],
  );
}

/** Returns false if the request was already answered or has expired. */
export function decideDeviceCode(
  tx: Transaction,
  userCode: Uint8Array,
  status: "approved" | "denied",
  userId: string,
  now: number,
): Promise<boolean> {
  return changesRow(
    tx,
    `UPDATE device_codes SET status = $2, user_id = $3
     WHERE user_code = $1 AND status = 'pending' AND expires_at > $4`,
    [userCode, status, userId, now],
  );
}

/** Records a poll. If it was too early, the interval grows by `penalty` milliseconds. */
export async function notePoll(tx: Transaction, digest: Uint8Array, now: number, penalty: number): Promise<void> {
  const sql = "UPDATE device_codes SET polled_at = $2, interval_ms = interval_ms + $3 WHERE digest = $1";
  await tx.run(sql, [digest, now, penalty]);
}

/** Returns true for exactly one concurrent caller. */
export function useDeviceCode(tx: Transaction, digest: Uint8Array, now: number): Promise<boolean> {
  const sql = "UPDATE device_codes SET status = 'used' WHERE digest = $1 AND status = 'approved' AND expires_at > $2";
  return changesRow(tx, sql, [digest, now]);
}
