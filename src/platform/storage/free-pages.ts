import type { Transaction } from "./database.ts";

/** A file keeps a tenth of its pages free: reusing them costs less than shrinking the file and growing it again. */
const KEPT_SHARE = 0.1;

/**
 * Cuts free pages off an SQLite file, up to a number of them. The file shrinks at the next checkpoint of its log.
 * Returns whether there may be more. On PostgreSQL that is autovacuum's part.
 */
export async function returnFreePages(tx: Transaction, limit: number): Promise<boolean> {
  if (tx.dialect === "postgres") return false;
  const before = await freePages(tx);
  if (before.free <= before.pages * KEPT_SHARE) return false;
  // A commit is numbered if it changes rows, and each that changes pages must be.
  await tx.run("UPDATE environments SET name = name WHERE id = (SELECT MIN(id) FROM environments)");
  // It takes one step a page: `run` would end after the first.
  await tx.all(`PRAGMA incremental_vacuum(${limit})`);
  return (await freePages(tx)).free < before.free;
}

async function freePages(tx: Transaction): Promise<{ free: number; pages: number }> {
  const row = await tx.get<{ free: number; pages: number }>(
    `SELECT (SELECT freelist_count FROM pragma_freelist_count) AS free, (SELECT page_count FROM pragma_page_count) AS pages`,
  );
  return row!;
}
