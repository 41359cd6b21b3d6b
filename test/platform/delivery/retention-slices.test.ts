import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lowestIdAt } from "../../../src/contract/ids.ts";
import { BackgroundWork } from "../../../src/platform/observability/background-work.ts";
import { createRetention } from "../../../src/platform/maintenance/retention.ts";
import type { Clock } from "../../../src/platform/ports.ts";
import { insertAccount } from "../../../src/platform/storage/accounts.ts";
import type { Database } from "../../../src/platform/storage/database.ts";
import { openDatabase } from "../../../src/platform/storage/open-database.ts";
import { putSetting } from "../../../src/platform/storage/settings.ts";
import { ClockTrust } from "../../../src/platform/time/clock-trust.ts";
import { usePostgres } from "../../support/postgres.ts";

const NOW = Date.parse("2026-11-22T00:00:00Z");
const DAY = 86_400_000;
const OLD = NOW - 40 * DAY;
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let database: Database;
let environment: number;

async function open(place: string): Promise<void> {
  database = await openDatabase({ database: place, version: "test", log: LOG });
  const account = { id: "acct_1", name: "A", version: "2026-11-01", created: 1 };
  ({ sandbox: environment } = await database.write((tx) => insertAccount(tx, account)));
}

/** Inserts events with a delivery and an attempt each, from a number on. */
async function insert(first: number, count: number, { status = "succeeded", attemptedAt = OLD, body = "{}" } = {}) {
  const event = lowestIdAt("event", OLD).slice(0, -6);
  const delivery = lowestIdAt("delivery", OLD).slice(0, -6);
  const numbers = `WITH RECURSIVE numbers (n) AS (
    SELECT CAST($1 AS INTEGER) UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST($2 AS INTEGER))`;
  const last = first + count - 1;
  const id = (place: string) => `${place} || substr(CAST(1000000 + n AS TEXT), 2)`;
  await database.write(async (tx) => {
    await tx.run(
      `INSERT INTO events (seq, environment, id, type, created, body)
       ${numbers} SELECT n, ${environment}, ${id("$3")}, 'order.created', CAST($4 AS BIGINT), $5 FROM numbers`,
      [first, last, event, OLD, body],
    );
    await tx.run(
      `INSERT INTO deliveries (id, environment, event_id, event_type, status, attempt_count, created)
       ${numbers} SELECT ${id("$3")}, ${environment}, ${id("$4")}, 'order.created', $5, 1, CAST($6 AS BIGINT) FROM numbers`,
      [first, last, delivery, event, status, OLD],
    );
    await tx.run(
      `INSERT INTO attempts (delivery_id, number, at, duration_ms)
       ${numbers} SELECT ${id("$3")}, 1, CAST($4 AS BIGINT), 5 FROM numbers`,
      [first, last, delivery, attemptedAt],
    );
  });
}

