import type { SqlValue } from "./database.ts";

const BATCH = 256;
const PLACEHOLDERS = Array.from({ length: BATCH }, (_, index) => `$${index + 1}`).join(", ");

/** Looks up many values by `IN (…)`, always with lists of one length, so that it stays one statement. */
export async function inBatches<Value extends SqlValue, Row>(
  values: readonly Value[],
  find: (placeholders: string, batch: Value[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let start = 0; start < values.length; start += BATCH) {
    const batch = values.slice(start, start + BATCH);
    const filler = batch[0]!;
    while (batch.length < BATCH) batch.push(filler);
    rows.push(...(await find(PLACEHOLDERS, batch)));
  }
  return rows;
}
