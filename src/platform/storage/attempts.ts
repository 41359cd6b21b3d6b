import { insertRows } from "./batches.ts";
import type { Queries } from "./database.ts";

export interface AttemptRow {
  delivery_id: string;
  /** 1 for the first. */
  number: number;
  at: number;
  status_code: number | null;
  error: string | null;
  duration_ms: number;
  /** JSON objects. */
  request_headers: string | null;
  response_headers: string | null;
  response_excerpt: string | null;
}

export const ATTEMPT_COLUMNS = [
  "delivery_id",
  "number",
  "at",
  "status_code",
  "error",
  "duration_ms",
  "request_headers",
  "response_headers",
  "response_excerpt",
] as const satisfies (keyof AttemptRow)[];

export const insertAttempts = insertRows<AttemptRow>("attempts", ATTEMPT_COLUMNS);

/** Returns true if a listener's attempt that began at this time is recorded. */
export async function hasListenerAttempt(
  queries: Queries,
  attempt: { environment: number; eventId: string; listenerId: string; at: number },
): Promise<boolean> {
  const row = await queries.get(
    `SELECT a.number FROM deliveries d JOIN attempts a ON a.delivery_id = d.id
     WHERE d.environment = $1 AND d.event_id = $2 AND d.listener_id = $3 AND a.at = $4`,
    [attempt.environment, attempt.eventId, attempt.listenerId, attempt.at],
  );
  return row !== undefined;
}

/** Makes a receiver's text storable: no column can hold a NUL character. */
export function storableText(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\u{fffd}") : text;
}
