import { OBJECT_KINDS, RESOURCES } from "../../contract/resources.ts";
import { endAdvance } from "./clock-advances.ts";
import type { Queries, Transaction } from "./database.ts";
import { deleteDeliveries } from "./deliveries.ts";
import { type EnvironmentRow, insertEnvironment, releaseClock } from "./environments.ts";

/** Tables whose rows a sandbox keeps when it is reset. */
const KEPT = ["api_keys", "oauth_apps", "oauth_grants", "oauth_codes", "listeners"];

/** Tables whose rows are removed with their environment, besides deliveries, with the columns of their keys. */
const REMOVED: Readonly<Record<string, string>> = {
  events: "seq",
  replays: "number",
  ...Object.fromEntries(OBJECT_KINDS.map((kind) => [RESOURCES[kind].plural, "environment, id"])),
  webhook_endpoints: "environment, id",
  bulk_operations: "environment, id",
  clock_advances: "environment, number",
  idempotency_keys: "environment, path, key, method",
  request_details: "environment, id",
  request_logs: "environment, id",
  event_counts: "environment, minute",
  attempt_counts: "environment, minute, endpoint_id, status_code, error, bucket",
  pending_counts: "environment, endpoint_id",
};

/**
 * Gives an account's sandbox a new number, with no rows but those that it keeps. Returns undefined if it has another
 * number than `former` by now. Requires the isolation `read committed`: the first statement waits for transactions that
 * add keys or endpoints, and the next ones see them.
 */
export async function replaceSandbox(
  tx: Transaction,
  accountId: string,
  /** `at` is real time, `offset` that of the new sandbox's clock. */
  { former, at, offset }: { former: EnvironmentRow; at: number; offset: number },
): Promise<number | undefined> {
  if (!(await removeEnvironment(tx, former, at))) return undefined;
  const sandbox = { account_id: accountId, name: "sandbox", clock_offset: offset, since: at } as const;
  const id = await insertEnvironment(tx, sandbox);
  // The counts of open sessions exist where several processes share the database.
  for (const table of tx.dialect === "postgres" ? [...KEPT, "listener_counts"] : KEPT) {
    await tx.run(`UPDATE ${table} SET environment = $2 WHERE environment = $1`, [former.id, id]);
  }
  await releaseClock(tx, former.id);
  await endAdvance(tx, former.id, { status: "canceled", at: at + former.clock_offset, offset: former.clock_offset });
  const cancel = "UPDATE bulk_operations SET status = 'canceled' WHERE environment = $1 AND status = 'running'";
  await tx.run(cancel, [former.id]);
  return id;
}

/** Marks an environment, whose rows are removed later. Returns false if it is another one by now. */
export async function removeEnvironment(
  tx: Transaction,
  { id, name }: Pick<EnvironmentRow, "id" | "name">,
  at: number,
): Promise<boolean> {
  const sql = "UPDATE environments SET name = 'removed ' || id, since = $3 WHERE id = $1 AND name = $2";
  return (await tx.run(sql, [id, name, at])) === 1;
}

/** A saved state of an account's sandbox: an environment that no request can reach. */
export interface SnapshotRow extends Pick<EnvironmentRow, "id" | "clock_offset"> {
  name: `snapshot ${string}`;
  since: number;
  objects: number;
}

/** Returns the snapshots of an account's sandbox, newest first. */
export function listSnapshots(queries: Queries, accountId: string): Promise<SnapshotRow[]> {
  return queries.all(
    `SELECT id, name, clock_offset, since, objects FROM environments
     WHERE account_id = $1 AND name LIKE 'snapshot %' ORDER BY since DESC, id DESC`,
    [accountId],
  );
}

/** Returns the environments whose rows are to be removed, and since when. */
export function removedEnvironments(queries: Queries) {
  return queries.all<{ id: number; since: number }>(
    "SELECT id, since FROM environments WHERE name LIKE 'removed %' ORDER BY id",
  );
}

/**
 * Deletes rows of an environment, at most about a number. Returns false if there are no more. Each statement reads in
 * the order of an index: a scan would pass all rows that were deleted before.
 */
export async function deleteRows(tx: Transaction, environment: number, limit: number): Promise<boolean> {
  const deliveries = await tx.all<{ id: string; attempt_count: number }>(
    "SELECT id, attempt_count FROM deliveries WHERE environment = $1 ORDER BY status, id LIMIT $2",
    [environment, limit],
  );
  let rows = 0;
  const part = deliveries.filter(
    ({ attempt_count: attempts }, index) => (rows += 1 + attempts) <= limit || index === 0,
  );
  if (part.length > 0) {
    await deleteDeliveries(
      tx,
      part.map(({ id }) => id),
    );
    return true;
  }
  for (const [table, key] of Object.entries(REMOVED)) {
    if (rows >= limit) return true;
    const some = `SELECT ${key} FROM ${table} WHERE environment = $1 ORDER BY ${key} LIMIT $2`;
    rows += await tx.run(`DELETE FROM ${table} WHERE (${key}) IN (${some})`, [environment, limit - rows]);
  }
  return rows >= limit;
}

export async function deleteEnvironment(tx: Transaction, id: number): Promise<void> {
  await tx.run("DELETE FROM environments WHERE id = $1", [id]);
}
