import type { FaultEffect } from "../../contract/schemas/fault.ts";
import { insertRow } from "./batches.ts";
import { changesRow, type Queries, type Transaction } from "./database.ts";
import { rowsOf } from "./page.ts";

export interface FaultRow {
  environment: number;
  id: string;
  /** Null for every method. */
  method: string | null;
  path: string;
  effect: FaultEffect;
  status: number | null;
  delay_ms: number | null;
  rate: number;
  /** Null for no limit. */
  times: number | null;
  injected: number;
  created: number;
}

const COLUMNS = "environment, id, method, path, effect, status, delay_ms, rate, times, injected, created";

/**
 * Adds a fault. Returns false if the sandbox has `max` already. The environment has their number, which every request
 * reads with its credential.
 */
export async function insertFault(tx: Transaction, row: FaultRow, max: number): Promise<boolean> {
  const sql = "UPDATE environments SET faults = faults + 1 WHERE id = $1 AND faults < $2";
  const isCounted = await changesRow(tx, sql, [row.environment, max]);
  if (isCounted) await insertRow(tx, "faults", row);
  return isCounted;
}

/** Returns the faults of a sandbox, oldest first. */
export function listFaults(queries: Queries, environment: number): Promise<FaultRow[]> {
  return queries.all(`SELECT ${COLUMNS} FROM faults WHERE environment = $1 ORDER BY id`, [environment]);
}

export const faultRows = rowsOf<FaultRow>("faults", COLUMNS, []);

/** Counts one more request with a fault. Returns false if its limit is reached, or the fault was removed. */
export function countInjection(tx: Transaction, { environment, id }: FaultRow): Promise<boolean> {
  const sql = `UPDATE faults SET injected = injected + 1
    WHERE environment = $1 AND id = $2 AND (times IS NULL OR injected < times)`;
  return changesRow(tx, sql, [environment, id]);
}

export async function deleteFault(tx: Transaction, environment: number, id: string): Promise<void> {
  const deleted = await faultRows.remove(tx, environment, id);
  await tx.run("UPDATE environments SET faults = faults - $2 WHERE id = $1", [environment, deleted]);
}

export async function deleteFaults(tx: Transaction, environment: number): Promise<void> {
  await tx.run("DELETE FROM faults WHERE environment = $1", [environment]);
  await tx.run("UPDATE environments SET faults = 0 WHERE id = $1", [environment]);
}
