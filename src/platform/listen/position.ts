import { isId, lowestIdAt, timeOfId } from "../../contract/ids.ts";
import type { GapReason } from "../../contract/listen.ts";
import { invalidFields } from "../domain/api-error.ts";
import { type Queries, StorageUnavailableError } from "../storage/database.ts";
import { findEnvironment } from "../storage/environments.ts";
import {
  endOfLog,
  findInLog,
  ID_DISORDER_MS,
  type LogNumbers,
  type LogPosition,
  positionBefore,
} from "../storage/event-log.ts";

/** Where a connection starts in its environment's log. */
export interface Start {
  /** Events after this position are sent. */
  position: LogPosition;
  /** The ID after which events that the client requested are missing. */
  gapAfter: string | undefined;
  gapReason?: GapReason;
  /** How far retention had removed the log when this was found: `gapAfter` accounts for it. */
  removed: LogNumbers;
}

/** The position before everything in a log. */
export const LOG_START: LogPosition = { seq: 0, replay: 0, id: undefined };

/** An ID that names the position again, for use as `after`. */
export function cursorOf({ id }: LogPosition): string {
  return id ?? lowestIdAt("event", 0);
}

/**
 * Parses `after`: an ID from the log, `now`, or `-<seconds>`. A time may also be given as the lowest ID of that time.
 * Throws ApiError.
 */
export async function findStart(
  queries: Queries,
  environment: number,
  after: string | undefined,
  now: number,
): Promise<Start> {
  const {
    since,
    events_removed_to: removedTo,
    log_removed_seq: seq,
    log_removed_replay: replay,
  } = await findEnvironment(queries, environment);
  const removed = { seq, replay };
  if (after === undefined || after === "now") {
    return { position: await endOfLog(queries, environment), gapAfter: undefined, removed };
  }
  const isAge = /^-(0|[1-9]\d{0,8})$/.test(after);
  const id = isAge ? lowestIdAt("event", now + Number(after) * 1000) : after;
  if (!isId("event", id)) {
    const detail = "must be an event ID (evt_…), now, or a number of seconds ago such as -600";
    throw invalidFields([{ pointer: "?after", code: "invalid_format", detail }]);
  }
  const time = timeOfId(id);
  if (id === lowestIdAt("event", time)) {
    const gapAfter = removedTo !== null && id <= removedTo ? id : undefined;
    return { position: await positionBefore(queries, environment, id), gapAfter, removed };
  }
  const found = await findInLog(queries, environment, id);
  // What was removed after it is reported when the log is read. Replays that were removed may have been before an event.
  if (found !== undefined) {
    const { position, isReplay } = found;
    return { position, gapAfter: undefined, removed: { seq: 0, replay: isReplay ? 0 : replay } };
  }
  if (removedTo === null || id > removedTo) await assertNoStandby(queries);
  // Of a sandbox that was reset, an ID that retention has not removed is from before.
  const isRemoved = since !== null && time >= since && removedTo !== null && id <= removedTo;
  if (since !== null && !isRemoved) return { position: LOG_START, gapAfter: id, gapReason: "reset", removed };
  // Events that were committed after this one may have begun earlier.
  const bound = lowestIdAt("event", time - ID_DISORDER_MS[queries.dialect]);
  const gapAfter = id === removedTo ? undefined : id;
  return { position: await positionBefore(queries, environment, bound), gapAfter, removed };
}

/** A standby may lack an event temporarily. */
async function assertNoStandby(queries: Queries): Promise<void> {
  if (queries.dialect === "sqlite") return;
  const row = await queries.get<{ standby: number }>("SELECT CAST(pg_is_in_recovery() AS INTEGER) AS standby");
  if (row?.standby === 1) throw new StorageUnavailableError("Storage is unavailable: the database is a standby.");
}
