import { OBJECT_KINDS, RESOURCES } from "../../contract/resources.ts";
import { deleteFirst, insertRows } from "./batches.ts";
import { endAdvance } from "./clock-advances.ts";
import { changesRow, type Queries, type SqlValue, type Transaction } from "./database.ts";
import { deleteDeliveries } from "./deliveries.ts";
import { type EnvironmentRow, insertEnvironment, releaseClock } from "./environments.ts";
import { columnsOf } from "./objects.ts";
import { ENDPOINT_COLUMNS } from "./webhook-endpoints.ts";

/** Tables whose rows a sandbox keeps when it is reset. */
const KEPT = ["api_keys", "oauth_apps", "oauth_grants", "oauth_codes", "listeners"];

/** Tables whose rows are removed with their environment, besides deliveries, with the columns of their keys. */
const REMOVED: Readonly<Record<string, string>> = {
  events: "seq",
  replays: "number",
  ...Object.fromEntries(OBJECT_KINDS.map((kind) => [RESOURCES[kind].plural, "environment, id"])),
  webhook_endpoints: "environment, id",
  faults: "environment, id",
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
 * Gives an account's sandbox a new number, with no rows but those that it keeps, or that of a copy with its rows.
 * Returns undefined if it has another number than `former` by now. Requires the isolation `read committed`: the first
 * statement waits for transactions that add keys or endpoints, and the next ones see them.
 */
export async function replaceSandbox(
  tx: Transaction,
  accountId: string,
  /** `at` is real time, `offset` that of the new sandbox's clock. */
  { former, copy, at, offset }: { former: EnvironmentRow; copy: number | undefined; at: number; offset: number },
): Promise<number | undefined> {
  if (!(await removeEnvironment(tx, former, at))) return undefined;
  const sandbox = { name: "sandbox", clock_offset: offset, since: at } as const;
  const id = copy ?? (await insertEnvironment(tx, { account_id: accountId, ...sandbox }));
  if (copy !== undefined && !(await finishCopy(tx, copy, sandbox))) return undefined;
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
export function removeEnvironment(tx: Transaction, { id, name }: Pick<EnvironmentRow, "id" | "name">, at: number) {
  const sql = "UPDATE environments SET name = 'removed ' || id, since = $3 WHERE id = $1 AND name = $2";
  return changesRow(tx, sql, [id, name, at]);
}

/** Makes a copy a sandbox or a snapshot. Returns false if it was removed, because that took too long. */
export function finishCopy(
  tx: Transaction,
  id: number,
  row: Pick<EnvironmentRow, "name" | "clock_offset" | "since"> & { objects?: number },
): Promise<boolean> {
  const sql = `UPDATE environments SET name = $2, clock_offset = $3, since = $4, objects = $5
    WHERE id = $1 AND name = 'unfinished ' || id`;
  return changesRow(tx, sql, [id, row.name, row.clock_offset, row.since, row.objects ?? null]);
}

type StateRow = Record<string, SqlValue> & { id: string };

/** Tables whose rows are the state of a sandbox. */
const STATE = Object.entries({
  ...Object.fromEntries(OBJECT_KINDS.map((kind) => [RESOURCES[kind].plural, columnsOf(kind)])),
  webhook_endpoints: ENDPOINT_COLUMNS,
}).map(([table, columns]) => ({ table, columns, insert: insertRows<StateRow>(table, columns) }));

/** A part of a state: the rows after an ID of a table, and of the next tables. */
export interface StatePart {
  rows: readonly { table: number; rows: readonly StateRow[] }[];
  /** Where the next part begins; undefined after the last one. */
  next: StatePlace | undefined;
}

export interface StatePlace {
  table: number;
  after: string;
}

export const STATE_START: StatePlace = { table: 0, after: "" };

/** Reads the next rows of an environment's state, at most a number. */
export async function readState(queries: Queries, environment: number, { table, after }: StatePlace, limit: number) {
  const rows: { table: number; rows: StateRow[] }[] = [];
  for (let left = limit; table < STATE.length; table += 1, after = "") {
    const { table: name, columns } = STATE[table]!;
    const sql = `SELECT ${columns.join(", ")} FROM ${name} WHERE environment = $1 AND id > $2 ORDER BY id LIMIT $3`;
    const found = await queries.all<StateRow>(sql, [environment, after, left]);
    rows.push({ table, rows: found });
    left -= found.length;
    if (left === 0) return { rows, next: { table, after: found.at(-1)!.id } };
  }
  return { rows, next: undefined };
}

/** Adds a part of another environment's state, with the same IDs. */
export async function addState(tx: Transaction, environment: number, { rows: parts }: StatePart): Promise<void> {
  for (const { table, rows } of parts) {
    const copied = rows.map((row) => ({ ...row, environment }));
    await STATE[table]!.insert(tx, copied);
  }
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

/** Returns copies that were begun before a time and not finished: their process was killed, or the request's time over. */
export function abandonedCopies(queries: Queries, before: number) {
  return queries.all<Pick<EnvironmentRow, "id" | "name">>(
    "SELECT id, name FROM environments WHERE name LIKE 'unfinished %' AND since < $1",
    [before],
  );
}

/** Deletes rows of an environment from one of its tables, at most about a number. Returns how many. */
type Deletion = (tx: Transaction, environment: number, limit: number) => Promise<number>;

/**
 * Deletes the rows of an environment, a table after the other. Each statement reads in the order of an index: a scan would
 * pass all rows that were deleted before.
 */
export const DELETIONS: readonly Deletion[] = [
  async (tx, environment, limit) => {
    const deliveries = await tx.all<{ id: string; attempt_count: number }>(
      "SELECT id, attempt_count FROM deliveries WHERE environment = $1 ORDER BY status, id LIMIT $2",
      [environment, limit],
    );
    let rows = 0;
    const part = deliveries.filter(({ attempt_count: attempts }, index) => {
      rows += 1 + attempts;
      return rows <= limit || index === 0;
    });
    const ids = part.map(({ id }) => id);
    await deleteDeliveries(tx, ids);
    return part.length;
  },
  ...Object.entries(REMOVED).map(
    ([table, key]): Deletion =>
      (tx, environment, limit) =>
        deleteFirst(tx, { table, key, where: "environment = $1" }, [environment], limit),
  ),
];

export async function deleteEnvironment(tx: Transaction, id: number): Promise<void> {
  await tx.run("DELETE FROM environments WHERE id = $1", [id]);
}
