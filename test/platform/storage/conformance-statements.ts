import { describe, expect, it } from "vitest";
import type { SqlValue } from "../../../src/platform/storage/database.ts";
import { insert } from "./notes.ts";
import type { Subject } from "./subject.ts";

export function describeStatements(subject: Subject): void {
  describe("values", () => {
    const texts = ["", "plain", 'it\'s "quoted" $1 ? %s \\', "Grüße, 世界, 👩‍👩‍👧", "line\r\n\ttab\u{1}", "\u{FEFF}bom"];
    it.each(texts)("stores the text %j", async (text) => {
      await subject.database.write((transaction) => insert(transaction, "n", text));
      expect(await subject.database.get("SELECT body FROM notes")).toStrictEqual({ body: text });
    });

    it("stores a text of 5 million characters", async () => {
      const text = "0123456789äöü".repeat(400_000);
      await subject.database.write((transaction) => insert(transaction, "n", text));
      const row = await subject.database.get<{ body: string }>("SELECT body FROM notes WHERE body = $1", [text]);
      expect(row?.body === text).toBe(true);
    });

    const integers = [0, 1, -1, 1_793_440_000_000, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
    it.each(integers)("stores the integer %d", async (size) => {
      await subject.database.write((transaction) =>
        transaction.run("INSERT INTO notes (id, size) VALUES ('n', $1)", [size]),
      );
      expect(await subject.database.get("SELECT size FROM notes WHERE size = $1", [size])).toStrictEqual({ size });
    });

    it.each([0.1, -2.5, 1e-9])("stores the fraction %d", async (ratio) => {
      await subject.database.write((transaction) =>
        transaction.run("INSERT INTO notes (id, ratio) VALUES ('n', $1)", [ratio]),
      );
      expect(await subject.database.get("SELECT ratio FROM notes")).toStrictEqual({ ratio });
    });

    it.each([new Uint8Array(0), Uint8Array.of(0), Uint8Array.from({ length: 256 }, (_, i) => i)])(
      "keeps the bytes %j",
      async (data) => {
        await subject.database.write((transaction) =>
          transaction.run("INSERT INTO notes (id, data) VALUES ('n', $1)", [data]),
        );
        const row = await subject.database.get<{ data: Uint8Array }>("SELECT data FROM notes WHERE data = $1", [data]);
        expect(row?.data).toBeInstanceOf(Uint8Array);
        expect([...(row?.data ?? [])]).toEqual([...data]);
      },
    );

    it("stores only the visible part of a view into a larger buffer", async () => {
      const data = Uint8Array.of(1, 2, 3, 4).subarray(1, 3);
      await subject.database.write((transaction) =>
        transaction.run("INSERT INTO notes (id, data) VALUES ('n', $1)", [data]),
      );
      const row = await subject.database.get<{ data: Uint8Array }>("SELECT data FROM notes");
      expect([...(row?.data ?? [])]).toEqual([2, 3]);
    });

    it("stores null in every column", async () => {
      const values = [null, null, null, null];
      await subject.database.write((transaction) =>
        transaction.run("INSERT INTO notes (id, body, size, ratio, data) VALUES ('n', $1, $2, $3, $4)", values),
      );
      expect(await subject.database.get("SELECT body, size, ratio, data FROM notes")).toStrictEqual({
        body: null,
        size: null,
        ratio: null,
        data: null,
      });
    });

    it("fails to read an integer that a number cannot hold", async () => {
      await subject.database.write((transaction) =>
        transaction.run("INSERT INTO notes (id, size) VALUES ('n', 9007199254740993)"),
      );
      await expect(subject.database.get("SELECT size FROM notes")).rejects.toThrow(/9007199254740993/);
      await expect(subject.database.all("SELECT size FROM notes")).rejects.toThrow(/9007199254740993/);
      expect(await subject.database.get("SELECT id FROM notes")).toStrictEqual({ id: "n" });
    });
  });

  describe("statements", () => {
    it("accept parameters in any order, any number of times", async () => {
      const sql = "SELECT CAST($2 AS TEXT) AS a, CAST($1 AS TEXT) AS b, CAST($2 AS TEXT) AS c, CAST($3 AS TEXT) AS d";
      for (const [one, two, three] of [
        ["1", "2", "3"],
        ["x", "y", "z"],
      ]) {
        const row = await subject.database.get(sql, [one, two, three] as SqlValue[]);
        expect(row).toStrictEqual({ a: two, b: one, c: two, d: three });
      }
    });

    it("keep quoted text and comments unchanged", async () => {
      const sql = `SELECT '$1 it''s ?' AS text, CAST($1 AS TEXT) AS "$2 ?" -- $3 ?
        /* $4 ' */ WHERE '$5' <> $1`;
      expect(await subject.database.get(sql, ["v"])).toStrictEqual({ text: "$1 it's ?", "$2 ?": "v" });
    });

    it("accept more than nine parameters", async () => {
      const values = Array.from({ length: 30 }, (_, i) => `n${String(i).padStart(2, "0")}`);
      const rows = values.map((_, i) => `($${i + 1})`).join(", ");
      await subject.database.write((transaction) => transaction.run(`INSERT INTO notes (id) VALUES ${rows}`, values));
      expect(await subject.ids()).toEqual(values);
    });

    it.each([[["a"]], [["a", "b", "c"]]])("reject %j for two parameters", async (values) => {
      const sql = "SELECT CAST($1 AS TEXT) AS a, CAST($2 AS TEXT) AS b";
      await expect(subject.database.get(sql, values)).rejects.toThrow(Error);
      await expect(subject.database.get(sql)).rejects.toThrow(Error);
    });

    it("return undefined for no row, and an empty list for no rows", async () => {
      expect(await subject.database.get("SELECT id FROM notes")).toBeUndefined();
      expect(await subject.database.all("SELECT id FROM notes")).toStrictEqual([]);
    });

    it("return the first row and every row in order, as plain objects", async () => {
      await subject.database.write(async (transaction) => {
        for (const id of ["c", "a", "b"]) await insert(transaction, id);
      });
      expect(await subject.database.get("SELECT id FROM notes ORDER BY id DESC")).toStrictEqual({ id: "c" });
      expect(await subject.database.all("SELECT id FROM notes ORDER BY id")).toStrictEqual([
        { id: "a" },
        { id: "b" },
        { id: "c" },
      ]);
    });

    it("count the rows that a statement changed", async () => {
      const counts = await subject.database.write(async (transaction) => [
        await transaction.run("INSERT INTO notes (id) VALUES ('a'), ('b'), ('c')"),
        await transaction.run("UPDATE notes SET body = 'x' WHERE id <> $1", ["a"]),
        await transaction.run("UPDATE notes SET body = 'x' WHERE id = 'none'"),
        await transaction.run("DELETE FROM notes"),
      ]);
      expect(counts).toEqual([3, 2, 0, 3]);
    });

    it("return the rows of a changing statement", async () => {
      const rows = await subject.database.write((transaction) =>
        transaction.all("INSERT INTO notes (id) VALUES ('a'), ('b') RETURNING id"),
      );
      expect(rows).toStrictEqual([{ id: "a" }, { id: "b" }]);
      expect(await subject.ids()).toEqual(["a", "b"]);
    });

    it("reject a wrong statement and continue to work", async () => {
      await expect(subject.database.get("SELECT id FROM nowhere")).rejects.toThrow(/nowhere/);
      await expect(
        subject.database.write((transaction) => transaction.run("INSERT INTO nowhere DEFAULT VALUES")),
      ).rejects.toThrow(/nowhere/);
      await subject.database.write((transaction) => insert(transaction, "a"));
      expect(await subject.ids()).toEqual(["a"]);
    });

    it("sort and compare IDs by their bytes", async () => {
      const given = ["b", "a_", "a", "aZ", "ab", "A", "a0", "Z", "_", "é", "z", "a\u{FFFD}", "a\u{1F600}", "aé"];
      await subject.database.write(async (transaction) => {
        for (const id of given) await insert(transaction, id);
      });
      const sorted = given.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const rows = await subject.database.all<{ id: string }>("SELECT id FROM notes ORDER BY id");
      expect(rows.map((row) => row.id)).toEqual(sorted);
      const above = await subject.database.all<{ id: string }>("SELECT id FROM notes WHERE id > $1 ORDER BY id", [
        "aZ",
      ]);
      expect(above.map((row) => row.id)).toEqual(sorted.slice(sorted.indexOf("aZ") + 1));
    });

    it("never use a sequence number twice", async () => {
      const add = (id: string) =>
        subject.database.write((transaction) =>
          transaction.get<{ seq: number }>("INSERT INTO notes (id) VALUES ($1) RETURNING seq", [id]),
        );
      const first = await add("a");
      const second = await add("b");
      await subject.database.write((transaction) => transaction.run("DELETE FROM notes"));
      const third = await add("c");
      expect(second?.seq).toBeGreaterThan(first?.seq ?? Infinity);
      expect(third?.seq).toBeGreaterThan(second?.seq ?? Infinity);
    });
  });
}
