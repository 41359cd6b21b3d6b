import { crc32 } from "node:zlib";
import type { Queries } from "./database.ts";
import { reads } from "./large-reads.ts";

/** A body as read, with its stored checksum. */
export interface StoredBody {
  body: string;
  /** Null for an event that was inserted without a checksum. */
  body_checksum: number | null;
}

/** The stored body of an event differs from the one that was written: the database is damaged. */
export class DamagedEventError extends Error {
  override name = "DamagedEventError";

  constructor(id: string) {
    super(`The stored event ${id} is damaged: its body does not match its checksum.`);
  }
}

export function checksumOf(body: string): number {
  return crc32(body);
}

/** Returns false if the body was damaged on disk. Every function that reads bodies must call this. */
export function isIntact({ body, body_checksum: checksum }: StoredBody): boolean {
  return checksum === null || checksum === crc32(body);
}

/** Larger bodies do not come with the rows of lists and of the log: they are read one by one. */
export const SMALL_BYTES = 8 * 1024;

/** The columns of a body in a list. Neither database reads a large body to know its size. */
export const LISTED_BODY = ["body", "body_checksum"]
  .map((column) => `CASE WHEN octet_length(body) <= ${SMALL_BYTES} THEN ${column} END AS ${column}`)
  .concat("octet_length(body) AS body_bytes")
  .join(", ");

/** A body as lists and the log contain it. */
export interface ListedBody {
  id: string;
  /** Null if it was not read, because it is large. */
  body: string | null;
  body_checksum: number | null;
  body_bytes: number;
}

/** Returns the body of a listed event; undefined if it was removed meanwhile. A large one is read now, in turn. */
export async function openBody(queries: Queries, environment: number, { id, body, body_checksum }: ListedBody) {
  const sql = "SELECT body, body_checksum FROM events WHERE environment = $1 AND id = $2";
  const stored =
    body === null ? await reads.run(() => queries.get<StoredBody>(sql, [environment, id])) : { body, body_checksum };
  return stored && { body: stored.body, isDamaged: !isIntact(stored) };
}
