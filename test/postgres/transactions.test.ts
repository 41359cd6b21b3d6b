import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Periodic } from "../../src/platform/time/periodic.ts";
import { type Database, StorageUnavailableError, type Transaction } from "../../src/platform/storage/database.ts";
import { openPostgres } from "../../src/platform/storage/postgres/open.ts";
import { createMinuteClock } from "../platform/delivery/support/minute-clock.ts";
import { insert, notes } from "../platform/storage/notes.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { startLine } from "./line.ts";

/** For tests that wait for a statement timeout. Readers and units of work wait twice as long for a connection. */
const SHORT_MILLISECONDS = 500;

let server: PostgresServer & { remove(): Promise<void> };
let url: string;
let line: Awaited<ReturnType<typeof startLine>>;
/** The connection of another program. */
let other: Client;
/** Opened again for each test. */
let database: Database;

/** Three connections, one of them for readers. */
const open = (statementMilliseconds: number) =>
  openPostgres({ url: line.url, migrations: [notes], connections: 3, statementMilliseconds });

beforeAll(async () => {
  server = await usePostgres();
  url = await server.createDatabase();
  line = await startLine(url);
  other = new Client({ connectionString: url });
  await other.connect();
});
afterAll(async () => {
  await other.end();
  line.close();
  await server.remove();
});

beforeEach(async () => {
  line.state.replaces = undefined;
  database = await open(10_000);
});
afterEach(async () => {
  await database.close();
  await other.query("TRUNCATE notes, counters");
});

const storedIds = async () =>
  (await other.query<{ id: string }>("SELECT id FROM notes ORDER BY id")).rows.map(({ id }) => id);

describe("memory", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heapMegabytes = () => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };

  it.each(["serialized", "batched", "read committed"] as const)(
    "does not keep the results of %s units",
    async (isolation) => {
      const run = () => database.write((tx) => tx.get("SELECT repeat('x', 100000) AS text"), { isolation });
      await run();
      const before = heapMegabytes();
      for (let i = 0; i < 100; i++) await run();
      // The results have 10 MB.
      expect(heapMegabytes() - before).toBeLessThan(3);
    },
  );
});

describe("BEGIN", () => {
  it("leaves nothing of its unit of work if it fails on an open connection", async () => {
    line.state.replaces = ["BEGIN ISOLATION", "BEGIX ISOLATION"];
    const write = database.write(async (tx) => {
      await insert(tx, "a");
      await insert(tx, "b");
    });
    await expect(write).rejects.toThrow(/BEGIX/);
    expect(await storedIds()).toEqual([]);
    line.state.replaces = undefined;
    await database.write((tx) => insert(tx, "c"));
    expect(await storedIds()).toEqual(["c"]);
  });

  it("keeps the order of the statements that wait for it", async () => {
    const count = (tx: Transaction) => tx.get("SELECT CAST(COUNT(*) AS INTEGER) AS count FROM notes");
    const write = database.write((tx) =>
      Promise.all([count(tx), insert(tx, "a"), count(tx), insert(tx, "b"), count(tx)]),
    );
    expect(await write).toEqual([{ count: 0 }, 1, { count: 1 }, 1, { count: 2 }]);
  });
});

describe("a network failure", () => {
  it("makes storage unavailable, whatever its error is", async () => {
    // The type and length of the message precede its text.
    line.state.replaces = ["C\0\0\0\rSELECT 1\0", "!\0\0\0\rSELECT 1\0"];
    await expect(database.get("SELECT 1 AS one")).rejects.toThrow(StorageUnavailableError);
    line.state.replaces = undefined;
    expect(await database.get("SELECT 1 AS one")).toEqual({ one: 1 });
  });

  it("during COMMIT leaves the result uncertain, whatever its error is", async () => {
    line.state.replaces = ["C\0\0\0\x0bCOMMIT\0", "!\0\0\0\x0bCOMMIT\0"];
    const write = database.write((tx) => insert(tx, "a"));
    await expect(write).rejects.toMatchObject({ name: "StorageUnavailableError", uncertain: true });
    expect(await storedIds()).toEqual(["a"]);
  });

  it("at the start is reported as an unreachable database, whatever its error is", async () => {
    // Without its interface such an address is invalid.
    const opening = openPostgres({ url: "postgres://user@[fe80::1]/none?sslmode=disable", migrations: [notes] });
    await expect(opening).rejects.toMatchObject({ name: "StorageOpenError", code: "unreachable" });
  });
});

