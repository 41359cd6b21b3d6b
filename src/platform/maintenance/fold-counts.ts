import { Periodic } from "../time/periodic.ts";
import type { Clock, Log } from "../ports.ts";
import { foldChanges, hasChanges } from "../storage/counts.ts";
import type { Transaction, Database } from "../storage/database.ts";

/** Readers add up what is not folded: few enough rows at some thousands of writes a second. */
const EVERY_MILLISECONDS = 1_000;

/** Folds changes of the counts, one process at a time. Does nothing for an SQLite file. */
export function createCountFolder({ database, clock, log }: { database: Database; clock: Clock; log: Log }): Periodic {
  const fold = async (tx: Transaction) => (await tx.claim("counts")) && foldChanges(tx);
  return new Periodic({ clock, log }, EVERY_MILLISECONDS, async (signal) => {
    if (database.dialect === "sqlite" || !(await hasChanges(database))) return;
    // Meanwhile others only add changes, and nobody else writes the counts, so there is nothing to wait for.
    while (!signal.aborted && (await database.write(fold, { isolation: "read committed" })));
  });
}
