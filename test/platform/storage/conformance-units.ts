import { describe, expect, it } from "vitest";
import { StorageUnavailableError, type Transaction } from "../../../src/platform/storage/database.ts";
import { insert } from "./notes.ts";
import type { Subject } from "./subject.ts";

export function describeUnits(subject: Subject): void {
  describe("units of work", () => {
    it("resolve with their result, which is visible to the next reader", async () => {
      const result = { any: "value" };
      const returned = await subject.database.write(async (transaction) => {
        await insert(transaction, "a");
        return result;
      });
      expect(returned).toBe(result);
      expect(await subject.ids()).toEqual(["a"]);
    });

    it("are not visible to a reader of one state that began before, however long it reads", async () => {
      const written = (id: string) => subject.database.write((transaction) => insert(transaction, id));
      const ids = "SELECT id FROM notes ORDER BY seq";
      await written("a");
      const error = new Error("own");
      const read = subject.database.readOneState(async (state) => {
        const first = await state.all(ids);
        await written("b");
        const next = await Promise.all([
          state.all(ids),
          state.allShared(ids),
          state.get("SELECT COUNT(*) AS n FROM notes"),
        ]);
        expect([first, ...next]).toEqual([[{ id: "a" }], [{ id: "a" }], [{ id: "a" }], { n: 1 }]);
        expect(await subject.ids()).toEqual(["a", "b"]);
        throw error;
      });
      await expect(read).rejects.toBe(error);
      expect(await subject.database.readOneState((state) => state.all(ids))).toEqual([{ id: "a" }, { id: "b" }]);
    });

    it("see their own changes", async () => {
      const read = await subject.database.write(async (transaction) => {
        await insert(transaction, "a", "text");
        return [
          await transaction.get("SELECT id, body FROM notes"),
          await transaction.all("SELECT body FROM notes WHERE id = $1", ["a"]),
        ];
      });
      expect(read).toStrictEqual([{ id: "a", body: "text" }, [{ body: "text" }]]);
    });

    it("see their own changes even if results could be shared", async () => {
      const count = "SELECT COUNT(*) AS count FROM notes";
      for (const isolation of ["serialized", "read committed"] as const) {
        const counts = await subject.database.write(
          async (transaction) => {
            const [before] = await transaction.allShared<{ count: number }>(count);
            await insert(transaction, isolation);
            const [after] = await transaction.allShared<{ count: number }>(count);
            return after!.count - before!.count;
          },
          { isolation },
        );
        expect(counts).toBe(1);
      }
    });

    it("in one batch read the same unchanged rows, and fail alone", async () => {
      await subject.database.write((transaction) =>
        transaction.run("INSERT INTO counters (id, value) VALUES ('c', 7), ('d', 8)"),
      );
      const written = Array.from({ length: 40 }, (_, i) =>
        subject.database.write(
          async (transaction) => {
            const name = i % 2 === 0 ? "c" : "d";
            const rows = await transaction.allShared("SELECT id, value FROM counters WHERE id = $1", [name]);
            await insert(transaction, `n${i}`);
            if (i % 10 === 9) throw new Error(`unit ${i}`);
            return rows;
          },
          { isolation: "batched" },
        ),
      );
      const values = (await Promise.allSettled(written)).map((one) => ("value" in one ? one.value : one.status));
      const expected = (i: number) => (i % 2 === 0 ? [{ id: "c", value: 7 }] : [{ id: "d", value: 8 }]);
      expect(values).toEqual(values.map((_, i) => (i % 10 === 9 ? "rejected" : expected(i))));
      expect(await subject.ids()).toHaveLength(36);
    });

    it("leave no changes if they throw, and reject with their own error", async () => {
      const error = new Error("own");
      const written = subject.database.write(async (transaction) => {
        await insert(transaction, "a");
        await insert(transaction, "b");
        throw error;
      });
      await expect(written).rejects.toBe(error);
      expect(await subject.ids()).toEqual([]);
    });

    it("leave no changes if they violate a constraint", async () => {
      await subject.database.write((transaction) => insert(transaction, "taken"));
      const written = subject.database.write(async (transaction) => {
        await insert(transaction, "a");
        await insert(transaction, "taken");
      });
      await expect(written).rejects.toThrow(Error);
      await expect(written).rejects.not.toBeInstanceOf(StorageUnavailableError);
      expect(await subject.ids()).toEqual(["taken"]);
    });

    it("in one batch fail alone", async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          subject.database.write(async (transaction) => {
            await insert(transaction, `n${i}`);
            if (i % 3 === 0) throw new Error(`unit ${i}`);
            return i;
          }),
        ),
      );
      const expected = Array.from({ length: 20 }, (_, i) =>
        i % 3 === 0 ? { status: "rejected", reason: new Error(`unit ${i}`) } : { status: "fulfilled", value: i },
      );
      expect(outcomes).toEqual(expected);
      const kept = Array.from({ length: 20 }, (_, i) => i).filter((i) => i % 3 !== 0);
      expect((await subject.ids()).toSorted()).toEqual(kept.map((i) => `n${i}`).toSorted());
    });

    it("do not lose each other's updates, even 100 concurrent ones", async () => {
      await subject.database.write((transaction) =>
        transaction.run("INSERT INTO counters (id, value) VALUES ('c', 0)"),
      );
      const results = await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          subject.database.write(async (transaction) => {
            await transaction.run("UPDATE counters SET value = value + $1 WHERE id = 'c'", [i]);
            await insert(transaction, `n${i}`);
            return i;
          }),
        ),
      );
      expect(results).toEqual(Array.from({ length: 100 }, (_, i) => i));
      expect(await subject.database.get("SELECT value FROM counters")).toEqual({ value: (99 * 100) / 2 });
      expect(await subject.ids()).toHaveLength(100);
    });

    it("are rejected except for one if they insert the same unique value concurrently", async () => {
      const changed = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          subject.database.write((transaction) =>
            transaction.run("INSERT INTO notes (id, body) VALUES ('same', $1) ON CONFLICT DO NOTHING", [`${i}`]),
          ),
        ),
      );
      expect(changed.filter((rows) => rows === 0)).toHaveLength(49);
      const winner = await subject.database.get("SELECT body FROM notes");
      expect(winner).toEqual({ body: `${changed.indexOf(1)}` });
    });

    it("keep their order if they are awaited in turn", async () => {
      for (let i = 0; i < 20; i++) await subject.database.write((transaction) => insert(transaction, `n${i}`));
      expect(await subject.ids()).toEqual(Array.from({ length: 20 }, (_, i) => `n${i}`));
    });

    it("cannot use their transaction after their end", async () => {
      let leaked: Transaction | undefined;
      await subject.database.write(async (transaction) => {
        leaked = transaction;
      });
      await expect(leaked?.run("INSERT INTO notes (id) VALUES ('late')")).rejects.toThrow(Error);
      await expect(leaked?.get("SELECT id FROM notes")).rejects.toThrow(Error);
      expect(await subject.ids()).toEqual([]);
    });
  });

  describe("notifications", () => {
    it("follow a commit whose rows are visible", async () => {
      const read = new Promise<string[]>((resolve, reject) => {
        subject.database.subscribe("events", () => {
          subject.ids().then(resolve, reject);
        });
      });
      await subject.database.write(async (transaction) => {
        transaction.notify("events");
        await insert(transaction, "a");
      });
      expect(await read).toEqual(["a"]);
    });

    it("continue for others, and for later commits, when a callback throws", async () => {
      let calls = 0;
      const woken = new Promise<void>((resolve) => {
        subject.database.subscribe("deliveries", () => {
          throw new Error("callback");
        });
        subject.database.subscribe("deliveries", () => {
          calls += 1;
          if (calls === 2) resolve();
        });
      });
      const write = () =>
        subject.database.write(async (transaction) => {
          transaction.notify("deliveries");
          return insert(transaction, `n${calls}`);
        });
      expect(await write()).toBe(1);
      await expect.poll(() => calls).toBe(1);
      expect(await write()).toBe(1);
      await woken;
    });

    it("stop for a subscriber that unsubscribed", async () => {
      let stopped = 0;
      const stop = subject.database.subscribe("events", () => {
        stopped += 1;
      });
      stop();
      stop();
      const woken = new Promise<void>((resolve) => {
        subject.database.subscribe("events", resolve);
      });
      await subject.database.write(async (transaction) => transaction.notify("events"));
      await woken;
      expect(stopped).toBe(0);
    });
  });
}