describe("a statement that cannot be prepared", () => {
  it("fails alone, and the same statement sent after it on the connection runs", async () => {
    await database.close();
    database = await open(SHORT_MILLISECONDS);
    await other.query("BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE");
    const reads = Array.from({ length: 10 }, () => database.all("SELECT id FROM notes"));
    const first = reads[0]!;
    await expect(first).rejects.toThrow("a statement took too long");
    await other.query("ROLLBACK");
    expect(await Promise.all(reads.slice(1))).toEqual(Array.from({ length: 9 }, () => []));
  });
});

describe("a lock", () => {
  /** Runs a unit of work that holds the lock until it is released. */
  const hold = (mode: "shared" | "exclusive", order: string[], name: string) => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const done = database.write(async (tx) => {
      await tx.lock("a name", mode);
      order.push(name);
      await ended;
    });
    return { done, end };
  };
  const waiting = async () =>
    (
      await other.query(
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      )
    ).rows.length;

  it("is granted in the order of requests, shared or exclusive", async () => {
    await database.close();
    database = await openPostgres({ url, migrations: [notes], connections: 8 });
    const order: string[] = [];
    const holders = [hold("shared", order, "shared"), hold("shared", order, "shared")];
    await expect.poll(() => order).toEqual(["shared", "shared"]);
    holders.push(hold("exclusive", order, "exclusive"));
    await expect.poll(waiting).toBe(1);
    holders.push(hold("shared", order, "later"));
    await expect.poll(waiting).toBe(2);
    for (const { done, end } of holders) {
      end();
      await done;
    }
    expect(order).toEqual(["shared", "shared", "exclusive", "later"]);
  });
});

describe("a periodic task", () => {
  it("logs its failure once until it succeeds again", async () => {
    await database.close();
    database = await open(SHORT_MILLISECONDS);
    const clock = createMinuteClock();
    const logged: string[] = [];
    const log = {
      debug: () => {},
      info: () => {},
      warn: (_: object, message: string) => logged.push(message),
      error: () => {},
    };
    const periodic = new Periodic({ clock, log }, 60_000, async () => {
      await database.write((tx) => insert(tx, `${logged.length}`));
    });
    periodic.start();
    const pass = async () => {
      clock.passMinute();
      await expect.poll(() => clock.waiting()).toBe(1);
    };
    for (let round = 0; round < 2; round++) {
      await other.query("BEGIN; LOCK TABLE notes IN SHARE MODE");
      await pass();
      await pass();
      await other.query("ROLLBACK");
      await pass();
    }
    await periodic.stop();
    expect(logged).toEqual(Array.from({ length: 2 }, () => "a periodic task failed and will be retried"));
    expect(await storedIds()).toEqual(["1", "2"]);
  });
});

describe("a unit that conflicts with others", () => {
  beforeEach(async () => {
    await other.query("INSERT INTO counters (id, value) VALUES ('a', 0)");
  });

  /** Inserts the key after the unit has read that it is free. */
  const lose = async (tx: Transaction) => {
    await tx.all("SELECT id FROM notes");
    await other.query("BEGIN; DELETE FROM notes; INSERT INTO notes (id) VALUES ('a'); COMMIT");
    await insert(tx, "a");
  };
  /** Changes the row after the unit has read it. */
  const loseRow = async (tx: Transaction) => {
    await tx.all("SELECT value FROM counters");
    await other.query("UPDATE counters SET value = value + 1");
    await tx.run("UPDATE counters SET value = 0");
  };

  it.each([
    ["unique key", lose],
    ["row", loseRow],
  ])("over a %s is run again until it succeeds", async (_, conflict) => {
    let runs = 0;
    const write = database.write(async (tx) => {
      runs += 1;
      if (runs < 20) await conflict(tx);
    });
    await write;
    expect(runs).toBe(20);
  });

  it("is rejected as unavailable after 20 conflicts", async () => {
    let runs = 0;
    const write = database.write((tx) => ((runs += 1) % 2 === 0 ? lose(tx) : loseRow(tx)));
    await expect(write).rejects.toThrow(StorageUnavailableError);
    expect(runs).toBe(20);
  });

  it("waits for its turn with a time limit while another is run again", async () => {
    await database.close();
    database = await open(SHORT_MILLISECONDS);
    let goOn = () => {};
    const pending = new Promise<void>((resolve) => (goOn = resolve));
    let runs = 0;
    const first = database.write(async (tx) => {
      runs += 1;
      if (runs === 1) await lose(tx);
      else await pending;
    });
    await expect.poll(() => runs).toBe(2);
    let laterRuns = 0;
    const later = database.write(async (tx) => {
      laterRuns += 1;
      await lose(tx);
    });
    await expect(later).rejects.toThrow(StorageUnavailableError);
    expect(laterRuns).toBe(1);
    goOn();
    await first;
  });
});
