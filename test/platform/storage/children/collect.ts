// Reads and writes during garbage collections, then does the same with unreferenced databases.
import { join } from "node:path";
import { openSqlite } from "../../../../src/platform/storage/sqlite/open.ts";
import { insert, notes } from "../notes.ts";

const [folder = "", rounds = ""] = process.argv.slice(2);
const { gc } = globalThis;
if (gc === undefined) throw new Error("run me with --expose-gc");

async function use(file: string, rounds: number): Promise<void> {
  const database = await openSqlite({ file, migrations: [notes] });
  for (let round = 0; round < rounds; round++) {
    await Promise.all([
      database.write((transaction) => insert(transaction, `a${round}`)),
      // A unique text, so that there is another statement to collect.
      database.write((transaction) => transaction.run(`INSERT INTO notes (id) VALUES ('b${round}')`)),
    ]);
    gc?.();
    const rows = await database.all(`SELECT id FROM notes WHERE seq > ${round}`);
    if (rows.length !== round + 2) throw new Error(`${rows.length} rows in round ${round}`);
    gc?.();
  }
}

await use(join(folder, "held.db"), Number(rounds));
for (let count = 0; count < 20; count++) {
  await use(join(folder, `dropped-${count}.db`), 3);
  gc();
}
process.stdout.write("done\n");
