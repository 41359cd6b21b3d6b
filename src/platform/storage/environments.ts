import type { Environment } from "../../contract/environments.ts";
import type { Queries, Transaction } from "./database.ts";

/** An environment with its own clock. Real times are Unix milliseconds. */
export interface EnvironmentRow {
  id: number;
  name: Environment;
  /** The environment's time is real time and these milliseconds. */
  clock_offset: number;
  /** Real time until which whoever advances the clock alone attempts the environment's deliveries; 0 where nobody does. */
  clock_held_until: number;
  /** The newest event that retention removed. */
  events_removed_to: string | null;
  /** The highest numbers in the log, of an event and of a replay, that retention removed. */
  log_removed_seq: number;
  log_removed_replay: number;
}

const COLUMNS = "id, name, clock_offset, clock_held_until, events_removed_to, log_removed_seq, log_removed_replay";

export async function findEnvironment(queries: Queries, id: number): Promise<EnvironmentRow> {
  const [row] = await queries.allShared<EnvironmentRow>(`SELECT ${COLUMNS} FROM environments WHERE id = $1`, [id]);
  if (row === undefined) throw new Error(`No environment has the number ${id}.`);
  return row;
}

/**
 * Lets units that count an environment's rows before they add one follow each other: of two at once the second is run
 * again on what the first has left. A lock alone would not do: the second would go on with what it saw before.
 */
export async function takeTurn(tx: Transaction, id: number): Promise<void> {
  await tx.run("UPDATE environments SET name = name WHERE id = $1", [id]);
}

export function allEnvironments(queries: Queries): Promise<EnvironmentRow[]> {
  return queries.all(`SELECT ${COLUMNS} FROM environments ORDER BY id`);
}

/**
 * Keeps the environment's clock from being held by others until the transaction ends. An advisory lock, since locks on the
 * row would keep everybody out who updates it for as long as transactions that overlap hold them.
 */
export function shareClock(tx: Transaction, id: number): Promise<void> {
  return tx.lock(`clock ${id}`, "shared");
}

/** No hold is that long: a later end was written before the database's clock was set back. */
const LONGEST_HOLD_MILLISECONDS = 3_600_000;

/** Returns whether somebody holds an environment's clock. */
export function isClockHeld(heldUntil: number, now: number): boolean {
  return heldUntil > now && heldUntil <= now + LONGEST_HOLD_MILLISECONDS;
}

/** Keeps everyone else from attempting the environment's deliveries; false where its clock is held already. */
export async function holdClock(tx: Transaction, id: number, until: number, now: number): Promise<boolean> {
  await tx.lock(`clock ${id}`, "exclusive");
  const held = await tx.run(
    `UPDATE environments SET clock_held_until = $2
     WHERE id = $1 AND (clock_held_until <= $3 OR clock_held_until > $3 + ${LONGEST_HOLD_MILLISECONDS})`,
    [id, until, now],
  );
  return held === 1;
}

/**
 * Moves a clock that the caller holds until a time, and holds it for longer; a hold until 0 lets it go. False where it is
 * the caller's no more: who stood still for so long that the hold ran out must not move the clock under somebody else.
 */
export async function moveClock(
  tx: Transaction,
  id: number,
  offset: number,
  held: { until: number; longer: number },
): Promise<boolean> {
  const moved = await tx.run(
    "UPDATE environments SET clock_offset = $2, clock_held_until = $3 WHERE id = $1 AND clock_held_until = $4",
    [id, offset, held.longer, held.until],
  );
  return moved === 1;
}

/** Lets go of every clock: for a process that knows itself to be the only one. */
export async function letGoOfClocks(tx: Transaction): Promise<void> {
  await tx.run("UPDATE environments SET clock_held_until = 0 WHERE clock_held_until <> 0");
}

/** What retention removed at once: the newest event, and the highest numbers in the log. */
export interface Removed {
  newestEvent?: string;
  seqs?: readonly number[];
  replays?: readonly number[];
}

/** Never moves a mark back: an event that was kept for a pending delivery is removed after younger ones. */
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
