import { Periodic } from "../time/periodic.ts";
import type { Clock, Log } from "../ports.ts";
import { foldChanges, hasChanges, MAX_FOLDED, vacuumChanges } from "../storage/counts.ts";
import type { Transaction, Database } from "../storage/database.ts";

/** Readers add up what is not folded: few enough rows at some thousands of writes a second. */
const FOLD_MILLISECONDS = 1_000;

/** Readers read the space of folded changes, too, until it is vacuumed. The server does so once a minute. */
const VACUUM_AFTER = 10_000;

/** Returns a function that folds all changes of the counts, one process at a time. It does nothing for an SQLite file. */
export function countFolder(database: Database): (signal: AbortSignal) => Promise<void> {
  const fold = async (tx: Transaction) => ((await tx.claim("counts")) ? foldChanges(tx) : 0);
  let toVacuum = 0;
  return async (signal) => {
    if (database.dialect === "sqlite" || !(await hasChanges(database))) return;
    for (let count = MAX_FOLDED; count === MAX_FOLDED && !signal.aborted; toVacuum += count) {
      // Meanwhile others only add changes, and nobody else writes the counts, so there is nothing to wait for.
      count = await database.write(fold, { isolation: "read committed" });
    }
    if (toVacuum < VACUUM_AFTER) return;
    toVacuum = 0;
    await vacuumChanges(database);
  };
}

/** Folds the counts every second. */
export function createCountFolder({ database, clock, log }: { database: Database; clock: Clock; log: Log }): Periodic {
  return new Periodic({ clock, log }, FOLD_MILLISECONDS, countFolder(database));
}
