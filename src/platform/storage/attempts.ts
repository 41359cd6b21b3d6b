import type { Transaction } from "./database.ts";

export interface AttemptRow {
  id: string;
  delivery_id: string;
  at: number;
  status_code: number | null;
  error: string | null;
  duration_ms: number;
  response_excerpt: string | null;
}

export async function insertAttempt(tx: Transaction, row: AttemptRow): Promise<void> {
  await tx.run(
    `INSERT INTO attempts (id, delivery_id, at, status_code, error, duration_ms, response_excerpt)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [row.id, row.delivery_id, row.at, row.status_code, row.error, row.duration_ms, row.response_excerpt],
  );
}
