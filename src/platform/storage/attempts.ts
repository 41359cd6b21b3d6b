import type { Queries, Transaction } from "./database.ts";

export interface AttemptRow {
  delivery_id: string;
  /** 1 for the first. */
  number: number;
  at: number;
  status_code: number | null;
  error: string | null;
  duration_ms: number;
  response_excerpt: string | null;
}

const COLUMNS = "delivery_id, number, at, status_code, error, duration_ms, response_excerpt";

export async function insertAttempt(tx: Transaction, row: AttemptRow): Promise<void> {
  await tx.run(`INSERT INTO attempts (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`, [
    row.delivery_id,
    row.number,
    row.at,
    row.status_code,
    row.error,
    row.duration_ms,
    row.response_excerpt,
  ]);
}

/** Oldest first. */
export function attemptsOf(queries: Queries, deliveryId: string): Promise<AttemptRow[]> {
  return queries.all(`SELECT ${COLUMNS} FROM attempts WHERE delivery_id = $1 ORDER BY number`, [deliveryId]);
}

/** A receiver's text as a column can hold it: no column holds a NUL character. */
export function storableText(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\u{fffd}") : text;
}