async function count(table: string): Promise<number> {
  return (await database.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`))!.count;
}

const counts = async () => [await count("events"), await count("deliveries"), await count("attempts")];

/** Applies retention once. `between` runs in each pause between two transactions. */
async function retain(between = async () => {}, elapsed = () => performance.now()): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let begun = false;
    const clock: Clock = {
      now: () => NOW,
      uptime: () => 0,
      elapsed,
      after(milliseconds, callback) {
        const pause = async () => {
          await between();
          callback();
        };
        if (milliseconds < 60_000) pause().catch(reject);
        else if (begun) resolve();
        else queueMicrotask(callback);
        begun ||= milliseconds === 60_000;
        return () => {};
      },
    };
    const background = new BackgroundWork({ clock, log: LOG }, () => {});
    const clockTrust = new ClockTrust(clock, LOG, undefined);
    createRetention({ database, clock, clockTrust, log: LOG, background }).start();
  });
}

describe.each(["SQLite", "PostgreSQL"])("retention on %s", (dialect) => {
  let remove: () => Promise<void> | void;
  beforeEach(async () => {
    if (dialect === "PostgreSQL") {
      const server = await usePostgres();
      remove = () => server.remove();
      await open(await server.createDatabase());
    } else {
      const folder = mkdtempSync(join(tmpdir(), "service-retention-"));
      remove = () => rmSync(folder, { recursive: true, force: true });
      await open(join(folder, "platform.db"));
    }
  });
  afterEach(async () => {
    await database.close();
    await remove();
  });

  it("removes old rows even if more newer rows precede them than one transaction reads", async () => {
    await insert(1000, 600, { status: "failed", attemptedAt: NOW - DAY });
    await insert(2000, 600, { status: "pending" });
    await insert(3000, 700);
    await insert(4000, 5, { status: "failed" });
    await insert(5000, 5, { status: "canceled" });
    await retain();
    expect(await counts()).toEqual([600, 1200, 1200]);
    expect(await database.get("SELECT MIN(seq) AS first, MAX(seq) AS last FROM events")).toEqual({
      first: 2000,
      last: 2599,
    });
    expect(
      await database.get("SELECT log_removed_seq AS removed FROM environments WHERE id = $1", [environment]),
    ).toEqual({
      removed: 5004,
    });
    const statuses = "SELECT status, COUNT(*) AS count FROM deliveries GROUP BY status ORDER BY status";
    expect(await database.all(statuses)).toEqual([
      { status: "failed", count: 600 },
      { status: "pending", count: 600 },
    ]);
  });

  it("removes few rows per transaction, and lets other writes in after each", async () => {
    await insert(1, 1500);
    let written = 0;
    let most = 0;
    let last = await counts();
    await retain(async () => {
      await database.write((tx) => putSetting(tx, "between", Buffer.from(String(++written))));
      const left = await counts();
      most = Math.max(most, ...left.map((rows, table) => last[table]! - rows));
      last = left;
    });
    expect(last).toEqual([0, 0, 0]);
    expect(written).toBeGreaterThan(3);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(512);
  });
});

describe("retention on SQLite", () => {
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "service-retention-"));
    await open(join(folder, "platform.db"));
  });
  afterEach(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("shrinks its transactions to a single row depending on how long the last one took", async () => {
    await insert(1, 60);
    await database.write((tx) => tx.run("DELETE FROM attempts"));
    await database.write((tx) => tx.run("UPDATE deliveries SET attempt_count = 0"));
    let time = 0;
    const seen: number[] = [];
    let last = 60;
    await retain(
      async () => {
        const left = await count("deliveries");
        if (left < last) seen.push(last - left);
        last = left;
      },
      () => (time += 10),
    );
    expect(seen).toEqual([16, 4, ...Array.from({ length: 40 }, () => 1)]);
  });

  it("ends a transaction that removes a reset sandbox's rows after 3 ms, however many it removed before", async () => {
    await insert(1, 900);
    await database.write((tx) =>
      tx.run("UPDATE environments SET name = 'removed ' || id, since = $2 WHERE id = $1", [environment, NOW]),
    );
    let time = 0;
    let most = 0;
    let last = await counts();
    await retain(
      async () => {
        const left = await counts();
        most = Math.max(most, ...left.map((rows, table) => last[table]! - rows));
        last = left;
      },
      // Each group of rows takes a millisecond.
      () => (time += 1),
    );
    expect(last).toEqual([0, 0, 0]);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(64);
  });

  it("shrinks the file to its contents", async () => {
    const file = join(folder, "platform.db");
    const reopen = async () => {
      await database.close();
      const { size } = statSync(file);
      database = await openDatabase({ database: file, version: "test", log: LOG });
      return size;
    };
    const empty = await reopen();
    await insert(1, 2000, { body: JSON.stringify("x".repeat(4000)) });
    expect(await reopen()).toBeGreaterThan(empty + 8_000_000);
    const state = `SELECT (SELECT user_version FROM pragma_user_version) AS number,
                          (SELECT page_count FROM pragma_page_count) AS pages`;
    const states: { number: number; pages: number }[] = [];
    await retain(async () => {
      states.push((await database.get(state))!);
    });
    // Every commit that changes the file is numbered.
    const unnumbered = states.filter(
      ({ number, pages }, index) =>
        index > 0 && states[index - 1]!.number === number && states[index - 1]!.pages !== pages,
    );
    expect(unnumbered).toEqual([]);
    expect(new Set(states.map(({ pages }) => pages)).size).toBeGreaterThan(1);
    expect(await reopen()).toBeLessThan(empty * 1.5);
    expect(await database.all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  });
});
