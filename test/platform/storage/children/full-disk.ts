// Writes before, during and after a full disk, and prints the results. `ballast` fills the database's file system, a
// small one for this test; `limit` sets the process's file size limit.
import { execFileSync } from "node:child_process";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Transaction } from "../../../../src/platform/storage/database.ts";
import { openSqlite } from "../../../../src/platform/storage/sqlite/open.ts";
import { insert, notes } from "../notes.ts";

const [folder = "", means = ""] = process.argv.slice(2);
const file = join(folder, "data.db");
const ballast = join(folder, "ballast");
const BIG = "x".repeat(6_000_000);

function limitFiles(bytes: string): void {
  execFileSync("sh", ["-c", `prlimit --pid ${process.pid} --fsize=${bytes}:unlimited`]);
}

function fill(): void {
  if (means === "limit") {
    limitFiles("200000");
    return;
  }
  for (const size of [65_536, 4096, 1]) {
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

function free(): void {
  if (means === "limit") limitFiles("unlimited");
  else rmSync(ballast);
}

// Without a listener, the signal of the limit that simulates a full disk would end the process.
process.on("SIGXFSZ", () => undefined);

const report = {
  acknowledged: [] as string[],
  rejected: [] as string[],
  errors: [] as string[],
  readDuring: 0,
  present: [] as string[],
  integrity: "",
  logged: [] as string[],
};
const note = (_: unknown, message: string) => report.logged.push(message);
const log = { debug: note, info: note, warn: note, error: note };
let database = await openSqlite({ file, migrations: [notes], log });

async function attempt(id: string, unit: (transaction: Transaction) => Promise<unknown>): Promise<void> {
  try {
    await database.write(unit);
    report.acknowledged.push(id);
  } catch (error) {
    report.rejected.push(id);
    report.errors.push((error as Error).name);
  }
}

const small = (id: string) => attempt(id, (transaction) => insert(transaction, id, "x".repeat(2000)));
const big = (id: string) => attempt(id, (transaction) => insert(transaction, id, BIG));
const swallowing = (id: string) =>
  attempt(id, async (transaction) => {
    await insert(transaction, `${id}-first`);
    await insert(transaction, `${id}-big`, BIG).catch(() => undefined);
    await insert(transaction, id);
  });
const returning = (id: string) =>
  attempt(id, async (transaction) => {
    const sql = "INSERT INTO notes (id, body) VALUES ($1, $2) RETURNING id";
    await transaction.all(sql, [`${id}-big`, BIG]).catch(() => undefined);
    await insert(transaction, id);
  });
const swallowingLast = (id: string) =>
  attempt(id, async (transaction) => {
    await insert(transaction, id);
    const sql = "INSERT INTO notes (id, body) VALUES ($1, $3), ($2, $3)";
    await transaction.run(sql, [`${id}-a`, `${id}-b`, BIG]).catch(() => undefined);
  });
const ids = async () => (await database.all<{ id: string }>("SELECT id FROM notes")).map((row) => row.id);

await Promise.all(Array.from({ length: 20 }, (_, i) => small(`before-${i}`)));
fill();
await Promise.all([small("beside-0"), small("beside-1"), big("big"), small("beside-2"), swallowing("swallowing")]);
await Promise.all([small("beside-3"), swallowing("swallowing-alone"), small("beside-4")]);
await Promise.all([small("beside-5"), returning("returning"), small("beside-6")]);
await Promise.all([small("beside-7"), swallowingLast("swallowing-last"), small("beside-8")]);
for (let round = 0; round < 3; round++) {
  await Promise.all(Array.from({ length: 200 }, (_, i) => small(`during-${round}-${i}`)));
}
report.readDuring = (await ids()).length;
free();
await Promise.all([...Array.from({ length: 20 }, (_, i) => small(`after-${i}`)), big("after-big")]);
await database.close();

database = await openSqlite({ file, migrations: [notes] });
report.present = await ids();
const integrity = await database.get<{ integrity_check: string }>("PRAGMA integrity_check");
report.integrity = integrity?.integrity_check ?? "";
await database.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
