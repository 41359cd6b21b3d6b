import { isId, lowestIdAt, timeOfId } from "../../contract/ids.ts";
import { invalidFields } from "../domain/api-error.ts";
import type { Queries } from "../storage/database.ts";
import { findEnvironment } from "../storage/environments.ts";
import { endOfLog, lastReplayBelow, type LogPlace, oldestInLogFrom, placeInLog } from "../storage/event-log.ts";

/** Where a session starts in its environment's log. */
export interface Position {
  /** What lies behind this place is sent. */
  place: LogPlace;
  /** An id that names the place again, given as `after`. */
  cursor: string;
  /** Set where events that the client asked for are gone. */
  gap: { from: string; to: string } | undefined;
}

/**
 * Reads `after`: an id from the log, `now`, or `-<seconds>`. A place in time is written as the lowest id of that time,
 * so that a cursor is always an id, even in an empty log. Throws ApiError.
 */
export async function findPosition(
  queries: Queries,
  environment: number,
  after: string | undefined,
  now: number,
): Promise<Position> {
  if (after === undefined || after === "now") return atEnd(queries, environment);
  if (/^-(0|[1-9]\d{0,8})$/.test(after)) {
    return behindId(queries, environment, lowestIdAt("event", now + Number(after) * 1000));
  }
  if (isId("event", after)) return behindId(queries, environment, after);
  const detail = "must be an event id (evt_…), now, or a number of seconds ago such as -600";
  throw invalidFields([{ pointer: "?after", code: "invalid_format", detail }]);
}

async function atEnd(queries: Queries, environment: number): Promise<Position> {
  const { seq, replay, id } = await endOfLog(queries, environment);
  return { place: { seq, replay }, cursor: id ?? lowestIdAt("event", 0), gap: undefined };
}

async function behindId(queries: Queries, environment: number, id: string): Promise<Position> {
  const place = await placeInLog(queries, environment, id);
  if (place !== undefined) return { place, cursor: id, gap: undefined };
  const next = await oldestInLogFrom(queries, environment, id);
  const seq = next === undefined ? (await endOfLog(queries, environment)).seq : next.seq - 1;
  const replay = await lastReplayBelow(queries, environment, id);
  const lost = await isLost(queries, environment, id);
  return { place: { seq, replay }, cursor: id, gap: lost ? { from: id, to: next?.id ?? id } : undefined };
}

/** True where events behind an id that the log does not know were removed, or were never here. */
async function isLost(queries: Queries, environment: number, id: string): Promise<boolean> {
  const { events_removed_to: removedTo } = await findEnvironment(queries, environment);
  const isTime = id === lowestIdAt("event", timeOfId(id));
  if (isTime) return removedTo !== null && id <= removedTo;
  return removedTo === null || id !== removedTo;
}
