import { carryOutSlice } from "../domain/bulk-operations.ts";
import type { Versions } from "../domain/versions.ts";
import type { Clock, Log } from "../ports.ts";
import { tenantOf } from "../storage/accounts.ts";
import { runningBulkOperations } from "../storage/bulk-operations.ts";
import type { Database } from "../storage/database.ts";
import type { EnvironmentTime } from "../time/environment-time.ts";
import { Periodic } from "../time/periodic.ts";

const POLL_MILLISECONDS = 250;
/** Pause between transactions, so that other writers wait for at most one of them. */
const PAUSE_MILLISECONDS = 5;

/** The dependencies of bulk operations. */
export interface BulkTools {
  database: Database;
  clock: Clock;
  log: Log;
  time: EnvironmentTime;
  versions: Versions;
}

/**
 * Runs bulk operations, a slice of each in turn. They are rows of the database: any process that finds one continues
 * it, one process at a time.
 */
export function createBulkRunner(tools: BulkTools): Periodic {
  return new Periodic(tools, POLL_MILLISECONDS, async (signal) => {
    let hasMore = true;
    while (hasMore && !signal.aborted) {
      hasMore = false;
      for (const { environment, id } of await runningBulkOperations(tools.database)) {
        if (signal.aborted) return;
        if (await runSlice(tools, environment, id)) hasMore = true;
        await new Promise<void>((resolve) => {
          tools.clock.after(PAUSE_MILLISECONDS, resolve);
        });
      }
    }
  });
}

function runSlice({ database, time, versions }: BulkTools, environment: number, id: string): Promise<boolean> {
  return database.write(async (tx) => {
    if (!(await tx.claim(`bulk ${environment}`))) return false;
    const tenant = await tenantOf(tx, environment);
    return carryOutSlice(tx, { tenant, requestId: null, versions, ...(await time.read(tx, tenant)) }, id);
  });
}
