import type { Environment } from "../../contract/environments.ts";
import { insertRow } from "./batches.ts";
import { changesRow, type Queries, type Transaction } from "./database.ts";

/** An environment with its own clock. Real times are Unix milliseconds. */
export interface EnvironmentRow {
  id: number;
  /**
   * Only `live` and `sandbox` can be reached. The others are snapshots of a sandbox, copies that become a snapshot or a
   * sandbox once they have all rows, and what is being removed.
   */
  name: Environment | `snapshot ${string}` | `unfinished ${number}` | `removed ${number}`;
  /** The environment's time is real time plus this. */
  clock_offset: number;
  /**
   * Real time until which only the process that advances the clock attempts the environment's deliveries; 0 for no
   * hold.
   */
  clock_held_until: number;
  /** When a sandbox was reset, a snapshot saved, or an environment removed, in real time; null if it never was. */
  since: number | null;
  /** The newest event that retention removed. */
  events_removed_to: string | null;
  /** The highest numbers in the log, of an event and of a replay, that retention removed. */
  log_removed_seq: number;
  log_removed_replay: number;
}

const COLUMNS =
  "id, name, clock_offset, clock_held_until, since, events_removed_to, log_removed_seq, log_removed_replay";

/** The sandbox has another number since it was reset. */
export class SandboxResetError extends Error {
  override name = "SandboxResetError";

  constructor() {
    super("The sandbox was reset during the request, and nothing was changed. Send the request again.");
  }
}

export async function findEnvironment(queries: Queries, id: number): Promise<EnvironmentRow> {
  const [row] = await queries.allShared<EnvironmentRow>(`SELECT ${COLUMNS} FROM environments WHERE id = $1`, [id]);
  if (row === undefined) throw new Error(`No environment has the number ${id}.`);
  return row;
}

/** Adds an environment and returns its number, which is higher than all before. */
export async function insertEnvironment(
  tx: Transaction,
  row: { account_id: string; name: Environment | "unfinished" } & Partial<
    Pick<EnvironmentRow, "clock_offset" | "since">
  >,
): Promise<number> {
  const last = await tx.get<{ id: number }>("SELECT COALESCE(MAX(id), 0) AS id FROM environments");
  const id = (last?.id ?? 0) + 1;
  const name = row.name === "unfinished" ? `${row.name} ${id}` : row.name;
  await insertRow(tx, "environments", { id, ...row, name });
  return id;
}

/**
 * Serializes units of work that count an environment's rows before they add one: of two concurrent ones the second is
 * run again on the result of the first. A lock would not do, because the second would still see the old state.
 */
export async function takeTurn(tx: Transaction, id: number): Promise<void> {
  await tx.run("UPDATE environments SET name = name WHERE id = $1", [id]);
}

/** True for an environment that requests can reach: neither a snapshot nor removed. */
export const IS_CURRENT = "name IN ('live', 'sandbox')";

/** Returns the environments of all accounts, without snapshots and removed ones. */
export function allEnvironments(queries: Queries): Promise<EnvironmentRow[]> {
  return queries.all(`SELECT ${COLUMNS} FROM environments WHERE ${IS_CURRENT} ORDER BY id`);
}

/**
 * Keeps others from holding the environment's clock until the transaction ends. It is an advisory lock, because
 * overlapping transactions with locks on the row would block everyone who updates it.
 */
export function shareClock(tx: Transaction, id: number): Promise<void> {
  return tx.lock(`clock ${id}`, "shared");
}

/** No hold is that long: a later end was written before the database's clock was set back. */
const LONGEST_HOLD_MILLISECONDS = 3_600_000;

/** Returns whether an environment's clock is held. */
export function isClockHeld(heldUntil: number, now: number): boolean {
  return heldUntil > now && heldUntil <= now + LONGEST_HOLD_MILLISECONDS;
}

/** Keeps others from claiming the environment's deliveries, and from holding its clock, until the transaction ends. */
export function lockClock(tx: Transaction, id: number): Promise<void> {
  return tx.lock(`clock ${id}`, "exclusive");
}

/** How long a hold lasts unless it is renewed: longer than an attempt, and than the leases of other processes. */
export const HOLD_MILLISECONDS = 30_000;

/** Keeps others from attempting deliveries; false if anyone holds the clock. `now` is real time. */
export async function holdClock(tx: Transaction, id: number, holder: string, now: number) {
  await lockClock(tx, id);
  const sql = `UPDATE environments SET clock_holder = $2, clock_held_until = $3
     WHERE id = $1 AND (clock_held_until <= $4 OR clock_held_until > $4 + ${LONGEST_HOLD_MILLISECONDS})`;
  return changesRow(tx, sql, [id, holder, now + HOLD_MILLISECONDS, now]);
}

/**
 * Renews a hold until at least the transaction's end. Returns false if the clock is held by another process or by none:
 * then the former holder must not move it.
 */
export function keepClock(tx: Transaction, id: number, holder: string, now: number): Promise<boolean> {
  const sql = "UPDATE environments SET clock_held_until = $3 WHERE id = $1 AND clock_holder = $2";
  return changesRow(tx, sql, [id, holder, now + HOLD_MILLISECONDS]);
}

/** Moves a clock that the caller holds. */
export async function moveClock(tx: Transaction, id: number, offset: number): Promise<void> {
  await tx.run("UPDATE environments SET clock_offset = $2 WHERE id = $1", [id, offset]);
}

/** Releases a clock of any holder. */
export async function releaseClock(tx: Transaction, id: number): Promise<void> {
  await tx.run("UPDATE environments SET clock_holder = NULL, clock_held_until = 0 WHERE id = $1", [id]);
}

/** Releases every clock, for the only process. */
export async function releaseClocks(tx: Transaction): Promise<void> {
  await tx.run("UPDATE environments SET clock_holder = NULL, clock_held_until = 0 WHERE clock_held_until <> 0");
}

/** What retention removed in one step: the newest event, and the highest numbers in the log. */
export interface Removed {
  newestEvent?: string;
  seqs?: readonly number[];
  replays?: readonly number[];
}

/** Never moves a mark back: an event that was retained for a pending delivery is removed after newer ones. */
export async function markRemoved(tx: Transaction, id: number, removed: Removed): Promise<void> {
  const { newestEvent = null, seqs = [], replays = [] } = removed;
  await tx.run(
    `UPDATE environments SET
       events_removed_to = CASE WHEN events_removed_to > $2 THEN events_removed_to ELSE COALESCE($2, events_removed_to) END,
       log_removed_seq = CASE WHEN log_removed_seq > $3 THEN log_removed_seq ELSE $3 END,
       log_removed_replay = CASE WHEN log_removed_replay > $4 THEN log_removed_replay ELSE $4 END
     WHERE id = $1`,
    [id, newestEvent, Math.max(0, ...seqs), Math.max(0, ...replays)],
  );
}
