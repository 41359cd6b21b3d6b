import { isId, lowestIdAt, timeOfId } from "../../contract/ids.ts";
import { invalidFields } from "../domain/api-error.ts";
import type { Queries } from "../storage/database.ts";
import { newestInLog, oldestInLogFrom, placeInLog } from "../storage/events.ts";

/** Where a session starts in its environment's log. */
export interface Position {
  /** Events behind this place are sent. */
  seq: number;
  /** An id that names the place again, given as `after`. */
  cursor: string;
  /** Set where events that the client asked for are gone. */
  gap: { from: string; to: string } | undefined;
}

/**
 * Reads `after`: an event id, `now`, or `-<seconds>`. A place in time is written as the lowest id of that time, so that
 * a cursor is always an id, even in an empty log. Throws ApiError.
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
  const newest = await newestInLog(queries, environment);
  return { seq: newest?.seq ?? 0, cursor: newest?.id ?? lowestIdAt("event", 0), gap: undefined };
}

async function behindId(queries: Queries, environment: number, id: string): Promise<Position> {
  const exact = await placeInLog(queries, environment, id);
  if (exact !== undefined) return { seq: exact.seq, cursor: id, gap: undefined };
  const next = await oldestInLogFrom(queries, environment, id);
  const place = next === undefined ? await atEnd(queries, environment) : { seq: next.seq - 1, cursor: id };
  const isTime = id === lowestIdAt("event", timeOfId(id));
  return { ...place, gap: isTime ? undefined : { from: id, to: next?.id ?? place.cursor } };
}
