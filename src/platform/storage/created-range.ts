import { type IdKind, lowestIdAt } from "../../contract/ids.ts";
import { parseTimestamp } from "../../contract/timestamps.ts";
import type { Queries } from "./database.ts";
import { findEnvironment } from "./environments.ts";

/** A span of the times at which objects were created, in Unix milliseconds. */
export interface CreatedRange {
  from: number | undefined;
  before: number | undefined;
}

/** Returns the span of the filters, whose timestamps are in whole seconds. */
export function createdRangeOf(filters: {
  created_after?: string | undefined;
  created_before?: string | undefined;
}): CreatedRange {
  const { created_after: after, created_before: before } = filters;
  return {
    from: after === undefined ? undefined : parseTimestamp(after)! + 1000,
    before: before === undefined ? undefined : parseTimestamp(before)!,
  };
}

export function isInRange({ from, before }: CreatedRange, created: number): boolean {
  return (from === undefined || created >= from) && (before === undefined || created < before);
}

/** The span of IDs that contains every object of a span of times. */
export interface IdRange {
  from: string | undefined;
  before: string | undefined;
  /** False if it may also contain others: then check their times. */
  isExact: boolean;
}

/**
 * An ID contains its time. After a reset of the test clock, IDs are ahead of the time at which they were created, until
 * real time has caught up.
 */
export async function idRangeOf(
  queries: Queries,
  environment: number,
  kind: IdKind,
  { from, before }: CreatedRange,
): Promise<IdRange> {
  const idAt = (time: number | undefined) => (time === undefined ? undefined : lowestIdAt(kind, time));
  // Requests have real times.
  if (kind === "request" || (from === undefined && before === undefined)) {
    return { from: idAt(from), before: idAt(before), isExact: true };
  }
  const { ids_ahead_from: begin, ids_ahead_until: end } = await findEnvironment(queries, environment);
  const isInside = (time: number | undefined) =>
    time !== undefined && begin !== null && end !== null && time > begin && time < end;
  return {
    from: idAt(from),
    before: idAt(isInside(before) ? end! : before),
    isExact: !isInside(from) && !isInside(before),
  };
}
