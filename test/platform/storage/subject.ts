import { afterEach, beforeEach } from "vitest";
import type { Database } from "../../../src/platform/storage/database.ts";
import type { Migration } from "../../../src/platform/storage/migrations/migration.ts";
import { notes } from "./notes.ts";

/** The location of one database, empty at first. */
export interface TestDatabase {
  open(migrations: readonly Migration[]): Promise<Database>;
  remove(): Promise<void>;
}

/** The subject of a suite: a new database for each test. */
export interface Subject {
  place: TestDatabase;
  database: Database;
  /** Returns the IDs of all notes in the order in which they were written. */
  ids(): Promise<string[]>;
}

/** Opens a new database before each test of the surrounding suite, and removes it afterwards. */
export function useSubject(createDatabase: () => Promise<TestDatabase>): Subject {
  const subject = {} as Subject;

  beforeEach(async () => {
    subject.place = await createDatabase();
    subject.database = await subject.place.open([notes]);
    subject.ids = async () => {
      const rows = await subject.database.all<{ id: string }>("SELECT id FROM notes ORDER BY seq");
      return rows.map((row) => row.id);
    };
  });

  afterEach(async () => {
    await subject.database.close();
    await subject.place.remove();
  });

  return subject;
}
