import { type IdKind, lowestIdAt } from "../../contract/ids.ts";
import { parseTimestamp } from "../../contract/timestamps.ts";

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

/** The span of IDs that a span of times has: an ID contains its time. */
export interface IdRange {
  from: string | undefined;
  before: string | undefined;
}

export function idRangeOf(kind: IdKind, { from, before }: CreatedRange): IdRange {
  const idAt = (time: number | undefined) => (time === undefined ? undefined : lowestIdAt(kind, time));
  return { from: idAt(from), before: idAt(before) };
}
