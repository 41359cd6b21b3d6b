import { ID_PREFIXES, type IdKind, isId, kindOfId } from "../../contract/ids.ts";
import { ApiError } from "./api-error.ts";

/** Throws ApiError `not_found` for an ID, with a hint if the ID itself is the mistake. */
export function missing(kind: IdKind, id: string): never {
  throw new ApiError("not_found", `No ${words(kind)} has the id ${JSON.stringify(id.slice(0, 64))}${hint(kind, id)}`);
}

/** Returns the row that `find` reads by an ID. Throws ApiError `not_found` if the text is no ID of the kind, or there is no row. */
export async function existing<Row>(kind: IdKind, id: string, find: () => Promise<Row | undefined>): Promise<Row> {
  assertId(kind, id);
  return (await find()) ?? missing(kind, id);
}

/** Throws ApiError `not_found` for text that is no ID of the kind, before it reaches the database. */
export function assertId(kind: IdKind, id: string): void {
  if (!isId(kind, id)) missing(kind, id);
}

function hint(kind: IdKind, id: string): string {
  if (isId(kind, id)) return " in this environment.";
  const other = kindOfId(id);
  if (other !== undefined) return `: that is the id of ${one(other)}.`;
  return `: the id of ${one(kind)} is ${ID_PREFIXES[kind]} and 22 letters or digits.`;
}

function one(kind: IdKind): string {
  return `${/^[aeiou]/.test(kind) ? "an" : "a"} ${words(kind)}`;
}

function words(kind: IdKind): string {
  return kind.replaceAll("_", " ");
}
