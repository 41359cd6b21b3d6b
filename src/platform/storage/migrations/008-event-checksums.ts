import type { Migration } from "./migration.ts";

/** A checksum of each event's body, so that damage on the disk is noticed when the body is read. */
export const eventChecksums: Migration = {
  number: 8,
  name: "event checksums",
  // Null in rows of a version before, which may still be running while processes are replaced one after another.
  statements: ({ integer }) => [`ALTER TABLE events ADD COLUMN body_checksum ${integer}`],
};
