import { describe, expect, it } from "vitest";
import { StorageOpenError, StorageUnavailableError } from "../../../src/platform/storage/database.ts";
import type { Migration } from "../../../src/platform/storage/migrations/migration.ts";
import { insert, notes, tags } from "./notes.ts";
import type { Subject } from "./subject.ts";

export function describeLife(subject: Subject): void {
  describe("closing", () => {
    it("finishes submitted writes", async () => {
      const writes = Array.from({ length: 60 }, (_, i) =>
        subject.database.write((transaction) => insert(transaction, `n${i}`)),
      );
      const closed = subject.database.close();
      expect(await Promise.all(writes)).toHaveLength(60);
      await closed;
      subject.database = await subject.place.open([notes]);
      expect(await subject.ids()).toHaveLength(60);
    });

    it("may be repeated", async () => {
      await Promise.all([subject.database.close(), subject.database.close()]);
      await subject.database.close();
    });

    it("rejects everything afterwards", async () => {
      const closed = subject.database.close();
      await expect(subject.database.write((transaction) => insert(transaction, "a"))).rejects.toThrow(
        StorageUnavailableError,
      );
      await closed;
      await expect(subject.database.get("SELECT id FROM notes")).rejects.toThrow(StorageUnavailableError);
      await expect(subject.database.all("SELECT id FROM notes")).rejects.toThrow(StorageUnavailableError);
    });
  });

  describe("the schema", () => {
    it("is migrated once", async () => {
      await subject.database.write((transaction) => insert(transaction, "a"));
      for (let start = 0; start < 2; start++) {
        await subject.database.close();
        subject.database = await subject.place.open([notes, tags]);
        expect(await subject.database.all("SELECT id FROM tags")).toEqual([{ id: "a" }]);
      }
    });

    it("is rejected if it is newer, and stays unchanged", async () => {
      await subject.database.write((transaction) => insert(transaction, "a"));
      await subject.database.close();
      await (await subject.place.open([notes, tags])).close();
      const rejected = subject.place.open([notes]);
      await expect(rejected).rejects.toThrow(StorageOpenError);
      await expect(rejected).rejects.toMatchObject({ code: "newer_schema", message: /schema 2 .*up to 1.*Update/s });
      subject.database = await subject.place.open([notes, tags]);
      expect(await subject.database.all("SELECT id FROM tags")).toEqual([{ id: "a" }]);
    });

    it("keeps nothing of a migration that fails", async () => {
      await subject.database.close();
      const broken: Migration = {
        number: 2,
        name: "broken",
        statements: ({ id }) => [`CREATE TABLE tags (id ${id} PRIMARY KEY)`, "INSERT INTO nowhere VALUES (1)"],
      };
      await expect(subject.place.open([notes, broken])).rejects.toThrow(/nowhere/);
      subject.database = await subject.place.open([notes, tags]);
      expect(await subject.database.all("SELECT id FROM tags")).toEqual([]);
    });
  });
}
