import { carryOutSlice } from "../domain/bulk-operations.ts";
import type { Versions } from "../domain/versions.ts";
import type { BackgroundWork } from "../observability/background-work.ts";
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
  background: BackgroundWork;
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
        const run = () => runSlice(tools, environment, id);
        if (await tools.background.run("bulk_operation", { operation: id }, run)) hasMore = true;
        await new Promise<void>((resolve) => {
          tools.clock.after(PAUSE_MILLISECONDS, resolve);
        });
      }
    }
  });
}

function runSlice(tools: BulkTools, environment: number, id: string): Promise<boolean> {
  const { background, database, time, versions } = tools;
  return background.write("bulk_operation", database, async (tx, partOf) => {
    if (!(await tx.claim(`bulk ${environment}`))) return false;
    const tenant = await tenantOf(tx, environment);
    return carryOutSlice(tx, { tenant, requestId: null, versions, ...(await time.read(tx, tenant)) }, id, partOf);
  });
}
