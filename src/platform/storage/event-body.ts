import { crc32 } from "node:zlib";

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
